// RealRunner runs requests one after the other with run_real(), and reports what belongs beside the figures. Before the
// first run it watches the cores for a few seconds, for comparison; see gap_count.h.
// Threads: one; see run_real().
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/run.h"
#include "services/corelane/real_run/cause_counts.h"
#include "services/corelane/real_run/real_run.h"

namespace corelane::tool {

class RealRunner {
 public:
  // Writes sentences to `err`, which must outlive the runner.
  RealRunner(RealRunOptions options, std::ostream& err) : options_(std::move(options)), err_(err) {}

  // Returns what came of the run, with all of its misses. The fault is a sentence.
  Expected<eval::RunOutcome, std::string> run(eval::RunRequest request);

  // Returns sentences about all runs: the causes of the misses under each dispatcher, and how the machine's gaps in the
  // runs compare with those before.
  std::vector<std::string> summary() const;

 private:
  std::string gaps_text() const;

  const RealRunOptions options_;
  std::ostream& err_;
  std::set<std::string> said_{};                 // notes that were written, each once
  std::map<std::string, CauseCounts> causes_{};  // by dispatcher
  std::optional<GapCount> control_{};
  GapCount gaps_{};  // of all runs
};

}  // namespace corelane::tool
