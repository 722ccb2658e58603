#include "services/reserved/backends/group_amounts.h"

#include <algorithm>
#include <utility>

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
  given_[portion.id] = {portion.group, portion.amount};
  if (auto done = set_sum(set_group); !done) return Unexpected{done.error()};
  auto done = put(*host_.unified, joined_path(portion.group, means_.file), std::to_string(portion.amount));
  if (!done) return Unexpected{done.error()};
  return Remarks{};
}

// Bound: the reservations.
Done<void> GroupAmounts::set_sum(const std::string& set_group) {
  std::uint64_t sum = 0;
  for (const auto& [id, given] : given_)
    if (parent_of(given.group) == set_group) sum += given.amount;
  const std::string file = joined_path(set_group, means_.file);
  return put(*host_.unified, file, sum == 0 ? means_.none : std::to_string(std::min(sum, means_.offer.most)));
}

// A group that a process keeps busy for a while is not to have it any longer, either.
void GroupAmounts::take(ReservationId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  const std::string group = found->second.group;
  given_.erase(found);
  (void)put(*host_.unified, joined_path(group, means_.file), means_.none);
  (void)set_sum(parent_of(group));
}

}  // namespace corelane::reserved
