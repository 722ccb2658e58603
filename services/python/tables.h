// Tables for Python: dictionaries from names of columns to lists, of which pandas makes data frames. Times are whole
// numbers of nanoseconds, and the names of their columns end in _ns. None: there is no such value.
// Threads: the caller holds Python's lock (GIL).
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orb/eval/plan.h"
#include "orb/eval/run.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::python {

// A plan of one set of tasks.
struct PlannedTasks {
  std::vector<std::pair<std::string, std::string>> swept{};  // fields with their values
  std::int64_t set = 0;                                      // from 0
  eval::Plan plan{};
};

// Returns the tables tasks, cores, chains and sets, and the notes.
pybind11::dict tables_of(const std::vector<PlannedTasks>& planned);

// Notes each job of a run that ends.
class JobList final : public sim::JobObserver {
 public:
  void finished(const sim::FinishedJob& job) override { jobs_.push_back(job); }
  const std::vector<sim::FinishedJob>& jobs() const { return jobs_; }

 private:
  std::vector<sim::FinishedJob> jobs_{};
};

// Returns the tables tasks and jobs, the notes and the hash of the trace. In the table of jobs, tasks are indices of
// the table of tasks, and each column is the bytes of an array of std::int64_t.
pybind11::dict tables_of(const eval::RunRequest& request, const eval::RunOutcome& outcome, const JobList& jobs);

}  // namespace corelane::python
