// Functions that allocate items (tasks) to bins (cores) by first, best, worst or next fit. The caller defines what
// "fits" means. Worst fit chooses the least-loaded core that passes admission.
//
// When you compare results: one widely used simulator calls next fit "decreasing best/worst fit".
//
// Threads: pure functions; nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace corelane::sched {

enum class Fit : std::uint8_t {
  first,  // the first bin that takes the item
  best,   // the fullest bin that takes it
  worst,  // the emptiest bin that takes it
  next,   // the bin used last, or the first one after it that takes the item
};

// Returns the bin for one item, or nothing when no bin takes it. A tie goes to the lower index.
// `loads`: what each bin holds already. `accepts(bin)`: whether the bin takes the item. It is called at most once per
// bin, and only for bins that could still be chosen. `cursor`: the state of next fit, 0 at the start.
template <typename Accepts>
std::optional<std::size_t> choose_bin(Fit fit, std::span<const std::int64_t> loads, std::size_t& cursor,
                                      Accepts&& accepts) {
  if (fit == Fit::next) {
    for (; cursor < loads.size(); ++cursor)
      if (accepts(cursor)) return cursor;
    return std::nullopt;
  }
  std::optional<std::size_t> chosen;
  for (std::size_t bin = 0; bin < loads.size(); ++bin) {
    const bool better = !chosen || (fit == Fit::best && loads[bin] > loads[*chosen]) ||
                        (fit == Fit::worst && loads[bin] < loads[*chosen]);
    if (!better || !accepts(bin)) continue;
    chosen = bin;
    if (fit == Fit::first) break;
  }
  return chosen;
}

// Packs items, in the given order, into bins of one capacity. Returns whether every item found a bin.
// `loads`: one per bin; the sizes of the packed items are added to it. `bin_of`: receives the bin of each item, or -1
// if no bin had room. It has the same length as `items`.
bool pack(Fit fit, std::span<const std::int64_t> items, std::int64_t capacity, std::span<std::int64_t> loads,
          std::span<int> bin_of) noexcept;

// Writes the indices of the items to `order`, sorted by descending key. The sort is stable. This gives the "decreasing"
// order for pack().
void sort_decreasing(std::span<const std::int64_t> keys, std::span<std::size_t> order) noexcept;

}  // namespace corelane::sched
