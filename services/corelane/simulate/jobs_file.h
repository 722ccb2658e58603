// JobsFile writes a line of CSV for each job that ends. The line has the job's release, start, finish and deadline in
// nanoseconds from the start of the run, and its core. Jobs that were refused, or never ended, are not in it. It writes
// to a temporary file beside the named one and renames it at the end, so there is never half a file. A device or a pipe
// is written directly.
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
  ~JobsFile() override;  // removes the temporary file, unless close() has renamed it
  JobsFile(const JobsFile&) = delete;
  JobsFile& operator=(const JobsFile&) = delete;

  // Returns whether writing to `path` would overwrite `other`.
  static bool overwrites(const std::string& path, const std::string& other);

  bool is_open() const { return file_.is_open(); }

  void finished(const sim::FinishedJob& job) override;

  // Closes the file and gives it its name. Returns whether all was written.
  bool close();

 private:
  const std::string path_;     // the file itself, not a symbolic link to it
  const std::string written_;  // the temporary file; path_ if it is written directly
  std::ofstream file_;
  const std::vector<eval::Task>& tasks_;
};

}  // namespace corelane::tool
