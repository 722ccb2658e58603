// Cluster decides which jobs run on the cores that share a queue of ready jobs: the most urgent ones. The engine tells
// it which jobs are ready and which cores become idle. It knows neither time nor overheads.
//
// Threads: one. Allocates only if more jobs are ready than ever before. Each function is O(log n).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/sim/multicore/core_set.h"
#include "orb/sim/multicore/indexed_heap.h"
#include "orb/sim/multicore/job_pool.h"

namespace corelane::sim::multicore {

inline constexpr std::uint32_t nowhere = UINT32_MAX;  // the job has not run yet

class Cluster {
 public:
  // Owns the cores [first_core, first_core + cores), all idle.
  Cluster(std::uint32_t first_core, std::uint32_t cores);

  // A job is ready. `core` is where it ran last, in this cluster or in another one; or `nowhere`.
  void add(JobIndex job, const Urgency& urgency, std::uint32_t core);

  // The job on the core has ended or left, so the core is idle.
  void free(std::uint32_t core);

  struct Decision {
    JobIndex job;        // starts or continues ...
    std::uint32_t core;  // ... here
    bool preempts;       // the job that runs there stops, and becomes ready again by add()
  };
  // Returns the next change that is due, and regards it as done; nothing if the most urgent jobs run.
  std::optional<Decision> decide();

 private:
  struct Ready {
    Urgency urgency;
    JobIndex job;
    std::uint32_t core;
  };
  struct LessUrgentFirst {
    Urgency urgency;
    friend bool operator<(const LessUrgentFirst& a, const LessUrgentFirst& b) { return b.urgency < a.urgency; }
  };

  std::uint32_t idle_core_for(const Ready& job);
  Decision run_first(std::uint32_t local_core, bool preempts);

  std::uint32_t first_core_;
  std::uint32_t cores_;
  std::vector<Ready> ready_;  // a heap, the most urgent job first
  // Of cores by their numbers within the cluster.
  IndexedHeap<LessUrgentFirst> running_;
  CoreSet idle_;
};

}  // namespace corelane::sim::multicore
