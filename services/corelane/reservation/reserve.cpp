#include "services/corelane/reservation/reserve.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "orb/base/contract.h"
#include "orb/os/clock.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

namespace rs = Corelane::Reservation;

constexpr Duration between_looks = std::chrono::milliseconds{100};
constexpr const char* who = "corelane reserve";

rs::Grant ask(const ReservationServer& server, const ReserveOptions& options) {
  const rs::Holder self(rs::Process(0, 0), options.one_thread ? rs::Scope::one_thread : rs::Scope::process_tree, 0);
  const rs::Terms terms(0, options.waits, options.note.empty() ? options.command.front() : options.note);
  if (!options.also.empty()) {
    rs::ResourceWantedList also = options.also;
    for (rs::ResourceWanted& one : also) one.best_effort(options.best_effort);
    return server->reserve_with(self, options.cores, options.share.value_or(rs::ShareWanted(0, 0)), also, terms);
  }
  return options.share ? server->reserve_share(self, *options.share, terms)
                       : server->reserve_cores(self, options.cores, terms);
}

std::string queue_text(std::uint32_t before) {
  if (before == 0) return "first in the queue";
  return before == 1 ? "behind one other" : "behind " + std::to_string(before) + " others";
}

// If the reservation still waits when the time has passed, the caller must give it back.
rs::Grant wait_for(const ReservationServer& server, rs::Grant grant, const ReserveOptions& options, std::ostream& err) {
  if (grant.waiting() && !options.quiet)
    err << who << ": waiting for room, " << queue_text(grant.position()) << "; Ctrl-C gives up" << std::endl;
  const Time latest = options.longest_wait ? os::now() + *options.longest_wait : never;
  while (grant.waiting() && os::now() < latest) {  // without a time limit, until the user ends it
    os::sleep_until(std::min(os::now() + between_looks, latest));
    grant = server->look(grant.reservation());
  }
  return grant;
}

std::string waited_text(const rs::Grant& grant, Duration longest) {
  return std::string(who) + ": no room within " + to_string(longest) + ", was " + queue_text(grant.position()) +
         "; corelane cores shows which process has which cores\n";
}

std::string report_text(const rs::Grant& grant, const ReserveOptions& options) {
  const Format shown_as = options.format;
  if (shown_as == Format::table) {
    std::string text = std::string(who) + ": " + grant_text(grant) + "\n";
    for (const std::string& remark : grant.remarks()) text += std::string(who) + ": " + plain(remark) + "\n";
    return text;
  }
  nlohmann::ordered_json json{{"reservation", grant.reservation()},
                              {"cores", grant.cores()},
                              {"idle", grant.idle()},
                              {"promise", grant_text(grant)},
                              {"remarks", grant.remarks()}};
  for (const rs::ResourceWanted& one : options.also) json[one.name()] = one.amount();
  return json_line(json) + "\n";
}

// Becomes the program. Returns only on failure.
int become(const std::vector<std::string>& command, std::ostream& err) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  ::execvp(words.front(), words.data());
  const int failure = errno;
  err << who << ": " << plain(command.front()) << ": " << std::strerror(failure)
      << (failure == ENOENT && command.front().find('/') == std::string::npos
              ? "; write ./ before a program of this folder"
              : "")
      << "\n";
  return failure == ENOENT ? not_found : not_executable;
}

}  // namespace

Expected<rs::ShareWanted, std::string> parse_share(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto budget = parse_duration(text.substr(0, slash));
  const auto period = slash == text.npos ? std::nullopt : parse_duration(text.substr(slash + 1));
  if (!budget || !period)
    return "'" + std::string(text) +
           "' is no share; write 2ms/10ms for two milliseconds in every ten, in whole numbers: 2500us/10ms";
  if (*budget <= Duration::zero() || *budget > *period || *period > std::chrono::seconds{1})
    return "'" + std::string(text) + "' is out of range: 0 < budget <= period <= 1s";
  return rs::ShareWanted(static_cast<std::uint64_t>(budget->count()), static_cast<std::uint64_t>(period->count()));
}

Expected<std::uint64_t, std::string> parse_bytes(std::string_view text) {
  static constexpr std::pair<std::string_view, std::uint64_t> units[] = {
      {"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30},   {"TiB", 1ULL << 40},
      {"kB", 1'000},       {"MB", 1'000'000},   {"GB", 1'000'000'000}, {"B", 1}};
  const std::string wrong = "'" + std::string(text) + "' is no amount of memory; write 256MiB or 2GiB, a whole number";
  std::uint64_t size = 0;  // none is given
  for (const auto& [name, value] : units)
    if (text.ends_with(name)) {
      text.remove_suffix(name.size());
      size = value;
      break;
    }
  std::uint64_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (fault != std::errc{} || end != text.data() + text.size() || count == 0) return wrong;
  if (size == 0)
    return "'" + std::string(text) + "' says no unit; write " + std::string(text) + "MiB, or " + std::string(text) +
           "B for bytes";
  if (count > std::numeric_limits<std::uint64_t>::max() / size) return wrong;
  return count * size;
}

int reserve(const ReserveOptions& options, std::ostream& err) {
  const int status = with_reservations(who, options.place, err, not_reserved, [&](const ReservationServer& server) {
    const rs::Grant grant = wait_for(server, ask(server, options), options, err);
    if (grant.waiting()) {
      server->release(grant.reservation());
      return err << waited_text(grant, *options.longest_wait) << std::flush, not_reserved;
    }
    if (!options.quiet) err << report_text(grant, options) << std::flush;
    return 0;
  });
  return status != 0 ? status : become(options.command, err);
}

}  // namespace corelane::tool
