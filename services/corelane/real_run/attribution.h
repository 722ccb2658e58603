// causes_of() says why jobs of a real run were late. It asks two questions (counterfactual.h). When would the job have
// ended without the machine's gaps? When would it have ended if, in addition, no job had exceeded its budget?
//
//   meets its deadline without the gaps, and a gap inside the job was at least as long as the lateness    host
//   meets its deadline without the gaps, but the job has no such gap                                      unknown
//   misses it without the gaps, and meets it if no job exceeds its budget                                 overrun
//   misses it in both                                                                                     scheduling
//
// Only `host` excuses the program. A gap inside the job is one that rt::work() has seen and that no context switch
// explains; see rt/gap_log.h. So a gap that delayed the job before it began excuses nothing.
//
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/run.h"
#include "services/corelane/real_run/counterfactual.h"

namespace corelane::tool {

// A job that ended. Times count from the start of the run.
struct ObservedJob {
  std::size_t task = 0;
  std::uint64_t number = 0;  // of the task's jobs, from 0
  Duration release{};        // the deadline counts from here
  Duration begin{}, end{};
  Duration deadline{};
  Duration execution{};    // by calibrated iterations
  Duration budget{};       // of its contract
  Duration longest_gap{};  // inside the job, taken by the machine in one piece
  Priority priority{};
  CoreId core = no_core;

  bool is_late() const noexcept { return end > deadline; }
};

// Returns the cause for each job, in the order of `jobs`; `unknown` for a job that was not late. `jobs` are in the
// order of their releases.
std::vector<eval::MissCause> causes_of(std::span<const ObservedJob> jobs, ReplayCores cores);

}  // namespace corelane::tool
