// ResultsFile is the table of results on disk. It is appended to, so that a run that was stopped can go on. The object
// holds a lock on the file (flock), so that two experiments never write the same file at a time.
// Threads: one. Reads and writes a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/results.h"
#include "orb/os/fd.h"

namespace corelane::tool {

class ResultsFile {
 public:
  // Opens the file, or makes it. A line that was cut when a run was killed is removed. `swept`: the fields of the
  // sweeps, with any values. `cells`: the number of combinations. The fault is a sentence that begins with the path.
  static Expected<ResultsFile, std::string> open(const std::string& path, const eval::ResultsOrigin& origin,
                                                 const eval::SweptValues& swept, std::size_t cells);

  // Returns the results that the file had.
  const std::vector<eval::SetResult>& earlier() const { return earlier_; }

  // Appends lines. Returns whether all was written.
  bool append(const std::string& lines);

 private:
  os::Fd file_{};
  std::vector<eval::SetResult> earlier_{};
};

}  // namespace corelane::tool
