#include "orb/eval/generate/convolutional_fixed_sum.h"

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "orb/eval/generate/volume.h"
#include "orb/sched/ticks.h"

namespace corelane::eval {
namespace {

using sched::Share;

constexpr std::size_t table_size = std::size_t{1} << 17;
constexpr int pair_rounds = 16;  // of pairs that are drawn again

// How many lists of whole numbers have a sum. Number i is from 0 to widths[i], and sums are from 0 to `cells`.
class Counts {
 public:
  Counts(std::span<const std::size_t> widths, std::size_t cells)
      : row_size_(cells + 1), counts_((widths.size() + 1) * row_size_), suffix_(row_size_) {
    row(0)[0] = volume_of(1);
    for (std::size_t i = 0; i < widths.size(); ++i) convolve(row(i), row(i + 1), widths[i]);
  }

  // Returns how many lists of the first `numbers` numbers have this sum.
  const Volume& of(std::size_t numbers, std::size_t sum) const { return counts_[numbers * row_size_ + sum]; }

 private:
  std::span<Volume> row(std::size_t numbers) { return std::span(counts_).subspan(numbers * row_size_, row_size_); }

  // Sets to[m] to the sum from[m - width] + ... + from[m]. Each such window is the end of a block of width + 1 elements
  // and the beginning of the next one. So nothing is subtracted, and small counts stay exact beside large ones.
  void convolve(std::span<const Volume> from, std::span<Volume> to, std::size_t width) {
    const std::size_t length = width + 1;
    for (std::size_t m = from.size(); m-- > 0;) {
      const bool ends_block = (m + 1) % length == 0 || m + 1 == from.size();
      suffix_[m] = ends_block ? from[m] : sum_of(from[m], suffix_[m + 1]);
    }
    Volume prefix;
    for (std::size_t m = 0; m < from.size(); ++m) {
      prefix = m % length == 0 ? from[m] : sum_of(prefix, from[m]);
      const bool is_one_block = m <= width || (m - width) % length == 0;
      to[m] = is_one_block ? prefix : sum_of(suffix_[m - width], prefix);
    }
  }

  std::size_t row_size_;
  std::vector<Volume> counts_;
  std::vector<Volume> suffix_;
};

// Draws a list with this sum from those that `counts` has.
std::vector<std::size_t> list_from(Random& random, const Counts& counts, std::span<const std::size_t> widths,
                                   std::size_t sum) {
  std::vector<std::size_t> list(widths.size());
  for (std::size_t i = widths.size(); i-- > 0;) {
    Volume target = scaled(counts.of(i + 1, sum), fraction(random));
    target.exponent -= 64;
    Volume seen;
    for (std::size_t number = 0; number <= std::min(widths[i], sum) && !is_less(target, seen); ++number) {
      const Volume& others = counts.of(i, sum - number);
      if (others.digits == 0) continue;
      list[i] = number;
      seen = sum_of(seen, others);
    }
    sum -= list[i];
  }
  assert(sum == 0);
  return list;
}

// The numbers above their least values.
struct Excess {
  std::vector<Share> values, widths;

  Share sum() const {
    Share sum = 0;
    for (const Share value : values) sum += value;
    return sum;
  }
};

// Returns a point of the grid that is within the limits. Its sum may be less than `above`, by one cell for each number
// and one more at most.
Excess on_grid(Random& random, Share above, std::vector<Share> widths) {
  const auto most_cells = static_cast<Share>(table_size / (widths.size() + 1)) - 1;
  const Share cell = std::max<Share>(1, sched::ceil_div(above, most_cells));
  std::vector<std::size_t> cells;
  for (const Share width : widths) cells.push_back(static_cast<std::size_t>(sched::ceil_div(width, cell)));
  const auto sum = static_cast<std::size_t>(above / cell);
  Excess excess{.values = {}, .widths = std::move(widths)};
  const std::vector<std::size_t> list = list_from(random, Counts(cells, sum), cells, sum);
  for (std::size_t i = 0; i < list.size(); ++i)
    excess.values.push_back(std::min(static_cast<Share>(list[i]) * cell, excess.widths[i]));
  return excess;
}

// Gives what the grid has left of the sum to numbers with room for it.
void give_rest(const std::vector<std::size_t>& order, Excess& excess, Share missing) {
  for (const std::size_t i : order) {
    const Share more = std::min(missing, excess.widths[i] - excess.values[i]);
    excess.values[i] += more;
    missing -= more;
  }
  assert(missing == 0);
}

// Draws one number of the pair from all that its limits, the sum, and the other's limits allow.
void redraw(Random& random, Excess& excess, std::size_t one, std::size_t other) {
  const Share sum = excess.values[one] + excess.values[other];
  const Share least = std::max<Share>(0, sum - excess.widths[other]);
  const Share most = std::min(sum, excess.widths[one]);
  excess.values[one] = least + static_cast<Share>(below(random, static_cast<std::uint64_t>(most - least) + 1));
  excess.values[other] = sum - excess.values[one];
}

}  // namespace

std::vector<Share> convolutional_fixed_sum(Random& random, Share total, std::span<const Share> least,
                                           std::span<const Share> most) {
  Share above = total;
  std::vector<Share> widths;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < least.size(); ++i) {
    above -= least[i];
    widths.push_back(most[i] - least[i]);
    order.push_back(i);
  }
  Excess excess = on_grid(random, above, std::move(widths));
  shuffle(random, std::span(order));
  give_rest(order, excess, above - excess.sum());
  for (int round = 0; round < pair_rounds; ++round) {
    shuffle(random, std::span(order));
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) redraw(random, excess, order[i], order[i + 1]);
  }
  for (std::size_t i = 0; i < least.size(); ++i) excess.values[i] += least[i];
  return excess.values;
}

}  // namespace corelane::eval
