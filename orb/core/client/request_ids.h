// RequestIds gives request ids that are unique in the process, so that a request can go over another connection
// unchanged. It draws them in blocks, because a number that all threads write costs each of them more than the rest of
// this class.
// Thread: one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "orb/base/time.h"

namespace corelane::core {

class RequestIds {
 public:
  static constexpr std::uint32_t block = 64;
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
    next_ = undrawn_.fetch_add(block, std::memory_order_relaxed);  // relaxed: only uniqueness counts
    left_ = block;
    drawn_at_ = now;
  }

  inline static std::atomic<std::uint32_t> undrawn_{1};

  std::uint32_t next_ = 0, left_ = 0;
  Time drawn_at_{};
};

}  // namespace corelane::core
