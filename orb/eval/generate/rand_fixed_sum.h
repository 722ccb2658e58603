// rand_fixed_sum() draws numbers with a fixed sum and with a lower and an upper limit. All such lists are equally
// likely. The algorithm is RandFixedSum (Stafford 2006; Emberson, Stafford & Davis 2010), with integers in place of
// floating point.
//
// Threads: pure function of a generator that one thread owns. Allocates.
#pragma once

#include <cstddef>
#include <vector>

#include "orb/eval/generate/random_source.h"
#include "orb/sched/share.h"

namespace corelane::eval {

inline constexpr std::size_t most_fixed_sum = 1000;  // more numbers would need too large a table

// Returns `count` numbers from `least` to `most` whose sum is exactly `total`. 0 < count <= most_fixed_sum, 0 <= least
// <= most <= whole_share, count * least <= total <= count * most. Cost: count^2 steps, and a table of count^2 numbers.
std::vector<sched::Share> rand_fixed_sum(Random& random, std::size_t count, sched::Share total, sched::Share least,
                                         sched::Share most);

}  // namespace corelane::eval
