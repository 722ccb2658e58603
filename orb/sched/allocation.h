// Allocation of tasks to cores: first, best, worst and next fit as one choice among bins, for whatever "fits" means.
// The least-loaded core that passes admission is worst fit.
//
// (A trap for whoever compares: one widely used simulator calls next fit for its "decreasing best/worst fit".)
// Threads: pure functions; nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace corelane::sched {

enum class Fit : std::uint8_t {
  first,  // the first bin that takes the item
  best,   // the fullest that takes it
  worst,  // the emptiest that takes it
  next,   // the last one used, or any after it
};

// The bin for one item. loads: what each bin holds already. accepts(bin): whether it takes the item; asked at most once
// per bin, and only for bins that are still in question. cursor: state of next fit, 0 at the start. Ties go to the
// lower index. Nothing when no bin takes the item.
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

// Packs items in the order given into bins of one capacity. loads: one per bin, added to. bin_of: the chosen bin per
// item, -1 where none had room. Whether all found one. items and bin_of have one length.
bool pack(Fit fit, std::span<const std::int64_t> items, std::int64_t capacity, std::span<std::int64_t> loads,
          std::span<int> bin_of) noexcept;

// Sorts indices of items by descending key, stable: "decreasing" for pack().
void sort_decreasing(std::span<const std::int64_t> keys, std::span<std::size_t> order) noexcept;

}  // namespace corelane::sched
