#include "services/reserved/backends/group_amounts.h"

#include <algorithm>
#include <utility>

#include "orb/os/log.h"

namespace corelane::reserved {
namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

GroupAmounts::GroupAmounts(const Host& host, const std::string& root, Means means)
    : host_(host), means_(std::move(means)), switch_(host_, root) {}

// The set's first: in between nothing is promised that the kernel does not keep.
Done<Remarks> GroupAmounts::give(const Portion& portion) {
  const std::string set_group = parent_of(portion.group);
  if (auto on = switch_.switch_on_below(set_group, means_.controller); !on)
    return Unexpected{on.error() + "; a group with processes of its own cannot have the controller " +
                      means_.controller + " for those below it: name another reserved.root, or none"};
  sweep();
  given_[portion.id] = {portion.group, portion.amount};
  if (auto done = write_amount(set_group); !done) return Unexpected{done.error()};
  if (auto done = write_amount(portion.group); !done) return Unexpected{done.error()};
  return Remarks{};
}

// Bound: the reservations.
Done<void> GroupAmounts::write_amount(const std::string& group) {
  std::uint64_t sum = 0;
  for (const auto& [id, given] : given_)
    if (given.group == group || parent_of(given.group) == group) sum += given.amount;
  const std::string text = sum == 0 ? means_.none : std::to_string(std::min(sum, means_.offer.most));
  auto done = put(*host_.unified, joined_path(group, means_.file), text);
  if (done) overstated_.erase(group);
  return done;
}

// A group that the backend has removed has no amount any longer.
void GroupAmounts::lower(const std::string& group) {
  if (!host_.unified->has(joined_path(group, means_.file))) {
    overstated_.erase(group);
    return;
  }
  if (const auto done = write_amount(group); !done && overstated_.insert(group).second)
    os::log::warn(done.error() + "; the group keeps what a reservation that ended had until a later try succeeds");
}

// A group that a process keeps busy for a while is not to have it any longer, either.
void GroupAmounts::take(ReservationId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  const std::string group = found->second.group;
  given_.erase(found);
  lower(group);
  lower(parent_of(group));
}

// Bound: the groups of reservations that ended.
void GroupAmounts::sweep() {
  for (const std::string& group : std::set(overstated_)) lower(group);
}

}  // namespace corelane::reserved
