// Overheads says what the platform costs beside the execution of jobs: interrupts, context switches, hand-offs, and
// caches that have to be filled again. The MulticoreSimulator charges them, and counts how often each occurred.
//
// The kinds are those of Brandenburg, "Scheduling and Locking in Multiprocessor Real-Time Operating Systems", 2011,
// chapter 3. One kind is added: the hand-off to the thread of the task. overhead_table.h reads measured values.
//
// Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orb/base/time.h"
#include "orb/sim/duration_distribution.h"

namespace corelane::sim {

enum class OverheadKind : std::uint8_t {
  release,     // the interrupt of a release; it stops what its core runs
  dispatch,    // the decision and the context switch, each time that a core begins to run a job
  hop,         // the hand-off to the thread of the task: once per job, when the job begins
  preemption,  // filling caches again, when a preempted job continues on its core
  migration,   // moving the thread and filling caches, when a job continues on another core
};

// What else is known of a kind. Scenario files, the analysis, reports and documents use this one table.
struct OverheadInfo {
  OverheadKind kind;
  std::string_view name;     // of the field in files, and in texts; JSON has it with the unit: "release_ns"
  std::string_view help;     // what has the cost
  std::string_view example;  // a value as in a file: a duration
  int per_job;               // how often the analysis charges it for each job; 0: never
};
inline constexpr std::array overhead_infos{
    OverheadInfo{OverheadKind::release, "release", "The interrupt of a release", "\"2us\"", 1},
    OverheadInfo{OverheadKind::dispatch, "dispatch",
                 "The decision and the context switch, each time that a core begins to run a job", "\"3us\"",
                 2},  // the preempted job is dispatched again
    OverheadInfo{OverheadKind::hop, "hop",
                 "The hand-off to the thread of the task, once for each job. Only mc-orb and mc-orb* have it",
                 "\"20us\"", 1},
    OverheadInfo{OverheadKind::preemption, "preemption",
                 "Filling caches again, when a preempted job continues on its core", "\"5us\"", 1},
    OverheadInfo{OverheadKind::migration, "migration",
                 "Moving the thread and filling caches, when a job continues on another core. "
                 "Under leader-followers-allocated also when a job begins",
                 "\"8us\"", 0},
};

static_assert(
    [] {
      for (std::size_t i = 0; i < overhead_infos.size(); ++i)
        if (overhead_infos[i].kind != static_cast<OverheadKind>(i)) return false;
      return true;
    }(),
    "overhead_infos has the kinds in the order of the enumeration");

// The cost of one occurrence of each kind.
template <typename Cost>
struct OverheadCosts {
  Cost release{};
  Cost dispatch{};
  Cost hop{};
  Cost preemption{};
  Cost migration{};

  friend bool operator==(const OverheadCosts&, const OverheadCosts&) = default;
};

// Each cost is a worst case or a distribution. Zero: the platform is ideal.
using Overheads = OverheadCosts<DurationDistribution>;

// Returns the member that has the cost of this kind.
template <typename Cost>
constexpr Cost OverheadCosts<Cost>::*cost_member(OverheadKind kind) {
  using Costs = OverheadCosts<Cost>;
  switch (kind) {
    case OverheadKind::release:
      return &Costs::release;
    case OverheadKind::dispatch:
      return &Costs::dispatch;
    case OverheadKind::hop:
      return &Costs::hop;
    case OverheadKind::preemption:
      return &Costs::preemption;
    case OverheadKind::migration:
      break;
  }
  return &Costs::migration;
}

template <typename Cost>
const Cost& cost_of(const OverheadCosts<Cost>& costs, OverheadKind kind) {
  return costs.*cost_member<Cost>(kind);
}
template <typename Cost>
Cost& cost_of(OverheadCosts<Cost>& costs, OverheadKind kind) {
  return costs.*cost_member<Cost>(kind);
}

// How often a kind occurred, and the time that it took. Occurrences count even if they cost nothing.
struct OverheadUse {
  std::uint64_t count = 0;
  Duration total{};

  friend bool operator==(const OverheadUse&, const OverheadUse&) = default;
};

}  // namespace corelane::sim
