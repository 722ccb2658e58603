// MulticoreSimulator runs task sets on many cores in virtual time: partitioned, clustered, global or semi-partitioned,
// by fixed priorities or earliest deadline first. It knows no admission and no Manager; simulator.h has these. It is
// meant for experiments with many sets, many cores and long runs.
//
// The platform. The cores are divided into clusters of equal size. A cluster has one queue of ready jobs, and at each
// instant its cores run the most urgent ones. With clusters of one core the scheduling is partitioned, with one cluster
// of all cores it is global. A task may have parts on several cores (semi-partitioned, as by C=D splitting).
//
// The rules, which make a schedule unique:
//   Events    They happen in the order (time, class, number). The classes are completion < part start (the next part
//             of a split job becomes ready) < release < dispatch. The number is that of the core for completions and of
//             the task for part starts and releases. Dispatching goes through the clusters in the order in which the
//             events of this instant concerned them, and in each of them by urgency.
//   Urgency   Fixed priorities: the higher priority, then the earlier nominal release, then the lower task index.
//             Deadlines: the earlier absolute deadline, then the same. The less urgent job is preempted.
//   Cores     A job goes to an idle core of its cluster: the one where it ran last, otherwise the one with the lowest
//             number. If no core is idle, it takes the core with the least urgent job.
//   Tasks     The jobs of a task run one after the other, in the order of their releases. No job is aborted.
//
// Overheads. A release stops one core for the time of the interrupt. That is the core where the task's latest job ran.
// Before the first job it is core (task index) modulo (size of the cluster) of the task's cluster. All other overheads
// lengthen the job that is dispatched. If it is preempted before it has used them up, the rest follows when it
// continues. The jobs of a load have no overheads of their own. The job that a load has preempted has them as after any
// other preemption.
//
// Cost: O(log n) for each event, with n the tasks and cores. Nothing is allocated while it runs, except to let more
// jobs wait than ever before. Jobs are not recorded; a JobObserver sees each one.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sim/job_source.h"
#include "orb/sim/order.h"
#include "orb/sim/overheads.h"

namespace corelane::sim {

namespace multicore {
class Engine;
}

// A part of a split task. It runs on one core, in a cluster of one.
struct TaskPart {
  CoreId core{0};
  Duration budget{};  // > 0: when the job has executed so long here, its next part follows; ignored for the last part
  Duration offset{};  // the part starts no earlier than so long after the nominal release; 0: when the one before ends
  Duration deadline{};  // > 0, counts from nominal release + offset: the urgency of the part if the order is `deadline`
  Priority priority{};  // the urgency of the part if the order is `priority`
};

// How a task is scheduled. When its jobs come and how long they execute is up to the JobSource.
struct MulticoreTask {
  Duration deadline{};            // D > 0, counts from the nominal release; may exceed the period
  Priority priority{};            // higher runs first; matters if the order is `priority`
  CoreId core{0};                 // the task belongs to the cluster of this core
  std::vector<TaskPart> parts{};  // none: the task is not split. Otherwise `core` and `priority` do not matter
  bool is_load = false;           // a load of the platform, whose execution contains all that it costs
};

struct MulticoreOptions {
  std::int32_t cores = 1;    // 1 to 32,767; they are numbered from 0
  std::int32_t cluster = 1;  // cores of a cluster, a divisor of `cores`. 1: partitioned. `cores`: global
  Order order = Order::priority;
  Overheads overheads{};
  std::uint64_t seed = 1;  // of the random overheads
};

// A job that ended.
struct FinishedJob {
  std::size_t task = 0;      // index
  std::uint64_t number = 0;  // within its task, from 0
  Time release{};            // nominal
  Time arrival{};            // release and jitter
  Time start{};              // when a core first began to run it
  Time finish{};
  Time deadline{};    // absolute
  CoreId core{0};     // where it ended
  Duration demand{};  // without overheads
  std::uint32_t preemptions = 0;
  std::uint32_t migrations = 0;  // how often it continued on another core
};

// A time in which a core ran a job without a pause, overheads and interrupts included.
struct ExecutedSlice {
  std::size_t task = 0;
  std::uint64_t number = 0;
  CoreId core{0};
  Time begin{};
  Time end{};
};

class JobObserver {
 public:
  virtual ~JobObserver() = default;
  virtual void finished(const FinishedJob& job) = 0;
  // Is called for each slice when it ends, before finished() of its job. Slices of length 0 are left out.
  virtual void executed(const ExecutedSlice&) {}
};

// The results of a task's jobs until now.
struct TaskResponses {
  std::uint64_t jobs = 0;        // that ended
  std::uint64_t misses = 0;      // jobs that ended after their deadlines, and unfinished ones whose deadlines are over
  std::uint64_t unfinished = 0;  // jobs that arrived and did not end
  Duration worst{};              // the longest response of a job that ended, from the nominal release
  Duration sum{};                // of the responses of the jobs that ended
  std::uint64_t preemptions = 0;
  std::uint64_t migrations = 0;
};

// Returns what is wrong with the platform or a task, and how to mend it, in one sentence. Nothing if all is valid.
std::optional<std::string> fault_of(const MulticoreOptions& options, std::span<const MulticoreTask> tasks);

class MulticoreSimulator {
 public:
  // fault_of() finds no fault; at most 4,294,967,294 tasks. The source and the observer live at least as long as the
  // simulator. The source is asked for one job of each task at once.
  MulticoreSimulator(const MulticoreOptions& options, std::span<const MulticoreTask> tasks, JobSource& source,
                     JobObserver* observer = nullptr);
  ~MulticoreSimulator();
  MulticoreSimulator(MulticoreSimulator&&) noexcept;
  MulticoreSimulator& operator=(MulticoreSimulator&&) noexcept;

  // As those of Simulator (orb/sim/simulator.h).
  void stop_when(std::function<bool()> asked);
  // Processes all events up to and including `until`. May be called again with a later time.
  void run(Time until);
  bool stopped() const;

  Time now() const;
  std::size_t size() const;  // number of tasks
  // Looks at each unfinished job of the task.
  TaskResponses responses(std::size_t task) const;
  std::uint64_t finished_jobs() const;  // of all tasks
  OverheadUse overhead(OverheadKind kind) const;
  // Returns for how long the core has run jobs, with their overheads and the interrupts during them. The time since the
  // latest dispatch of a job that still runs does not count.
  Duration busy(CoreId core) const;
  // Returns an FNV-1a hash over all releases, dispatches and completions. Equal inputs give equal hashes, on every
  // machine.
  std::uint64_t trace_hash() const;

 private:
  std::unique_ptr<multicore::Engine> engine_;
};

}  // namespace corelane::sim
