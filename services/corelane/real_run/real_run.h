// run_real() runs a set of tasks on this host: a server process under the dispatcher of the request, and client
// processes that send the jobs at their times. run_virtually() (orb/eval/virtual_run.h) takes the same request.
//
// The jobs compute for a number of calibrated iterations, and watch the clock for gaps (orb/rt/work.h). attribution.h
// says how a missed deadline is explained, and run_records.h when one is missed.
//
// Threads: one at a time. It must not end before the run, because the processes end with it. Not in a process with
// real-time threads; see os::ChildProcess.
//
// The folder services/corelane/real_run runs experiments in real time. Its folder node has the program that the
// processes run, and its folder overheads times the manager's decisions.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/run.h"
#include "services/corelane/real_run/gap_count.h"

namespace corelane::tool {

struct RealRunOptions {
  std::string node;  // path of corelane-eval-node
  // How many client processes share the tasks. 0: one for each task, 16 at most.
  std::size_t clients = 0;
  // The most that a call costs its job in addition to the servant's work. The work of each job is shorter by this time,
  // so that the job keeps its budget.
  Duration call_cost = std::chrono::microseconds{50};
  // How long before the start of the run the clients get their orders. On a busy host they need some of it.
  Duration head_start = std::chrono::seconds{1};
  // Is asked several times a second whether the run is to end. Empty: it is not.
  std::function<bool()> is_to_stop{};
};

struct RealOutcome {
  eval::RunOutcome run{};
  GapCount gaps{};  // while jobs ran
};

// Why there is no outcome, and what to do, in a sentence.
struct RunFault {
  std::string text;
  bool stopped = false;  // is_to_stop() asked for it
};

// Returns why this host, or a server, cannot run the request, and what to change; "" if they can.
std::string fault_of_real_run(const eval::RunRequest& request);

// Runs the request and returns what came of it. No process is left behind, and no file, whatever the outcome. Takes the
// length of the run, the time until late jobs have ended, and about a second.
Expected<RealOutcome, RunFault> run_real(const eval::RunRequest& request, const RealRunOptions& options);

// Counts the gaps of the machine on cores that do nothing else, for `length`: the control for the gaps of runs. Threads
// and processes: as run_real().
Expected<GapCount, RunFault> watch_gaps(const std::vector<CoreId>& cores, Duration length,
                                        const RealRunOptions& options);

}  // namespace corelane::tool
