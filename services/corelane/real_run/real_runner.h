// RealRunner runs requests one after the other with run_real(), and reports what belongs beside the figures: each
// sentence once, and for each run with misses their causes. Before the first run it watches the cores for a few seconds,
// for comparison; see gap_count.h.
// Threads: one; see run_real().
#pragma once

#include <iosfwd>
#include <optional>
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

  // Returns a sentence that compares the machine's gaps in the runs with those before; "" if nothing ran.
  std::string gaps_text() const;

 private:
  void say(const std::string& text) const;

  const RealRunOptions options_;
  std::ostream& err_;
  std::set<std::string> said_{};
  std::optional<GapCount> control_{};
  GapCount gaps_{};  // of all runs
};

}  // namespace corelane::tool
