// What the jobs of a task do in an experiment: when they come, and how long they execute. Admission knows the contract
// only. An arrival keeps to it, because two jobs are never closer than the period.
//
// Threads: values.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "orb/base/time.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

enum class ArrivalKind : std::uint8_t {
  periodic,  // exactly T apart
  sporadic,  // T and a random gap apart
  bursty,    // several jobs T apart, then a random gap, and so on
};
inline constexpr std::array<std::string_view, 3> arrival_names{"periodic", "sporadic", "bursty"};

struct Arrival {
  ArrivalKind kind = ArrivalKind::periodic;
  Duration gap{};          // a gap is uniform from 0 to this; not for periodic
  std::int64_t burst = 1;  // so many jobs before each gap, for bursty; at least 1
};

// How long the jobs execute: uniform between two parts of the budget, both included.
struct Execution {
  Fraction least = unity, most = unity;  // 0 < least <= most; above 1, jobs exceed their budget
  std::vector<Duration> trace{};         // instead, if not empty: the jobs in turn, and then from the beginning again
};

}  // namespace corelane::eval
