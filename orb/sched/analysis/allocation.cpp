#include "orb/sched/analysis/allocation.h"

#include <algorithm>
#include <numeric>

namespace corelane::sched {

bool pack(Fit fit, std::span<const std::int64_t> items, std::int64_t capacity, std::span<std::int64_t> loads,
          std::span<int> bin_of) noexcept {
  std::size_t cursor = 0;
  bool all = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto bin = choose_bin(fit, loads, cursor, [&](std::size_t b) { return items[i] <= capacity - loads[b]; });
    bin_of[i] = bin ? static_cast<int>(*bin) : -1;
    all &= bin.has_value();
    if (bin) loads[*bin] += items[i];
  }
  return all;
}

void sort_decreasing(std::span<const std::int64_t> keys, std::span<std::size_t> order) noexcept {
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Breaks ties by index, which makes the sort stable. std::stable_sort would allocate.
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; });
}

}  // namespace corelane::sched
