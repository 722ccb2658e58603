// CounterPublisher keeps the process's counter page up to date. The task threads count in atomics that exist anyway,
// and the housekeeper's thread copies them. So publishing costs real-time threads nothing.
//
// Threads: add(), remove() and note() with the manager's lock, step() on the housekeeper's thread. The lock here
// inherits priority, and is held to copy a list of pointers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/best_effort/best_effort_executor.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/counter_page.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/dispatch/telemetry/counter_page_writer.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/commands.h"

namespace corelane::dispatch {

class CounterPublisher final : public Agent {
 public:
  // `directory`: the runtime directory; empty: nothing is published. `best_effort` and `refusals` outlive this.
  CounterPublisher(std::string directory, std::vector<CoreCounters> cores, std::size_t max_tasks,
                   const BestEffortExecutor& best_effort, const RefusalLog& refusals,
                   const PromiseConditions& conditions = {});

  // What is published of one task. The manager keeps it with the task, so that nothing is searched by the task's id.
  struct Row;
  using RowPtr = std::shared_ptr<Row>;

  // Returns null if nothing is published.
  RowPtr add(const WorkerPtr& worker, const sched::Admit& admit, const std::string& label, const std::string& holder);
  // Raises the bound of a task's response. The row may be null here and in remove().
  static void raise_bound(const RowPtr& row, Duration bound) noexcept;
  void remove(const RowPtr& row) noexcept;
  // Sets the manager's counts. `jobs_refused`: those that the manager refused; those that workers refused are counted
  // here.
  void note(std::uint64_t admitted, std::uint64_t refused, std::uint64_t jobs_refused) noexcept;

  // Counts a refused job that never reached the manager. Any thread.
  void note_refused_job() noexcept { refused_outside_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: a count
  std::uint64_t refused_outside() const noexcept {
    return refused_outside_.load(std::memory_order_relaxed);  // relaxed: a count
  }
  // Counts a request that found the manager's queue full, or displaced another request there. Any thread.
  void note_queue_full() noexcept { queue_full_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: a count
  // Returns the number of such requests, including those that found the best-effort executor's queue full.
  std::uint64_t queue_full() const noexcept {
    return queue_full_.load(std::memory_order_relaxed) + best_effort_.refused();  // relaxed: a count
  }

  // Writes the page if that is due. Returns whether it came too early.
  bool step(Time now) noexcept override;
  // Does the same as CounterPageWriter::step().
  bool write(Time now) noexcept;

 private:
  void count(ProcessCounters& counters, Time now);
  static TaskCounters counters_of(Row& row, Time now);

  // Constant.
  const std::vector<CoreCounters> cores_;
  const std::size_t max_tasks_;
  const BestEffortExecutor& best_effort_;
  const RefusalLog& refusals_;
  const PromiseConditions conditions_;

  CounterPageWriter page_;  // owner: the housekeeper's thread

  // Shared.
  std::atomic<std::uint64_t> admitted_{0}, refused_{0}, jobs_refused_{0}, refused_outside_{0}, queue_full_{0};
  os::PiMutex mutex_;
  std::vector<RowPtr> rows_ CORELANE_GUARDED_BY(mutex_);           // each knows its index
  std::uint64_t refused_by_gone_ CORELANE_GUARDED_BY(mutex_) = 0;  // jobs refused by workers that have left
};

}  // namespace corelane::dispatch
