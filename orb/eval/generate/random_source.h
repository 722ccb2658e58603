// Random numbers for the generators of task sets. They are the same on every machine. The C++ standard defines the
// sequence of sim::Random, and this class uses no distribution of the standard library.
//
// Threads: pure functions of a generator that one thread owns.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "orb/sim/workload.h"

namespace corelane::eval {

using sim::Random;

// What random numbers are for. Each purpose has a sequence of its own. So a change of one field of a scenario does not
// change the numbers that are drawn for others.
enum class Purpose : std::uint8_t { tasks, order, offsets, jobs, criticality };

// Returns the generator for set number `set` of an experiment with this seed. The sets of an experiment, and those of
// neighboring seeds, are independent of each other.
Random random_of(std::uint64_t seed, std::uint64_t set, Purpose purpose = Purpose::tasks);

// Returns the next number of a sequence with eight bytes of state (SplitMix64; Steele, Lea & Flood 2014). It is for the
// jobs of many tasks, for which the state of Random would be too large.
std::uint64_t next_small(std::uint64_t& state) noexcept;

// Returns a uniform number from 0 to bound - 1. bound > 0.
std::uint64_t below(Random& random, std::uint64_t bound);

// Returns a uniform number r with 0 < r / 2^64 < 1.
std::uint64_t fraction(Random& random);

template <typename T>
void shuffle(Random& random, std::span<T> items) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(random, i)]);
}

}  // namespace corelane::eval
