#include "orb/dispatch/admission/ledger_client.h"

#include <algorithm>
#include <new>
#include <utility>

#include "orb/base/errors.h"
#include "orb/dispatch/leases/cross_process_analysis.h"
#include "orb/dispatch/manager_options.h"

namespace corelane::dispatch {
namespace {

Promise load_promise(const CoreLease& lease, const sched::PlatformLoad& load) {
  return {.core = lease.core,
          .physical_core = lease.physical_core,
          .contract = {.period = load.period, .deadline = load.period, .budget = load.budget, .jitter = load.jitter},
          .kind = PromiseKind::platform,
          .blocking = load.blocking};
}

Duration longest_section(const Contract& contract) {
  Duration longest{};
  for (const ResourceUse& use : contract.uses) longest = std::max(longest, use.longest);
  return longest;
}

bool fits(const Contract& contract, Duration overshoot) {
  return contract.budget + overshoot <= contract.deadline - contract.suspension;
}

}  // namespace

LedgerClient::LedgerClient(const ExecutiveOptions& options, std::span<const CoreLease> leases, CoreProvider& provider,
                           BestEffortServers& servers, RecordedManager& manager)
    : options_(options),
      leases_(leases),
      levels_(task_natives(options).task_levels()),
      provider_(provider),
      servers_(servers),
      manager_(manager),
      home_(leases.front().core),
      others_(leases.size()),
      others_platform_(leases.size()),
      stale_(!servers.all_granted()) {
  if (!servers_.empty() || options_.reader.budget > Duration::zero())
    for (const CoreLease& lease : leases_) tell_interference(lease, {});
}

Expected<void> LedgerClient::begin(const Contract& candidate, Time now) noexcept {
  return begin_for({&candidate, 1}, now);
}

Expected<void> LedgerClient::begin_leaving(CoreId core, Time now) noexcept try {
  std::vector<Contract> homeless;
  for (const sched::TaskView& task : manager_.tasks())
    if (task.core == core && task.state != sched::TaskState::leaving) homeless.push_back(task.contract);
  return begin_for(homeless, now);
} catch (const std::bad_alloc&) {
  return errors::no_memory;
}

Expected<void> LedgerClient::begin_for(std::span<const Contract> candidates, Time now) noexcept try {
  const auto others = provider_.begin();
  if (!others) return others.error();
  settle_extended(*others, now);
  note_others(*others, candidates);
  return {};
} catch (const std::bad_alloc&) {
  provider_.abandon();
  return errors::no_memory;
}

void LedgerClient::close_all() noexcept {
  is_known_empty_ = false;
  for (const CoreLease& lease : leases_) manager_.set_closed(lease.core, options_.admission_test->promises);
}

Expected<void> LedgerClient::claim_all() noexcept try {
  constexpr Duration always = std::chrono::milliseconds{1};
  std::vector<Promise> whole;
  for (const CoreLease& lease : leases_) whole.push_back(load_promise(lease, {.budget = always, .period = always}));
  const auto claimed = provider_.claim(whole);
  stale_ = stale_ || claimed;
  return claimed;
} catch (const std::bad_alloc&) {
  provider_.abandon();
  return errors::no_memory;
}

Expected<void> LedgerClient::commit() noexcept {
  const auto mine = promises_with_room();
  if (!mine) provider_.abandon();
  const auto written = mine ? provider_.end(*mine) : Expected<void>(mine.error());
  stale_ = !written || !servers_.all_granted();
  return written;
}

// Reserves room in extended_promises_, too. A task is added there once when it leaves, once when it is moved, and once
// when its core is lost; then refresh() is due.
Expected<std::vector<Promise>> LedgerClient::promises_with_room() noexcept try {
  std::vector<Promise> mine = promises();
  extended_promises_.reserve(extended_promises_.size() + 3 * mine.size());
  return mine;
} catch (const std::bad_alloc&) {
  return errors::no_memory;
}

void LedgerClient::note_others(std::span<const Promise> others, std::span<const Contract> candidates) {
  const bool known = others.empty() && is_known_empty_;  // the Manager knows that nobody else promises anything
  is_known_empty_ = false;                               // until all is told, which may fail
  if (!known) tell_others(others, candidates);
  is_known_empty_ = others.empty();
  // The others' deadlines are checked against one new task on one core, not against a repacking of our tasks.
  const bool repack = !beside_others_ && provider_.alone();
  if (repack_ != repack) manager_.set_repack(repack);
  repack_ = repack;
}

void LedgerClient::tell_others(std::span<const Promise> others, std::span<const Contract> candidates) {
  const std::vector<Promise> mine = others.empty() ? std::vector<Promise>{} : task_promises();
  beside_others_ = false;
  for (std::size_t i = 0; i < leases_.size(); ++i) {
    const CoreLease& lease = leases_[i];
    others_[i] = promised_on(lease, others);
    others_platform_[i] = platform_on(lease, others);
    beside_others_ = beside_others_ || others_[i] != 0;
    manager_.set_closed(lease.core, options_.admission_test->promises && closes(lease, others, mine, candidates));
    tell_interference(lease, others);
  }
}

// Tells what runs on the core beside our tasks and the platform: other processes, best-effort servers and the reader.
void LedgerClient::tell_interference(const CoreLease& lease, std::span<const Promise> others) {
  auto loads = interference_on(lease, others);
  for (const sched::PlatformLoad& own : own_loads(options_, lease.core)) loads.push_back(own);
  manager_.set_interference(lease.core, loads);
}

// Returns whether the new tasks on the core of `lease`, or the growth of our platform load, would make a task of
// another process late. The platform load grows on this core and, for our first task, also on the manager's core.
bool LedgerClient::closes(const CoreLease& lease, std::span<const Promise> others, const std::vector<Promise>& mine,
                          std::span<const Contract> candidates) const {
  if (others.empty()) return false;
  std::vector<Promise> ours = mine;
  for (const Contract& candidate : candidates) ours.push_back(task_promise(lease, candidate));
  add_platform(ours);
  for (const Contract& candidate : candidates)
    if (const auto overshoot = overshoot_promise(lease, candidate)) ours.push_back(*overshoot);
  servers_.add_promises(ours);
  const bool first = mine.empty() && lease.core != home_;
  return !others_hold(lease, others, ours) || (first && !others_hold(home_lease(), others, ours));
}

const CoreLease& LedgerClient::home_lease() const noexcept {
  for (const CoreLease& lease : leases_)
    if (lease.core == home_) return lease;
  return leases_.front();
}

// Makes the promise for a task. Other processes know nothing of resources, so the longest section blocks all of their
// tasks. An enforced job may exceed its budget to end a section. That time is added to its budget if it fits; if not,
// see overshoot_promise().
Promise LedgerClient::task_promise(const CoreLease& lease, const Contract& original) const {
  Contract contract = original;
  const Duration longest = longest_section(contract);
  contract.uses = {};
  if (const Duration overshoot = overshoot_of(original); fits(original, overshoot)) contract.budget += overshoot;
  return {.core = lease.core,
          .physical_core = lease.physical_core,
          .contract = contract,
          .blocking = longest,
          .levels = levels_};
}

// Returns a load for what an enforced job may execute past its budget, if the contract has no room for it before the
// deadline. The load comes as often as the task, and up to D later.
std::optional<Promise> LedgerClient::overshoot_promise(const CoreLease& lease,
                                                       const Contract& contract) const noexcept {
  const Duration overshoot = overshoot_of(contract);
  if (fits(contract, overshoot)) return std::nullopt;
  return load_promise(lease,
                      {.budget = overshoot, .period = contract.period, .jitter = contract.deadline + contract.jitter});
}

// Returns how far a job may run past its budget if it is demoted inside a section.
Duration LedgerClient::overshoot_of(const Contract& contract) const noexcept {
  return is_enforced(contract, options_.charge_overruns) ? longest_section(contract) : Duration::zero();
}

// Returns every task on every core that it is charged to, tasks whose work may still delay others, and the platform's
// load.
std::vector<Promise> LedgerClient::task_promises() const {
  const std::vector<sched::TaskView> tasks = manager_.tasks();
  std::vector<Promise> result;
  // The usual size, with the platform's loads.
  result.reserve(tasks.size() + extended_promises_.size() + 2 * leases_.size());
  std::vector<Promise> overshoots;  // come after the platform's load, which is there once for each core
  const auto add = [&](CoreId core, const Contract& contract) {
    for (const CoreLease& lease : leases_) {
      if (lease.core != core) continue;
      result.push_back(task_promise(lease, contract));
      if (const auto overshoot = overshoot_promise(lease, contract)) overshoots.push_back(*overshoot);
    }
  };
  for (const sched::TaskView& task : tasks) {
    add(task.core, task.contract);
    if (task.target != no_core && task.target != task.core) add(task.target, task.contract);
  }
  for (const ExtendedPromise& left : extended_promises_)
    (left.promise.kind == PromiseKind::task ? result : overshoots).push_back(left.promise);
  add_platform(result);
  result.insert(result.end(), overshoots.begin(), overshoots.end());
  return result;
}

std::vector<Promise> LedgerClient::promises() const {
  std::vector<Promise> result = task_promises();
  servers_.add_promises(result);
  return result;
}

// Adds the platform's load where tasks are, and on the manager's core, which works for all of them. Once for each core.
void LedgerClient::add_platform(std::vector<Promise>& promises) const {
  if (promises.empty()) return;
  for (const CoreLease& lease : leases_) {
    const auto is_here = [&](PromiseKind kind) {
      return std::any_of(promises.begin(), promises.end(),
                         [&](const Promise& p) { return p.core == lease.core && p.kind == kind; });
    };
    const bool needed = lease.core == home_ || is_here(PromiseKind::task);
    if (!needed || is_here(PromiseKind::platform)) continue;
    for (const sched::PlatformLoad& load : {options_.platform, reader_load(options_)})
      if (load.budget > Duration::zero() || load.blocking > Duration::zero())
        promises.push_back(load_promise(lease, load));
  }
}

void LedgerClient::extend(CoreId core, const Contract& contract, Time now) noexcept {
  for (const CoreLease& lease : leases_) {
    if (lease.core != core) continue;
    extended_promises_.push_back({.promise = task_promise(lease, contract), .since = now});
    if (const auto overshoot = overshoot_promise(lease, contract))
      extended_promises_.push_back({.promise = *overshoot, .since = now});
  }
  stale_ = true;
}

// Call it inside a transaction.
void LedgerClient::settle_extended(std::span<const Promise> others, Time now) noexcept {
  for (ExtendedPromise& left : extended_promises_) {
    if (left.until != never) continue;
    left.until = left.since;
    for (const CoreLease& lease : leases_)
      if (lease.core == left.promise.core) left.until += longest_deadline_on(lease, others);
  }
  std::erase_if(extended_promises_, [&](const ExtendedPromise& left) { return left.until <= now; });
}

Time LedgerClient::extended_until() const noexcept {
  Time next = never;
  for (const ExtendedPromise& left : extended_promises_) next = std::min(next, left.until);
  return next;
}

// When an extended promise has ended, ours are stale, and retry_ has the time of the next attempt.
Time LedgerClient::wake_at() const noexcept { return stale_ ? retry_.at() : extended_until(); }

// Call it inside a transaction, which it closes.
bool LedgerClient::write_all(std::span<const Promise> others) noexcept {
  try {
    servers_.claim(others, promises());
  } catch (const std::bad_alloc&) {  // then the servers keep waiting
  }
  const auto mine = promises_with_room();
  if (!mine) provider_.abandon();
  const bool written = mine && provider_.end(*mine);
  if (!written) servers_.take_back();
  return written;
}

bool LedgerClient::refresh(Time now) noexcept {
  stale_ = stale_ || extended_until() <= now;
  if (!stale_ || !retry_.is_due(now)) return false;
  const auto others = provider_.begin();
  if (!others) {
    retry_.failed(now);
    return false;
  }
  settle_extended(*others, now);
  const bool written = write_all(*others);
  stale_ = !written;
  stale_ ? retry_.failed(now) : retry_.start(now + retry_period);
  if (!stale_) servers_.grant();
  if (!servers_.all_granted()) stale_ = true, retry_.start(now + server_retry_period);
  return true;
}

}  // namespace corelane::dispatch
