// Generators of synthetic task sets. Every result depends only on the random source, so a seed always gives the same
// set.
//
// Threads: pure functions of a generator that one thread owns. Not for real-time threads (they allocate).
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "orb/base/contract.h"

namespace corelane::sim {

using Random = std::mt19937_64;  // its sequence is fixed by the standard

// Returns a uniform value in [0, 1). It is the same on every platform, unlike that of the standard's distributions.
double uniform(Random& random);

// Returns n utilizations that sum to `total`, uniform among the sets with each value <= 1. This is UUniFast-discard
// after Bini & Buttazzo 2005. n >= 1, 0 < total < n.
std::vector<double> uunifast(Random& random, int n, double total);

// Returns the utilizations of generator A of the admission tables: n weights beta^(i/(n-1)), shuffled and scaled to
// `total`. beta = least / largest utilization, 0 < beta <= 1. The result is empty if a utilization would exceed 1.
std::vector<double> balanced(Random& random, int n, double total, double beta);

// Returns a log-uniform period in [low, high], in whole microseconds.
Duration log_uniform_period(Random& random, Duration low, Duration high);

// Returns a contract of utilization about u with D = T and no jitter. Its budget is rounded down, but is at least 1 ns.
Contract contract_of(double u, Duration period);

}  // namespace corelane::sim
