#include "orb/core/requests/incidents.h"

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/text/counted.h"
#include "orb/base/text/one_line.h"
#include "orb/os/lock.h"

namespace corelane::core {
namespace {

std::string because_of(const Error& reason) {
  return " because of " + std::string(name_of(reason.kind)) + ": " + std::string(minor::text(reason));
}

constexpr std::size_t index_of(Incidents::Kind kind) noexcept { return static_cast<std::size_t>(kind); }

}  // namespace

bool Incidents::Count::add(Time now) noexcept {
  ++all;
  return told_at == Time::min() || now - told_at >= quiet;
}

std::uint64_t Incidents::Count::take(Time now) noexcept {
  if (all == told) return 0;
  told_at = now;
  return all - std::exchange(told, all);
}

void Incidents::Text::add(std::string_view part) noexcept {
  const std::string_view fitting = part.substr(0, characters.size() - size);
  std::copy(fitting.begin(), fitting.end(), characters.begin() + static_cast<std::ptrdiff_t>(size));
  size += fitting.size();
}

bool Incidents::note(Kind kind, std::string_view text, Time now, const Error& reason) noexcept {
  const os::LockGuard lock(mutex_);
  Record& record = records_[index_of(kind)];
  record.text.size = 0;
  record.text.add(text);
  record.reason = reason;
  return record.count.add(now);
}

bool Incidents::servant_threw(const ServantFailure& failure, Time now) noexcept {
  constexpr std::string_view separator = ": ";
  const std::string_view interface = short_id(failure.skeleton);
  const std::string_view outcome =
      failure.answered ? ", and its caller gets " : " in a oneway request, and the client does not learn of it";
  const std::string_view answer = failure.answered ? name_of(failure.answer) : "";
  Text text;
  for (const std::string_view part :
       {outcome, answer, separator, interface, std::string_view(interface.empty() ? "" : "."), failure.upcall.name,
        separator, failure.text})
    text.add(part);
  return note(Kind::servant_threw, text.view(), now);
}

std::uint64_t Incidents::all_of(Kind kind) const noexcept {
  const os::LockGuard lock(mutex_);
  return records_[index_of(kind)].count.all;
}

std::uint64_t Incidents::cut_off_clients() const noexcept { return all_of(Kind::client_cut_off); }

std::uint64_t Incidents::dropped_oneways() const noexcept { return all_of(Kind::oneway_dropped); }

std::string Incidents::held_line(const std::string& operation, std::uint64_t count) {
  return "a request for " + operation +
         (count == 1 ? "" : " (the last of " + std::to_string(count) + " since the last such line)") +
         " came while the manager of its POA was holding: such requests wait until the_POAManager()->activate()";
}

std::string Incidents::line_of(Kind kind, const Due& due) {
  switch (kind) {
    case Kind::oneway_dropped:
      return counted(due.count, "oneway request was", "oneway requests were") +
             " dropped since the last such line, the last" + (due.text.empty() ? "" : " (" + due.text + ")") +
             because_of(due.reason);
    case Kind::client_cut_off:
      return counted(due.count, "client was", "clients were") + " cut off since the last such line, the last" +
             because_of(due.reason);
    case Kind::too_large:
      return counted(due.count, "call was", "calls were") +
             " answered with IMP_LIMIT since the last such line, the last because " + due.text + ": " +
             std::string(minor::text(minor::message_too_large));
    case Kind::servant_threw:
      return "a servant threw" + due.text +
             (due.count == 1 ? "" : " (the last of " + std::to_string(due.count) + " since the last such line)");
    case Kind::request_held:
      return held_line(due.text, due.count);
  }
  return {};  // not reached: all kinds are above
}

std::vector<std::string> Incidents::lines(Time now) {
  std::array<Due, kinds> due;
  for (Due& each : due) each.text.reserve(longest_text);  // before the lock: real-time threads may wait for it
  {
    const os::LockGuard lock(mutex_);
    for (std::size_t i = 0; i < kinds; ++i) {
      due[i].count = records_[i].count.take(now);
      due[i].text.assign(records_[i].text.view());
      due[i].reason = records_[i].reason;
    }
  }
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < kinds; ++i) {
    if (due[i].count == 0) continue;
    due[i].text = as_one_line(std::move(due[i].text));
    lines.push_back(line_of(static_cast<Kind>(i), due[i]));
  }
  return lines;
}

}  // namespace corelane::core
