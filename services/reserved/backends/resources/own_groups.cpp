#include "services/reserved/backends/resources/own_groups.h"

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "orb/base/text/counted.h"

namespace corelane::reserved {
namespace {

constexpr const char* portion_prefix = "corelane-m";

// Returns the group itself, or the group around it if it belongs to this program.
std::string not_ours(const std::string& group) {
  const std::size_t slash = group.rfind('/');
  const std::string name = slash == group.npos ? group : group.substr(slash + 1);
  if (!name.starts_with(portion_prefix)) return group;
  return slash == group.npos ? "" : group.substr(0, slash);
}

}  // namespace

OwnGroups::OwnGroups(const Host& host, Means means) : host_(host), means_(std::move(means)), made_(*host_.journal) {}

Done<Remarks> OwnGroups::give(const Portion& portion) {
  const auto from = host_.processes->group_of(portion.holder.process.pid, means_.hierarchy);
  if (!from) return Unexpected{"process " + std::to_string(portion.holder.process.pid) + " has ended"};
  Given& given = given_[portion.id];
  given = {.from = *from, .home = not_ours(*from), .amount = portion.amount};
  given.group = joined_path(given.home, portion_prefix + std::to_string(portion.id.value));
  if (auto made = made_.make(*means_.groups, means_.hierarchy, given.group, given.home); !made)
    return Unexpected{made.error()};
  if (auto done = put(*means_.groups, joined_path(given.group, means_.file), std::to_string(portion.amount)); !done)
    return Unexpected{done.error()};
  const auto others = bring_in(portion, given);
  if (!others) return Unexpected{others.error()};
  if (*others == 0) return Remarks{};
  return Remarks{counted(*others, "process of the tree stays in its", "processes of the tree stay in their") +
                 " own group of the " + means_.hierarchy + " controller, without a part of this"};
}

// Moves the tree's processes into the group. Returns how many stay elsewhere. A process in a group of its own stays
// there, because the limits of that group hold for it.
Done<unsigned> OwnGroups::bring_in(const Portion& portion, const Given& given) {
  std::set<int> seen;
  unsigned others = 0;
  for (int round = 0, fresh = 1; fresh > 0 && round < tree_rounds; ++round) {
    fresh = 0;
    for (const int pid : host_.processes->members_of(portion.holder)) {
      if (!seen.insert(pid).second) continue;
      ++fresh;
      const auto now = host_.processes->group_of(pid, means_.hierarchy);
      if (!now || *now == given.group) continue;
      if (*now != given.from) {
        ++others;
        continue;
      }
      const int fault = means_.groups->write(joined_path(given.group, "cgroup.procs"), std::to_string(pid));
      if (fault != 0 && fault != ESRCH)
        return Unexpected{"process " + std::to_string(pid) + " cannot be moved into " +
                          means_.groups->absolute(given.group) + ": " + errno_text(fault)};
    }
  }
  return others;
}

void OwnGroups::take(ReservationId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  const Given given = std::move(found->second);
  given_.erase(found);
  made_.remove(*means_.groups, means_.hierarchy, given.group, means_.groups->has(given.from) ? given.from : given.home);
  left_[given.group] = given.amount;
  forget_removed();
}

// Weights are relative, so no reservation holds a part that others lack.
std::uint64_t OwnGroups::held() const {
  if (means_.offer.promise == ResourcePromise::proportional) return 0;
  std::uint64_t held = 0;
  for (const auto& [group, amount] : left_) held += amount;
  return held;
}

void OwnGroups::sweep() {
  made_.retry();
  forget_removed();
}

void OwnGroups::forget_removed() {
  const auto left = made_.left(*means_.groups);
  std::erase_if(left_, [&](const auto& item) { return std::ranges::count(left, item.first) == 0; });
}

}  // namespace corelane::reserved
