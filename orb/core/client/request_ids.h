// RequestIds gives request ids that are unique in the process, so that a request can go over another connection
// unchanged. It draws them in blocks, because a number that all threads write costs each of them more than the rest of
// this class. The first block has one id, and each that is used up is followed by one of twice the size. So an object
// that is used once, or seldom, wastes hardly any ids. Otherwise they would begin again while an old call still waits.
// Thread: one at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::core {

class RequestIds {
 public:
  static constexpr std::uint32_t block = 64;  // at most
  // The rest of an older block is not used. In this time the process cannot make so many calls that the ids begin
  // again.
  static constexpr std::chrono::seconds longest_kept{1};

  std::uint32_t next(Time now) noexcept {
    if (left_ == 0 || now - drawn_at_ > longest_kept) draw(now);
    --left_;
    return next_++;
  }

 private:
  void draw(Time now) noexcept {
    size_ = left_ == 0 ? std::clamp(2 * size_, 1U, block) : 1;
    next_ = undrawn_.fetch_add(size_, std::memory_order_relaxed);  // relaxed: only uniqueness counts
    left_ = size_;
    drawn_at_ = now;
  }

  inline static std::atomic<std::uint32_t> undrawn_{1};

  std::uint32_t next_ = 0, left_ = 0;
  std::uint32_t size_ = 0;  // of the last block
  Time drawn_at_{};
};

}  // namespace corelane::core
