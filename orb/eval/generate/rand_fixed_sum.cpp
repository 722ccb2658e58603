#include "orb/eval/generate/rand_fixed_sum.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

#include "orb/eval/generate/fixed_log.h"
#include "orb/eval/generate/volume.h"

namespace corelane::eval {
namespace {

// The set of all lists is cut into simplices. From row `count - 1` down, the table says with which probability the next
// step leaves its column. The steps choose the simplex.
//
// The numbers are relative to `least`. `width` is most - least, and the sum is a whole number of widths and `offset`.
class Simplices {
 public:
  Simplices(std::size_t count, std::uint64_t offset, std::uint64_t width) : count_(count), leaves_(count * count) {
    std::vector<Volume> row(count + 1), next(count + 1);
    row[1] = volume_of(1);
    for (std::size_t i = 2; i <= count; ++i) {
      for (std::size_t column = 1; column <= i; ++column) {
        const std::uint64_t to_the_right = offset + (column - 1) * width;
        const std::uint64_t to_the_left = width - offset + (i - column) * width;
        const Volume left = scaled(row[column - 1], to_the_left);
        next[column] = sum_of(scaled(row[column], to_the_right), left);
        leaves(i - 1, column) = next[column].digits != 0     ? ratio_of(left, next[column])
                                : to_the_left > to_the_right ? 0
                                                             : UINT64_MAX;
      }
      std::swap(row, next);
    }
  }

  // 0 < row < count, 0 < column <= row + 1.
  std::uint64_t leaves(std::size_t row, std::size_t column) const { return leaves_[row * count_ + column - 1]; }

 private:
  std::uint64_t& leaves(std::size_t row, std::size_t column) { return leaves_[row * count_ + column - 1]; }

  std::size_t count_;
  std::vector<std::uint64_t> leaves_;
};

constexpr std::uint64_t coordinate_unit = std::uint64_t{1} << 62;  // the unit of coordinates

constexpr std::uint64_t part_of(std::uint64_t whole, std::uint64_t coordinate) noexcept {
  return static_cast<std::uint64_t>(UnsignedWide{whole} * coordinate / coordinate_unit);
}

// Draws coordinates from 0 to coordinate_unit whose sum is rest / width.
std::vector<std::uint64_t> coordinates_in(Random& random, const Simplices& simplices, std::size_t count,
                                          std::uint64_t rest, std::uint64_t width, std::size_t column) {
  std::vector<std::uint64_t> result(count);
  std::uint64_t sum = 0, product = coordinate_unit;
  for (std::size_t i = count - 1; i > 0; --i) {
    const bool leaves = fraction(random) <= simplices.leaves(i, column);
    const std::uint64_t coordinate = root_of(fraction(random), i) >> 2;
    const UnsignedWide share = UnsignedWide{part_of(product, coordinate_unit - coordinate)} * rest;
    sum += static_cast<std::uint64_t>(share / (UnsignedWide{width} * (i + 1)));
    product = part_of(product, coordinate);
    result[count - 1 - i] = sum + (leaves ? product : 0);
    if (leaves) rest -= width, --column;
  }
  result[count - 1] = sum + static_cast<std::uint64_t>(UnsignedWide{product} * rest / width);
  return result;
}

// Gives the shares what rounding has left of the total. Bound: a few rounds over the shares.
void top_up(std::vector<sched::Share>& shares, sched::Share missing, sched::Share most) {
  assert(missing >= 0);
  for (std::size_t i = 0; missing > 0; i = (i + 1) % shares.size())
    if (shares[i] < most) ++shares[i], --missing;
}

}  // namespace

std::vector<sched::Share> rand_fixed_sum(Random& random, std::size_t count, sched::Share total, sched::Share least,
                                         sched::Share most) {
  std::vector<sched::Share> shares(count, least);
  const auto width = static_cast<std::uint64_t>(most - least);
  const auto above = static_cast<std::uint64_t>(total - static_cast<sched::Share>(count) * least);
  if (width == 0) return shares;
  if (count > 1) {
    const std::size_t whole = std::min<std::size_t>(above / width, count - 1);
    const Simplices simplices(count, above - whole * width, width);
    const auto coordinates = coordinates_in(random, simplices, count, above, width, whole + 1);
    for (std::size_t i = 0; i < count; ++i)
      shares[i] += static_cast<sched::Share>(std::min(part_of(width, coordinates[i]), width));
  }
  sched::Share missing = total;
  for (const sched::Share share : shares) missing -= share;
  if (count == 1) shares[0] += std::exchange(missing, 0);
  top_up(shares, missing, most);
  shuffle(random, std::span(shares));
  return shares;
}

}  // namespace corelane::eval
