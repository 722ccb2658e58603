// The results of an experiment as a table in CSV (RFC 4180): one line for each set of tasks under each dispatcher. So
// results of several files, machines and modes can be joined, and no set is lost when a run is stopped.
//
// Utilizations and quotients are decimal numbers; 1 is a whole core.
//
// Threads: pure functions. They allocate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/eval/policy_names.h"
#include "orb/eval/run.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

// The results of one set under one dispatcher.
struct SetResult {
  std::size_t cell = 0;  // index among the combinations of the sweeps
  std::int64_t set = 0;  // from 0
  std::string dispatcher{};
  PolicyNames policies{};
  std::uint64_t tasks = 0;
  std::uint64_t admitted = 0;
  Fraction utilization{};  // of all tasks
  Fraction admitted_utilization{};
  std::uint64_t jobs = 0;  // of admitted tasks, with deadlines within the run
  std::uint64_t misses = 0;
  std::uint64_t host_misses = 0;  // of these: what the machine caused; only in real runs
  std::uint64_t late_tasks = 0;   // tasks with at least one miss
  std::uint64_t overruns = 0;
  Fraction worst_of_deadline{};  // the largest quotient of worst response and deadline
  // The largest quotient of worst response and bound; nothing if no admitted task has a bound.
  std::optional<Fraction> worst_of_bound{};
  std::uint64_t trace_hash = 0;

  bool missed() const { return misses > 0; }
  friend bool operator==(const SetResult&, const SetResult&) = default;
};

// Sums up a run. Leaves out cell, set and policies.
SetResult summed_up(const RunRequest& request, const RunOutcome& outcome);

// What all lines of a table have in common.
struct ResultsOrigin {
  std::string experiment{};  // its name
  std::string scenario{};    // a number that changes with the file, see fingerprint()
  std::string mode{};        // "virtual" or "real"
  std::string machine{};     // such as "4 cores, Intel Xeon"
  std::string kernel{};
  std::string version{};  // of Corelane
  std::int64_t seed = 1;
};

// Returns an FNV-1a hash of the text, with 16 hexadecimal digits.
std::string fingerprint(std::string_view text);

using SweptValues = std::vector<std::pair<std::string, std::string>>;

// Return lines with their ends. `swept` has the fields of the sweeps with the values in this cell.
std::string results_header(const SweptValues& swept);
std::string results_line(const ResultsOrigin& origin, const SweptValues& swept, const SetResult& result);

struct ParsedResults {
  std::vector<SetResult> results{};  // those of the same mode
  std::size_t whole_lines = 0;       // the size in bytes; what follows is a line that was cut when a run was killed
};

// Reads a table of an experiment with so many combinations. The fault: the text is no such table, it belongs to another
// scenario than `origin`, or a line has values that no run gives.
Expected<ParsedResults, ScenarioFault> parse_results(std::string_view text, const ResultsOrigin& origin,
                                                     std::size_t cells);

}  // namespace corelane::eval
