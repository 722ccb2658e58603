// Simulates the network of lock_model.h event by event. With exponential times the simulation checks the exact
// solution. With constant times it answers what the solution cannot.
//
// A critical section is an amount of work: 1 on average. The lock works it off at the rate 1 / (T_cs + c k / 2), which
// changes whenever a core begins to wait. With exponential amounts this is the birth-death process of the model.
//
// Threads: pure functions. The result depends only on the arguments, the seed included.
#pragma once

#include <cstdint>

#include "orb/scale/lock_model.h"

namespace corelane::scale {

enum class SectionTimes : std::uint8_t { exponential, constant };

struct LockSimulation {
  SectionTimes times = SectionTimes::exponential;
  std::uint64_t seed = 1;
  std::int64_t sections = 600'000;  // critical sections that are counted, 30 or more; a tenth more run before them
};

struct SimulatedLockPoint {
  LockPoint point{};
  // The mean throughput lies within point.throughput +- half_width with 95 % probability: batch means of 30 batches,
  // Student's t with 29 degrees of freedom.
  double half_width = 0;
};

// Simulates `cores` >= 1 cores. The model has no fault. Takes about 0.1 us for each section.
SimulatedLockPoint simulate(const LockModel& model, int cores, const LockSimulation& simulation);

}  // namespace corelane::scale
