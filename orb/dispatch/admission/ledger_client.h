// LedgerClient manages what this process promises to the other processes of its host, and what they promise to it. All
// transactions with the CoreProvider pass through it. A new task is decided between begin() and commit(). refresh()
// writes down smaller promises.
//
// A promise covers:
// - every task, on each core that it is charged to;
// - tasks that have left a core, as long as their earlier work may still delay tasks of other processes;
// - the platform's load, and the best-effort servers.
//
// Threads: owned by the holder of the manager's lock.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/best_effort/best_effort_servers.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/queue/back_off.h"
#include "orb/dispatch/telemetry/recorded_scheduler.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class LedgerClient {
 public:
  static constexpr Duration retry_period = std::chrono::microseconds{200};   // of a refused transaction, at first
  static constexpr Duration longest_retry = std::chrono::milliseconds{100};  // doubled up to this
  static constexpr Duration server_retry_period = std::chrono::seconds{1};   // of servers without room

  // All arguments must outlive this object. Tells `manager` what is on our cores before any other process is known.
  LedgerClient(const ExecutiveOptions& options, std::span<const CoreLease> leases, CoreProvider& provider,
               BestEffortServers& servers, RecordedManager& manager);

  // Opens a transaction and tells the Manager what others promised, as interference to the new task. Closes a core to
  // the new task if it would break a promise of others there. Errors: as CoreProvider::begin(), NO_MEMORY.
  Expected<void> begin(const Contract& candidate, Time now) noexcept;
  // Does the same for the tasks of a lost core, all of which may move to any of our other cores.
  Expected<void> begin_leaving(CoreId core, Time now) noexcept;
  // Closes all of our cores to new tasks, until a transaction opens them.
  void close_all() noexcept;
  // Promises all of our cores, before a decision that moves tasks and cannot be undone. commit() then reduces the
  // promise to what is needed. On an error the transaction is closed: another process has come.
  Expected<void> claim_all() noexcept;
  // Writes down what the Manager has decided, and closes the transaction. Errors: as CoreProvider::end(), NO_MEMORY.
  Expected<void> commit() noexcept;
  void abandon() noexcept { provider_.abandon(); }

  // Writes down what has changed since, as soon as the provider has time. Returns whether it did anything.
  bool refresh(Time now) noexcept;
  void has_changed() noexcept { stale_ = true; }
  // Keeps promising a task that is no longer charged to the core since its idle instant, which is now. Our own tasks
  // may use what it held. But a job of another process may have begun before, and no third process may count on the
  // capacity until that job is done.
  void extend(CoreId core, const Contract& contract, Time now) noexcept;
  // Returns when refresh() has something to do.
  Time wake_at() const noexcept;
  // Withdraws all promises.
  void withdraw() noexcept { provider_.withdraw(); }

  // Return whether others promised something on our cores, as begin() found it; how much of leases[i] that is; and how
  // much of that is their platform load.
  bool beside_others() const noexcept { return beside_others_; }
  sched::Ppm others_on(std::size_t i) const noexcept { return others_[i]; }
  sched::Ppm others_platform_on(std::size_t i) const noexcept { return others_platform_[i]; }

  // Returns the core of the manager's thread, where the platform's load always counts.
  CoreId home() const noexcept { return home_; }
  void move_home(CoreId core) noexcept { home_ = core; }

 private:
  // What is still promised for a task that has left a core.
  struct ExtendedPromise {
    Promise promise;
    Time since{};        // the core's idle instant
    Time until = never;  // known when the others' deadlines have been read
  };

  Expected<void> begin_for(std::span<const Contract> candidates, Time now) noexcept;
  void note_others(std::span<const Promise> others, std::span<const Contract> candidates);
  void tell_others(std::span<const Promise> others, std::span<const Contract> candidates);
  void tell_interference(const CoreLease& lease, std::span<const Promise> others);
  bool closes(const CoreLease& lease, std::span<const Promise> others, const std::vector<Promise>& mine,
              std::span<const Contract> candidates) const;
  const CoreLease& home_lease() const noexcept;
  Promise task_promise(const CoreLease& lease, const Contract& contract) const;
  Duration overshoot_of(const Contract& contract) const noexcept;
  std::optional<Promise> overshoot_promise(const CoreLease& lease, const Contract& contract) const noexcept;
  std::vector<Promise> task_promises() const;
  std::vector<Promise> promises() const;
  void add_platform(std::vector<Promise>& promises) const;
  Expected<std::vector<Promise>> promises_with_room() noexcept;
  bool write_all(std::span<const Promise> others) noexcept;
  void settle_extended(std::span<const Promise> others, Time now) noexcept;
  Time extended_until() const noexcept;

  // Constant.
  const ExecutiveOptions& options_;
  const std::span<const CoreLease> leases_;
  const int levels_;  // of our tasks
  CoreProvider& provider_;
  BestEffortServers& servers_;
  RecordedManager& manager_;

  // With the manager's lock.
  CoreId home_;
  // By leased core: what other processes promised, and how much of that is platform load.
  std::vector<sched::Ppm> others_, others_platform_;
  bool beside_others_ = false;
  bool is_known_empty_ = false;                     // the Manager was told that no other process promises anything
  std::optional<bool> repack_;                      // what the Manager was told
  std::vector<ExtendedPromise> extended_promises_;  // with room for what may be added before the next commit()
  bool stale_ = false;                              // the written promises are not the current ones
  BackOff retry_{retry_period, longest_retry};
};

}  // namespace corelane::dispatch
