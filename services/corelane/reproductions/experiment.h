// Experiment is a published experiment that this program can repeat. Some run in virtual time and give the same values
// on every machine. Others run on this host and need SCHED_FIFO.
//
// The folder services/corelane/reproductions repeats published experiments and prints ours beside the published values.
//
// Threads: constants. Call run() on a thread that is not a real-time one; it allocates and may take seconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::tool::reproductions {

enum class ExperimentTime : std::uint8_t { virtually, really };

struct ExperimentRun {
  Duration length{};                   // of each run of the experiment
  CoreId core{};                       // of this host, for experiments that run on it
  std::function<bool()> is_to_stop{};  // is asked between runs; empty: never
};

// One row of values for each of Experiment::rows, and one value for each of Experiment::columns.
using ExperimentValues = std::vector<std::vector<std::string>>;

struct Experiment {
  std::string_view name;   // as in a file: lower case, with dashes
  std::string_view title;  // for tables
  ExperimentTime time;
  Duration length;  // the default of ExperimentRun::length; zero: the experiment has a fixed length
  std::span<const std::string_view> columns;
  std::span<const std::string_view> rows;
  std::string_view claim;                         // what was published, as a clause
  bool (*holds)(const ExperimentValues& values);  // whether values for all rows confirm the claim
  // Fails with a sentence. Returns fewer rows if it was stopped.
  Expected<ExperimentValues, std::string> (*run)(const ExperimentRun& run);
};

// Returns a value as a number. Not a number (NaN), for which no comparison holds: the value is none, as "-".
double number_at(const ExperimentValues& values, std::size_t row, std::size_t column) noexcept;

inline bool stops(const ExperimentRun& run) { return run.is_to_stop && run.is_to_stop(); }

// Returns all experiments, in the order of the documentation.
std::span<const Experiment* const> experiments() noexcept;

}  // namespace corelane::tool::reproductions
