// CoreSet is a set of cores, one bit each, that finds its lowest one quickly. The cores of a cluster are numbered from
// 0.
//
// Threads: one. Only the constructor allocates.
#pragma once

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace corelane::sim::multicore {

class CoreSet {
 public:
  // Makes an empty set for cores 0 to `cores` - 1.
  explicit CoreSet(std::size_t cores) : words_((cores + 63) / 64) {}

  bool empty() const { return size_ == 0; }
  bool contains(std::uint32_t core) const { return (words_[core / 64] & bit(core)) != 0; }

  void add(std::uint32_t core) {
    assert(!contains(core));
    words_[core / 64] |= bit(core);
    lowest_ = std::min<std::size_t>(lowest_, core / 64);
    ++size_;
  }

  void remove(std::uint32_t core) {
    assert(contains(core));
    words_[core / 64] &= ~bit(core);
    --size_;
  }

  // Returns the lowest core. The set is not empty. At most one step for each 64 cores.
  std::uint32_t first() {
    assert(!empty());
    while (words_[lowest_] == 0) ++lowest_;
    return static_cast<std::uint32_t>(lowest_ * 64) + static_cast<std::uint32_t>(std::countr_zero(words_[lowest_]));
  }

 private:
  static std::uint64_t bit(std::uint32_t core) { return std::uint64_t{1} << core % 64; }

  std::vector<std::uint64_t> words_;
  std::size_t lowest_ = 0;  // the words before this one are zero
  std::size_t size_ = 0;
};

}  // namespace corelane::sim::multicore
