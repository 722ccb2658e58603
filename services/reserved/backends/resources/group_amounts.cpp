#include "services/reserved/backends/resources/group_amounts.h"

#include <algorithm>
#include <utility>

#include "orb/os/log.h"

namespace corelane::reserved {
namespace {

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

GroupAmounts::GroupAmounts(const Host& host, const std::string& root, Means means)
    : host_(host), means_(std::move(means)), switch_(host_, root) {}

// Writes the set's sum first, so that nothing is promised which the kernel does not guarantee yet.
Done<Remarks> GroupAmounts::give(const Portion& portion) {
  const std::string set_group = parent_of(portion.group);
  if (auto on = switch_.switch_on_below(set_group, means_.controller); !on)
    return Unexpected{on.error() + "; a group with processes of its own cannot have the controller " +
                      means_.controller + " for those below it: name another reserved.root, or none"};
  sweep();
  given_[portion.id] = {portion.group, portion.amount};
  if (auto done = write_sum(set_group); !done) return Unexpected{done.error()};
  if (auto done = write(portion.group, portion.amount); !done) return Unexpected{done.error()};
  return Remarks{};
}

bool GroupAmounts::is_there(const std::string& group) const {
  return host_.unified->has(joined_path(group, means_.file));
}

Done<void> GroupAmounts::write(const std::string& group, std::uint64_t amount) {
  return put(*host_.unified, joined_path(group, means_.file), amount == 0 ? means_.none : std::to_string(amount));
}

// Bound: the reservations.
std::uint64_t GroupAmounts::given_in(const std::string& set_group) const {
  std::uint64_t sum = 0;
  for (const auto& [id, given] : given_)
    if (parent_of(given.group) == set_group) sum += given.amount;
  return sum;
}

std::uint64_t GroupAmounts::sum_in(const std::string& set_group) const {
  std::uint64_t sum = given_in(set_group);
  for (const auto& [group, amount] : left_)
    if (parent_of(group) == set_group) sum += amount;
  return std::min(sum, means_.offer.most);
}

Done<void> GroupAmounts::write_sum(const std::string& set_group) {
  const std::uint64_t sum = sum_in(set_group);
  auto done = write(set_group, sum);
  if (done) sums_[set_group] = sum;
  return done;
}

// The reservation loses its amount even if a process keeps its group alive for a while.
void GroupAmounts::take(ReservationId id) {
  const auto found = given_.find(id);
  if (found == given_.end()) return;
  left_[found->second.group] = found->second.amount;
  given_.erase(found);
  sweep();
}

// Weights are relative, so no reservation holds a part that others lack.
std::uint64_t GroupAmounts::held() const {
  if (means_.offer.promise == ResourcePromise::proportional) return 0;
  std::uint64_t held = 0;
  for (const auto& [set_group, sum] : sums_)
    if (is_there(set_group)) held += sum - std::min(sum, given_in(set_group));
  return held;
}

// Bound: the groups of ended reservations. A group that the backend has removed has no amount any more.
void GroupAmounts::sweep() {
  std::erase_if(left_, [&](const auto& item) {
    const std::string& group = item.first;
    return is_done(group, is_there(group) ? write(group, 0) : Done<void>{});
  });
  std::erase_if(sums_, [&](const auto& item) {
    const std::string& group = item.first;
    return !is_there(group) && given_in(group) == 0 && is_done(group, {});
  });
  for (const auto& [set_group, sum] : std::map(sums_))
    if (sum != sum_in(set_group)) is_done(set_group, write_sum(set_group));
}

// Logs a fault once per group. Returns whether it was done.
bool GroupAmounts::is_done(const std::string& group, const Done<void>& done) {
  if (!done && told_.insert(group).second)
    os::log::warn(done.error() +
                  "; the amounts stay with the group of the ended reservation until a later attempt succeeds");
  if (done) told_.erase(group);
  return done.has_value();
}

}  // namespace corelane::reserved
