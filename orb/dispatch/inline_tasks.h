// InlineTasks: what stands behind the mode `leader-followers`. A job runs on the thread that brought it, at once, at
// its task's priority. Nothing is analysed, no job waits for its release, no core is leased: so nothing is promised,
// and nobody is refused for want of time: only where the table is full, or for a contract that makes no sense. It is
// the way of the real-time ORBs that were made for one core, kept to be measured against.
//
// Jobs without a task run on that thread, too, but under SCHED_OTHER. Where all threads of the pool are in such jobs
// nobody reads for the tasks; that is the pattern's price, which `followers.threads` moderates. Chores have a thread.
//
// Memory: a task takes all that it needs when it is added; where there is none, NO_MEMORY. A job takes a place among
// those that its thread does later; where there is none it is answered NO_MEMORY.
//
// Threads: any. A priority-inheriting lock guards the table; no job runs under it. Jobs of one task may run at the same
// time when they come by several connections; each task's statistics have a lock of their own.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "orb/base/ids.h"
#include "orb/dispatch/executive_state.h"
#include "orb/dispatch/histogram.h"
#include "orb/dispatch/inline_chores.h"
#include "orb/dispatch/inline_housekeeper.h"
#include "orb/dispatch/miss_log.h"
#include "orb/dispatch/recent.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class InlineTasks final : public Executive::State {
 public:
  // Uses max_tasks, peer_tasks, lowest_native, highest_native, real_time and recorder.runtime_directory, where its
  // counter page goes.
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

  // Assembly: the threads of the chores and of the housekeeper.
  Expected<void> start(std::size_t stack);

 private:
  static constexpr std::size_t remembered = 64;  // tasks that have left, for the report
  struct Task;
  using TaskPtr = std::shared_ptr<Task>;

  bool defer(JobPtr& job) noexcept;
  void begin(JobPtr job) noexcept;
  void run(JobPtr job, const TaskPtr& task) noexcept;
  void run_ordinary(JobPtr job) noexcept;
  TaskPtr find(TaskId task, PeerId caller) const noexcept;
  std::optional<sched::Refusal> barred(const Contract& contract, PeerId owner) const noexcept;  // under the lock
  Expected<TaskPtr, NotAdmitted> add(const Contract& contract, PeerId owner, std::string_view label) noexcept;
  template <typename Leaves>
  void remove_if(Leaves leaves) noexcept;
  void assign_priorities() noexcept;

  // Constant.
  const std::size_t max_tasks_;
  const std::size_t peer_tasks_;  // 0: as many as there is room for
  const sched::NativeRange natives_;
  const bool real_time_;

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<TaskPtr> tasks_;  // in descending order of priority
  Recent<TaskPtr> gone_{remembered};
  std::vector<int> levels_;  // scratch
  std::uint64_t last_id_ = 0;
  std::uint64_t refused_ = 0;
  RefusalLog refusals_;                         // shared
  std::atomic<std::uint64_t> jobs_refused_{0};  // shared
  bool stopped_ = false;

  std::atomic<std::uint64_t> best_effort_jobs_{0};
  InlineChores chores_;

  InlineHousekeeper housekeeper_;  // the last to be made and the first to go: its thread asks for report()
};

}  // namespace corelane::dispatch
