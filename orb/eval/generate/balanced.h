// The two generators of utilizations with a balance factor: the least utilization of a set divided by the greatest one.
// They are those of the admission experiments with MC-ORB (Zhang, Gill & Lu 2009). That paper does not say how the
// utilizations between these two are distributed.
//
// Threads: pure functions of a generator that one thread owns. Allocate.
#pragma once

#include <cstddef>
#include <vector>

#include "orb/eval/generate/random_source.h"
#include "orb/sched/share.h"

namespace corelane::eval {

// Return `count` utilizations whose sum is exactly `total`. `balance`: 0 < balance <= whole_share, a part of
// whole_share. count > 0.

// Generator A: a geometric sequence from the greatest to the least one. Nothing is random but the order, see shuffle().
std::vector<sched::Share> geometric_utilizations(std::size_t count, sched::Share total, sched::Share balance);

// Generator B: uniform between the least and the greatest one, which are both present.
std::vector<sched::Share> uniform_utilizations(Random& random, std::size_t count, sched::Share total,
                                               sched::Share balance);

}  // namespace corelane::eval
