// InlineTasks implements the mode `leader-followers`. A job runs at once, on the thread that brought it, at its task's
// priority. Nothing is analysed, no job waits for its release, and no core is leased. So nothing is promised, and no
// task is refused for lack of capacity. A task is refused only if the table is full, the peer has too many tasks, or
// the contract is invalid. Real-time ORBs that were made for one core work this way. The mode exists for comparison
// with them.
//
// Jobs without a task also run on that thread, but under SCHED_OTHER. While all threads of the pool are in such jobs,
// no thread reads requests for the tasks. That is the price of the pattern; more `followers.threads` reduce it.
// Internal work (InlineInternalJobs) has its own thread.
//
// With ExecutiveOptions::follower_cores each task is allocated to a core when it is added. A thread of the pool that
// has read a request of the task moves itself to that core, and runs the job there. It stays there afterwards. This is
// what Zhang, Gill & Lu (RTCSA 2009) say of leader/followers on several cores: a request may cost a migration, where
// MC-ORB pays a hand-off between threads. A job on a thread that is not the pool's, such as a collocated call, does not
// move.
//
// Memory: a task allocates all that it needs when it is added, or the answer is NO_MEMORY. A job allocates a place in
// the list of jobs that its thread runs later (os::Deferral), or it is answered NO_MEMORY.
//
// Threads: any. A priority-inheriting lock guards the table; no job runs under it. Jobs of one task may run at the same
// time if they come on several connections. Each task's statistics have their own lock.
//
// The folder orb/dispatch/inline is the mode `leader-followers`: a job runs on the thread that brought it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/inline/inline_housekeeper.h"
#include "orb/dispatch/inline/inline_internal_jobs.h"
#include "orb/dispatch/queue/executive_state.h"
#include "orb/dispatch/recent.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/core_allocator.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class InlineTasks final : public Executive::State {
 public:
  // Uses max_tasks, peer_tasks, follower_cores, allocation, lowest_native, highest_native, real_time, and
  // recorder.runtime_directory for the counter page.
  explicit InlineTasks(const ExecutiveOptions& options);
  ~InlineTasks() override;

  Pushed submit(JobPtr& job) noexcept override;
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) override;
  void note_refused_job() noexcept override {
    jobs_refused_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
  }
  void depart(TaskId task, PeerId owner) noexcept override;
  void peer_gone(PeerId peer) noexcept override;
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept override;
  ExecutiveReport report() const override;
  void stop() noexcept override;

  // Starts the threads of InlineInternalJobs and of the housekeeper.
  Expected<void> start(std::size_t stack);

 private:
  static constexpr std::size_t remembered = 64;  // tasks that have left, for the report
  struct Task;
  using TaskPtr = std::shared_ptr<Task>;

  // Whose thread runs a job. One of the pool is bound to one core, and may be bound to another one.
  enum class RunsOn : std::uint8_t { caller, pool };

  bool defer(JobPtr& job) noexcept;
  void begin(JobPtr job, RunsOn thread) noexcept;
  void run(JobPtr job, const TaskPtr& task, RunsOn thread) noexcept;
  void run_ordinary(JobPtr job) noexcept;
  TaskPtr find(TaskId task, PeerId caller) const noexcept;
  std::optional<sched::Refusal> barred(const Contract& contract, PeerId owner) const noexcept CORELANE_REQUIRES(mutex_);
  Expected<TaskPtr, NotAdmitted> add(const Contract& contract, PeerId owner, std::string_view label) noexcept;
  template <typename Leaves>
  void remove_if(Leaves leaves) noexcept;
  void assign_priorities() noexcept CORELANE_REQUIRES(mutex_);

  // Constant.
  const std::size_t max_tasks_;
  const std::size_t peer_tasks_;  // 0: no limit but max_tasks
  const sched::NativeRange natives_;
  const bool real_time_;
  const std::vector<CoreId> cores_;  // to which tasks are allocated; empty: no task has a core

  mutable os::PiMutex mutex_;
  std::vector<TaskPtr> tasks_ CORELANE_GUARDED_BY(mutex_);  // in descending order of priority
  Recent<TaskPtr> gone_ CORELANE_GUARDED_BY(mutex_){remembered};
  sched::CoreAllocator allocator_ CORELANE_GUARDED_BY(mutex_);
  std::vector<int> levels_ CORELANE_GUARDED_BY(mutex_);  // scratch
  std::uint64_t last_id_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::uint64_t refused_ CORELANE_GUARDED_BY(mutex_) = 0;
  bool stopped_ CORELANE_GUARDED_BY(mutex_) = false;

  // Shared.
  RefusalLog refusals_;
  std::atomic<std::uint64_t> jobs_refused_{0};
  std::atomic<std::uint64_t> best_effort_jobs_{0};
  InlineInternalJobs internal_jobs_;

  InlineHousekeeper housekeeper_;  // constructed last and destroyed first: its thread calls report()
};

}  // namespace corelane::dispatch
