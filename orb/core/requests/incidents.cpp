#include "orb/core/requests/incidents.h"

#include <algorithm>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/text/counted.h"
#include "orb/base/text/one_line.h"
#include "orb/os/lock.h"

namespace corelane::core {

bool Incidents::Count::add(Time now) noexcept {
  ++all;
  return told_at == Time::min() || now - told_at >= quiet;
}

std::uint64_t Incidents::Count::take(Time now) noexcept {
  if (all == told) return 0;
  told_at = now;
  return all - std::exchange(told, all);
}

bool Incidents::oneway_dropped(std::string_view operation, const Error& reason, Time now) noexcept {
  const os::LockGuard lock(mutex_);
  dropped_text_.size = 0;
  dropped_text_.add(operation);
  reason_ = reason;
  return dropped_.add(now);
}

void Incidents::Text::add(std::string_view part) noexcept {
  const std::string_view fitting = part.substr(0, characters.size() - size);
  std::copy(fitting.begin(), fitting.end(), characters.begin() + static_cast<std::ptrdiff_t>(size));
  size += fitting.size();
}

bool Incidents::servant_threw(const ServantFailure& failure, Time now) noexcept {
  const os::LockGuard lock(mutex_);
  constexpr std::string_view separator = ": ";
  const std::string_view interface = short_id(failure.skeleton);
  const std::string_view outcome =
      failure.answered ? ", and its caller gets " : " in a oneway request, and the client does not learn of it";
  const std::string_view answer = failure.answered ? name_of(failure.answer) : "";
  text_.size = 0;
  for (const std::string_view part :
       {outcome, answer, separator, interface, std::string_view(interface.empty() ? "" : "."), failure.upcall.name,
        separator, failure.text})
    text_.add(part);
  return thrown_.add(now);
}

bool Incidents::request_held(std::string_view operation, Time now) noexcept {
  const os::LockGuard lock(mutex_);
  waiting_.size = 0;
  waiting_.add(operation);
  return held_.add(now);
}

bool Incidents::client_cut_off(const Error& reason, Time now) noexcept {
  const os::LockGuard lock(mutex_);
  cut_off_reason_ = reason;
  return cut_off_.add(now);
}

bool Incidents::too_large(std::string_view text, Time now) noexcept {
  const os::LockGuard lock(mutex_);
  large_text_.size = 0;
  large_text_.add(text);
  return large_.add(now);
}

std::uint64_t Incidents::cut_off_clients() const noexcept {
  const os::LockGuard lock(mutex_);
  return cut_off_.all;
}

std::uint64_t Incidents::dropped_oneways() const noexcept {
  const os::LockGuard lock(mutex_);
  return dropped_.all;
}

std::string Incidents::held_line(const std::string& operation, std::uint64_t count) {
  return "a request for " + operation +
         (count == 1 ? "" : " (the last of " + std::to_string(count) + " since the last such line)") +
         " came while the manager of its POA was holding: such requests wait until the_POAManager()->activate()";
}

std::vector<std::string> Incidents::lines(Time now) {
  std::string text, waiting, large_text, dropped_text;
  dropped_text.reserve(longest_text);
  text.reserve(longest_text);
  large_text.reserve(longest_text);
  waiting.reserve(longest_text);
  Error reason, cut_off_reason;
  std::uint64_t dropped, thrown, cut_off, held, large;
  {
    const os::LockGuard lock(mutex_);
    dropped = dropped_.take(now);
    thrown = thrown_.take(now);
    cut_off = cut_off_.take(now);
    reason = reason_;
    cut_off_reason = cut_off_reason_;
    held = held_.take(now);
    large = large_.take(now);
    large_text.assign(large_text_.characters.data(), large_text_.size);
    text.assign(text_.characters.data(), text_.size);
    dropped_text.assign(dropped_text_.characters.data(), dropped_text_.size);
    waiting.assign(waiting_.characters.data(), waiting_.size);
  }
  text = as_one_line(std::move(text));
  std::vector<std::string> lines;
  if (dropped > 0)
    lines.push_back(counted(dropped, "oneway request was", "oneway requests were") +
                    " dropped since the last such line, the last" +
                    (dropped_text.empty() ? "" : " (" + as_one_line(std::move(dropped_text)) + ")") + " because of " +
                    std::string(name_of(reason.kind)) + ": " + std::string(minor::text(reason)));
  if (cut_off > 0)
    lines.push_back(counted(cut_off, "client was", "clients were") +
                    " cut off since the last such line, the last because of " +
                    std::string(name_of(cut_off_reason.kind)) + ": " + std::string(minor::text(cut_off_reason)));
  if (large > 0)
    lines.push_back(counted(large, "call was", "calls were") +
                    " answered with IMP_LIMIT since the last such line, the last because " +
                    as_one_line(std::move(large_text)) + ": " + std::string(minor::text(minor::message_too_large)));
  if (thrown > 0)
    lines.push_back("a servant threw" + text +
                    (thrown == 1 ? "" : " (the last of " + std::to_string(thrown) + " since the last such line)"));
  if (held > 0) lines.push_back(held_line(waiting, held));
  return lines;
}

}  // namespace corelane::core
