// RealRunner runs requests one after the other with run_real(), and reports what belongs beside the figures: each
// sentence once, and for each run with misses their causes.
// Threads: one; see run_real().
#pragma once

#include <iosfwd>
#include <set>
#include <string>
#include <utility>

#include "orb/base/expected.h"
#include "orb/eval/run.h"
#include "services/corelane/real_run/real_run.h"

namespace corelane::tool {

class RealRunner {
 public:
  // Writes sentences to `err`, which must outlive the runner.
  RealRunner(RealRunOptions options, std::ostream& err) : options_(std::move(options)), err_(err) {}

  // Returns what came of the run, with all of its misses. The fault is a sentence.
  Expected<eval::RunOutcome, std::string> run(eval::RunRequest request);

 private:
  const RealRunOptions options_;
  std::ostream& err_;
  std::set<std::string> said_{};
};

}  // namespace corelane::tool
