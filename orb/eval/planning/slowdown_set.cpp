#include "orb/eval/planning/slowdown_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include "orb/base/contract.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/manager_options.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/refusal.h"
#include "orb/sched/share.h"

namespace corelane::eval {

SlowdownSet::SlowdownSet(const SlowdownTable& table, const dispatch::ExecutiveOptions& server,
                         std::span<const CoreId> cores)
    : table_(table), server_(server) {
  std::vector<dispatch::CoreLease> leases;
  for (const CoreId core : cores) leases.push_back({.core = core, .physical_core = core.value});
  for (const sched::CoreOptions& core : dispatch::manager_options(server, leases).cores)
    cores_.push_back({.id = core.id, .cache = core.cache});
  clear();
}

void SlowdownSet::clear() {
  placed_.clear();
  last_core_ = 0;
  for (std::size_t i = 0; i < cores_.size(); ++i) cores_[i].server = new_server(i);
}

bool SlowdownSet::admits(const Task& task) {
  refusal_note_.clear();
  if (placed_.size() >= server_.max_tasks) {
    refusal_ = {.code = sched::RefusalCode::too_many_tasks, .takes_none = server_.max_tasks == 0};
    return false;
  }
  const std::vector<std::size_t> order = order_for(task);
  placed_.push_back({.task = task, .row = table_.row_of(task)});
  for (const std::size_t core : order) {
    placed_.back().core = core;
    const auto late = late_core_with_last();
    if (!late) {
      last_core_ = core;
      refusal_note_.clear();
      return true;
    }
    if (refusal_note_.empty()) refusal_note_ = note_of_late(*late);
  }
  placed_.pop_back();
  refusal_ = {.by_bound = true};
  return false;
}

void SlowdownSet::describe(std::size_t number, TaskVerdict& verdict) const {
  const Placed& placed = placed_[number];
  verdict.core = cores_[placed.core].id;
  verdict.bound = cores_[placed.core].server->bound_of(placed.id);
  verdict.charged_budget = placed.charged;
  verdict.slowdown = slowdown(placed);
}

std::vector<sched::CoreView> SlowdownSet::cores() const {
  std::vector<sched::CoreView> views;
  for (const Core& core : cores_) views.push_back(core.server->manager().cores().front());
  return views;
}

std::unique_ptr<IdleServer> SlowdownSet::new_server(std::size_t core) const {
  return std::make_unique<IdleServer>(server_, std::span(&cores_[core].id, 1));
}

// Returns the factor by which the other task slows the task down, in millionths. It is unity if both are on one core,
// or if their cores share no cache.
std::int64_t SlowdownSet::factor(const Placed& task, const Placed& other) const {
  if (other.core == task.core || cores_[other.core].cache != cores_[task.core].cache) return unity.millionths;
  return table_.factor(task.row, other.row);
}

// Returns the factor by which tasks on other cores slow the task down, in millionths. Bound: the tasks.
std::int64_t SlowdownSet::slowdown(const Placed& task) const {
  std::vector<std::int64_t> worst(cores_.size(), unity.millionths);
  for (const Placed& other : placed_) worst[other.core] = std::max(worst[other.core], factor(task, other));
  std::int64_t sum = unity.millionths;
  for (const std::int64_t by_core : worst) sum += by_core - unity.millionths;
  return sum;
}

Duration SlowdownSet::charged_budget(const Placed& task) const {
  return slowed(task.task.contract.budget, slowdown(task));
}

// Tests the core of the last task, and all cores with tasks that it slows down. If all tasks there meet their
// deadlines, the servers of these cores get the new budgets, and the result is nothing. Otherwise nothing changes, and
// the result is a core with a late task.
std::optional<std::size_t> SlowdownSet::late_core_with_last() {
  const Placed& last = placed_.back();
  std::vector<TaskId> ids;
  std::vector<Duration> budgets;
  std::vector<bool> changed(cores_.size());
  for (const Placed& placed : placed_) {
    ids.push_back(placed.id);
    budgets.push_back(charged_budget(placed));
    if (placed.core != last.core && budgets.back() != placed.charged) changed[placed.core] = true;
  }
  std::vector<std::pair<std::size_t, std::unique_ptr<IdleServer>>> tested;
  for (std::size_t core = 0; core < cores_.size(); ++core) {
    if (!changed[core]) continue;
    auto server = new_server(core);
    if (!admit_all(core, *server, budgets, ids)) return core;
    tested.emplace_back(core, std::move(server));
  }
  // The last task does not slow down the tasks of its own core. So their server stays, and gets one task more. If the
  // server refuses that task, it is left as it was.
  ids.back() = admit(*cores_[last.core].server, last, budgets.back());
  if (ids.back() == no_task) return last.core;
  for (auto& [core, server] : tested) cores_[core].server = std::move(server);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    placed_[i].id = ids[i];
    placed_[i].charged = budgets[i];
  }
  return std::nullopt;
}

// Explains why tasks of this core would be late with the last task. Names the task of the core whose budget grows most
// because of slowdowns, and the task that slows it down most. Returns "" if slowdowns lengthen no budget there.
std::string SlowdownSet::note_of_late(std::size_t core) const {
  const Placed* longest = nullptr;
  Duration most{};
  for (const Placed& placed : placed_) {
    if (placed.core != core) continue;
    const Duration more = charged_budget(placed) - placed.task.contract.budget;
    if (more > most) longest = &placed, most = more;
  }
  if (longest == nullptr) return {};
  const Placed& beside =
      *std::ranges::max_element(placed_, {}, [&](const Placed& other) { return factor(*longest, other); });
  const std::int64_t by_one = factor(*longest, beside);
  const Duration overheads = longest->task.overheads, budget = longest->task.contract.budget;
  return "if it ran on core " + std::to_string(cores_[placed_.back().core].id.value) + ", " + longest->task.label +
         " would be analyzed with a budget of " + to_string(sched::rounded(budget + most, sched::Rounding::up)) +
         " in place of " + to_string(budget - overheads) +
         (overheads > Duration::zero() ? " plus " + to_string(overheads) + " of charged overheads" : "") + ": " +
         beside.task.label + " on another core of its cache slows it down by a factor of " + decimal(Fraction{by_one}) +
         (slowdown(*longest) > by_one ? ", and further tasks do, too; these factors are estimates"
                                      : ", which is an estimate");
}

TaskId SlowdownSet::admit(IdleServer& server, const Placed& placed, Duration budget) {
  Contract contract = placed.task.contract;
  contract.budget = budget;
  return server.try_admit(placed.task.label, contract);
}

// Returns whether the server, which is new, admits all tasks of the core with these budgets.
bool SlowdownSet::admit_all(std::size_t core, IdleServer& server, std::span<const Duration> budgets,
                            std::vector<TaskId>& ids) const {
  for (std::size_t i = 0; i < placed_.size(); ++i) {
    if (placed_[i].core != core) continue;
    ids[i] = admit(server, placed_[i], budgets[i]);
    if (ids[i] == no_task) return false;
  }
  return true;
}

// Returns the cores in the order of the allocation strategy.
std::vector<std::size_t> SlowdownSet::order_for(const Task& task) const {
  std::vector<sched::SpareCapacity> spare;
  const std::size_t count = cores_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const sched::CoreView view = cores_[i].server->manager().cores().front();
    spare.push_back(
        {.core = static_cast<int>(i),
         .free = (view.capacity - view.admitted - view.platform) * (sched::whole_share / sched::whole_core),
         .steps = sched::steps_between(static_cast<int>(last_core_), static_cast<int>(i), static_cast<int>(count))});
  }
  if (server_.allocation->regards_caches && is_intensive(task.contract))
    for (const Placed& placed : placed_) {
      if (!is_intensive(placed.task.contract)) continue;
      const Contract& contract = placed.task.contract;
      const sched::Share share = sched::share_of(contract.budget.count(), contract.period.count());
      for (std::size_t i = 0; i < count; ++i) {
        if (cores_[i].cache != cores_[placed.core].cache) continue;
        spare[i].cache_load += share;
        if (i != placed.core) spare[i].beside += share;
      }
    }
  std::ranges::sort(spare, [this](const sched::SpareCapacity& a, const sched::SpareCapacity& b) {
    return sched::comes_before(*server_.allocation, a, b);
  });
  std::vector<std::size_t> order;
  for (const sched::SpareCapacity& one : spare) order.push_back(static_cast<std::size_t>(one.core));
  return order;
}

}  // namespace corelane::eval
