// Overheads says what the platform costs beside the execution of jobs: interrupts, context switches, hand-offs, and
// caches that have to be filled again. The MulticoreSimulator charges them, and counts how often each occurred.
//
// The kinds are those of Brandenburg, "Scheduling and Locking in Multiprocessor Real-Time Operating Systems", 2011,
// chapter 3, with the hand-off to a thread of the task in addition. overhead_table.h reads measured values.
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
inline constexpr std::array overhead_kinds{OverheadKind::release, OverheadKind::dispatch, OverheadKind::hop,
                                           OverheadKind::preemption, OverheadKind::migration};

// Returns the name of the enumerator: "release". Static storage.
std::string_view name_of(OverheadKind kind);

// The cost of one occurrence of each kind: a worst case or a distribution. Zero: the platform is ideal.
struct Overheads {
  DurationDistribution release{};
  DurationDistribution dispatch{};
  DurationDistribution hop{};
  DurationDistribution preemption{};
  DurationDistribution migration{};
};

const DurationDistribution& cost_of(const Overheads& overheads, OverheadKind kind);
DurationDistribution& cost_of(Overheads& overheads, OverheadKind kind);

// How often a kind occurred, and the time that it took. Occurrences count even if they cost nothing.
struct OverheadUse {
  std::uint64_t count = 0;
  Duration total{};

  friend bool operator==(const OverheadUse&, const OverheadUse&) = default;
};

}  // namespace corelane::sim
