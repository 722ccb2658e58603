// convolutional_fixed_sum() draws numbers with a fixed sum, each with limits of its own. All such lists are equally
// likely. The idea is that of ConvolutionalFixedSum (Griffin & Davis 2025): the density of a sum of uniform numbers is
// the convolution of their densities. So the last number is drawn by how many lists the others then have, and so on.
//
// Here the convolution counts the points of a grid, with integers in place of floating point. Then pairs of numbers are
// drawn again with the sum that they have. This keeps the distribution, and moves the numbers off the grid.
//
// Threads: pure function of a generator that one thread owns. Allocates.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "orb/eval/generate/random_source.h"
#include "orb/sched/share.h"

namespace corelane::eval {

inline constexpr std::size_t most_convolved = 256;  // with more numbers the grid would be too coarse

// Returns numbers whose sum is exactly `total`; number i is from least[i] to most[i]. Both spans have the same length,
// from 1 to most_convolved. 0 <= least[i] <= most[i] <= whole_share, and the total is from the sum of `least` to that
// of `most`. Cost: about 260,000 additions, and a table of 2 MiB.
std::vector<sched::Share> convolutional_fixed_sum(Random& random, sched::Share total,
                                                  std::span<const sched::Share> least,
                                                  std::span<const sched::Share> most);

}  // namespace corelane::eval
