// Engine runs the events of a MulticoreSimulator: arrivals, completions, and starts of parts. A split task has several
// parts; each job runs them in turn, each on its own core. multicore_simulator.h has the rules.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/sim/job_source.h"
#include "orb/sim/multicore/cluster.h"
#include "orb/sim/multicore/indexed_heap.h"
#include "orb/sim/multicore/job_pool.h"
#include "orb/sim/multicore/overhead_account.h"
#include "orb/sim/multicore/task_table.h"
#include "orb/sim/multicore/trace_hash.h"
#include "orb/sim/multicore_simulator.h"
#include "orb/sim/stop_check.h"

namespace corelane::sim::multicore {

class Engine {
 public:
  Engine(const MulticoreOptions& options, std::span<const MulticoreTask> tasks, JobSource& source,
         JobObserver* observer);

  void stop_when(std::function<bool()> asked) { stop_ = StopCheck(std::move(asked)); }
  void run(Time until);
  bool stopped() const { return stop_.stopped(); }

  Time now() const { return now_; }
  std::size_t size() const { return tasks_.size(); }
  std::uint64_t finished_jobs() const { return finished_jobs_; }
  std::uint64_t trace_hash() const { return trace_.value(); }
  Duration busy(std::uint32_t core) const { return cores_[core].busy; }
  const OverheadUse& overhead(OverheadKind kind) const { return overheads_.use(kind); }
  TaskResponses responses(std::size_t task) const { return tasks_.responses(jobs_, task, now_); }

 private:
  struct Core {
    JobIndex job = no_job;     // the running one, or no_job
    Time since{};              // when the job was dispatched
    Time interrupted_until{};  // the core handles interrupts until then
    Duration busy{};
  };
  // A part whose start time has not come. The part before it has ended already.
  struct PartStart {
    Time at;
    std::uint32_t task;
    JobIndex job;
  };
  static bool is_later(const PartStart& a, const PartStart& b) { return a.at != b.at ? a.at > b.at : a.task > b.task; }

  Time next_event() const;
  void complete_due();
  void start_due_parts();
  void release_due();
  void dispatch();

  void ask_source(std::uint32_t task);
  void release(std::uint32_t task);
  void interrupt(std::uint32_t core);
  void begin_part(JobIndex index);
  void make_ready(JobIndex index);
  void touch(std::uint32_t cluster);
  void start(JobIndex index, std::uint32_t core);
  Duration start_overhead(const Job& job, std::uint32_t core);
  void preempt(std::uint32_t core);
  JobIndex leave(std::uint32_t core);
  void complete(std::uint32_t core);
  void finish(JobIndex index);

  const Order order_;
  const std::uint32_t cluster_size_;
  JobSource& source_;
  JobObserver* const observer_;

  TaskTable tasks_;
  JobPool jobs_;
  std::vector<Core> cores_;
  std::vector<Cluster> clusters_;

  Time now_{};
  IndexedHeap<Time> completions_;       // when each running job ends; by core
  IndexedHeap<Time> releases_;          // the next arrival of each task
  std::vector<PartStart> part_starts_;  // a heap, the earliest first
  std::vector<std::uint32_t> touched_;  // clusters that need a dispatch
  std::vector<bool> is_touched_;        // by cluster

  StopCheck stop_{};
  OverheadAccount overheads_;
  TraceHash trace_;
  std::uint64_t finished_jobs_ = 0;
};

}  // namespace corelane::sim::multicore
