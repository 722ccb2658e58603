// ResultsFile is the table of results on disk. It is appended to, so that a run that was stopped can go on.
// Threads: one. Reads and writes a file.
#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/results.h"

namespace corelane::tool {

class ResultsFile {
 public:
  // Opens the file, or makes it. A line that was cut when a run was killed is removed. `swept`: the fields of the
  // sweeps, with any values. The fault is a sentence that begins with the path.
  static Expected<ResultsFile, std::string> open(const std::string& path, const eval::ResultsOrigin& origin,
                                                 const eval::SweptValues& swept);

  // Returns the results that the file had.
  const std::vector<eval::SetResult>& earlier() const { return earlier_; }

  // Appends lines. Returns whether all was written.
  bool append(const std::string& lines);

 private:
  std::ofstream file_{};
  std::vector<eval::SetResult> earlier_{};
};

}  // namespace corelane::tool
