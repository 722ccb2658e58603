// TaskAccount counts what the jobs of one task did, and tells of jobs that are late or exceed the contract. All modes
// count by it.
//
// Threads: the task's thread, where a function does not say otherwise. In the mode leader-followers, which has no such
// thread, a lock of the task replaces it.
#pragma once

#include <atomic>
#include <cstdint>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/miss_log.h"
#include "orb/dispatch/task_events.h"
#include "orb/dispatch/telemetry/histogram.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

// TaskStatistics are the counters of one task. Owner: the task's thread writes, except for what note_refused() counts;
// any thread reads. There is no order among them, so all accesses are relaxed.
struct TaskStatistics {
  Histogram response;  // from the release to the end of run()
  MissLog late;        // has its own lock
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> overruns{0};
  std::atomic<std::uint64_t> refused{0};           // jobs that were turned away, mostly while one waited
  std::atomic<std::uint64_t> oversleeps{0};        // jobs that suspended themselves for longer than S in all
  std::atomic<std::uint64_t> blocks{0};            // jobs that waited without declaring it: see BlockingDetector
  std::atomic<std::uint64_t> undeclared_locks{0};  // locks of resources that the contract does not name

  // The values at one time. The thread counts on meanwhile, so they need not belong to the same job.
  struct Values {
    std::uint64_t jobs = 0;  // finished
    std::uint64_t misses = 0, overruns = 0, refused = 0, oversleeps = 0, blocks = 0, undeclared_locks = 0;
    Duration p50{}, p99{}, max{};  // of `response`
  };
  Values values() const noexcept;
  // Copies the counters and the latest misses. Allocates unless the report has room for MissLog::capacity misses.
  void copy_to(TaskReport& report) const;
};

class TaskAccount {
 public:
  // What a job did that has ended.
  struct Ended {
    Time at;
    Duration used{};   // execution
    Duration slept{};  // in declared suspensions
  };

  // `contract` must outlive this object.
  TaskAccount(TaskId task, const Contract& contract) : task_(task), contract_(contract) {}

  // Sets the receiver of events. It must outlive the thread. Call it before the thread starts.
  void tell_events_to(TaskEvents* events) noexcept { events_ = events; }
  void add(const JobContext& context, const Ended& ended) noexcept;
  bool has_overslept(Duration slept) const noexcept { return slept > contract_.suspension; }
  // Count a job that waited without declaring it, and a lock of a resource that the contract does not name.
  void note_block() noexcept;
  void note_undeclared_lock() noexcept;
  // Counts a job of the task that was turned away. A request that arrives while its task is leaving is refused, but not
  // counted as misbehavior. Any thread.
  void note_refused(sched::RefusalCode why) noexcept;
  const TaskStatistics& statistics() const noexcept { return statistics_; }  // any thread

 private:
  void tell(TaskEventKind kind, const JobContext& context, const Ended& ended) noexcept;

  const TaskId task_;
  const Contract& contract_;
  TaskEvents* events_ = nullptr;
  TaskStatistics statistics_;
};

}  // namespace corelane::dispatch
