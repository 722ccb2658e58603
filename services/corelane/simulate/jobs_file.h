// JobsFile writes a line of CSV for each job that ends: its release, start, finish and deadline in nanoseconds from the
// start of the run, and its core. Jobs that were refused, or never ended, are not in it.
// Threads: one. Writes a file.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "orb/eval/task_set.h"
#include "orb/sim/multicore_simulator.h"

namespace corelane::tool {

class JobsFile final : public sim::JobObserver {
 public:
  // `tasks` must outlive it.
  JobsFile(const std::string& path, const std::vector<eval::Task>& tasks);

  void finished(const sim::FinishedJob& job) override;

  // Closes the file. Returns whether all was written.
  bool close();

 private:
  std::ofstream file_;
  const std::vector<eval::Task>& tasks_;
};

}  // namespace corelane::tool
