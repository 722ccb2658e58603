// SetRunner runs sets of tasks under several dispatchers, in virtual time on several threads, or in real time one after
// the other.
// Threads: owned by one thread; it starts threads of its own and waits for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/results.h"
#include "orb/eval/run.h"
#include "orb/eval/run_requests.h"
#include "orb/eval/scenario.h"

namespace corelane::tool {

// A set, and the dispatchers under which it has not run yet.
struct OpenRun {
  std::int64_t set = 0;
  std::vector<const eval::Dispatcher*> dispatchers{};
};

// Runs a request. The fault is a sentence; empty: the run was stopped.
using RunFunction = std::function<Expected<eval::RunOutcome, std::string>(const eval::RunRequest& request)>;

class SetRunner {
 public:
  // `run` is called on `threads` threads at once. After `longest`, run() begins no more sets.
  SetRunner(RunFunction run, eval::RunDefaults defaults, std::size_t threads, Duration longest);

  // Runs the sets of one cell, or the first of them: each thread runs at least one set, and takes another until
  // `longest` has passed. Returns what is done, in the order of the sets. `is_to_stop` ends it earlier; the
  // caller's thread asks it until all threads have ended. The fault is that of a set.
  Expected<std::vector<eval::SetResult>, std::string> run(const eval::Scenario& scenario, std::size_t cell,
                                                          const std::vector<OpenRun>& sets,
                                                          const std::function<bool()>& is_to_stop) const;

 private:
  struct Part {
    std::vector<eval::SetResult> results{};
    std::string fault{};
  };

  void run_one(const eval::Scenario& scenario, std::size_t cell, const OpenRun& set,
               const std::function<bool()>& is_to_stop, Part& part) const;

  RunFunction run_;
  eval::RunDefaults defaults_;
  std::size_t threads_;
  Duration longest_;
};

}  // namespace corelane::tool
