#include "services/corelane/scale/lock_contention.h"

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

namespace corelane::tool {
namespace {

// A line is "NAME: con-bounces contentions waittime-min waittime-max waittime-total ...". A name may have colons. Lines
// about the places of contention have no colon before numbers, but an address in "[<>]".
std::optional<LockContention> contention_in(const std::string& line) {
  const std::size_t colon = line.rfind(':');
  if (colon == line.npos || line.find("[<") != line.npos) return std::nullopt;
  LockContention found;
  std::istringstream numbers(line.substr(colon + 1));
  std::uint64_t bounces = 0;
  double least = 0, most = 0;
  if (!(numbers >> bounces >> found.contentions >> least >> most >> found.waited_us)) return std::nullopt;
  const std::size_t begin = line.find_first_not_of(" \t");
  found.lock = line.substr(begin, colon - begin);
  return found;
}

}  // namespace

std::vector<LockContention> contentions_in(std::string_view lock_stat) {
  std::vector<LockContention> result;
  std::istringstream lines{std::string(lock_stat)};
  for (std::string line; std::getline(lines, line);)
    if (auto found = contention_in(line)) result.push_back(*std::move(found));
  return result;
}

std::vector<LockContention> longest_waits(const std::vector<LockContention>& before,
                                          const std::vector<LockContention>& after, std::size_t most) {
  std::vector<LockContention> result;
  for (LockContention entry : after) {
    const auto earlier = std::find_if(before.begin(), before.end(),
                                      [&entry](const LockContention& other) { return other.lock == entry.lock; });
    if (earlier != before.end()) {
      entry.contentions -= std::min(entry.contentions, earlier->contentions);
      entry.waited_us -= earlier->waited_us;
    }
    if (entry.contentions > 0 && entry.waited_us > 0) result.push_back(std::move(entry));
  }
  std::sort(result.begin(), result.end(),
            [](const LockContention& a, const LockContention& b) { return a.waited_us > b.waited_us; });
  if (result.size() > most) result.resize(most);
  return result;
}

}  // namespace corelane::tool
