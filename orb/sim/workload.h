// Synthetic task sets. Every generator is a function of its random source alone, so a seed names a set for good.
//
// Threads: pure functions of a generator that one thread owns. Not for real-time threads (allocate).
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "orb/base/contract.h"

namespace corelane::sim {

using Random = std::mt19937_64;  // its sequence is fixed by the standard

// Uniform in [0, 1), the same on every platform (the standard's distributions are not).
double uniform(Random& random);

// Bini & Buttazzo 2005, UUniFast-discard: n utilizations that sum to `total`, uniform among those sets with each <= 1.
// n >= 1, 0 < total < n.
std::vector<double> uunifast(Random& random, int n, double total);

// Generator A of the admission tables: n weights beta^(i/(n-1)), shuffled and scaled to `total`; beta = least / largest
// utilization, 0 < beta <= 1. Empty when one would exceed 1.
std::vector<double> balanced(Random& random, int n, double total, double beta);

// Log-uniform in [low, high], in whole microseconds.
Duration log_uniform_period(Random& random, Duration low, Duration high);

// A contract of utilization about u (its budget rounded down, at least 1 ns) with D = T and no jitter.
Contract contract_of(double u, Duration period);

}  // namespace corelane::sim
