// MemoryProgress tells since when the bytes that a connection holds have not moved (MemoryBudget).
//
// Threads: any; MemoryBudget's mutex guards it.
#pragma once

#include <algorithm>
#include <cstddef>

#include "orb/base/time.h"

namespace corelane::transport {

class MemoryProgress {
 public:
  // A half message that grows by less than this within a time counts as one that does not grow in that time.
  static constexpr std::size_t pace = 256 * 1024;

  // Returns whether a half message of this size has grown enough to count. A peer that sends a little now and then
  // holds up others as one does that sends nothing.
  bool half_has_grown(std::size_t size) const noexcept { return size >= half_mark_ + pace; }
  // The half message has grown, or has begun. From now on its growth counts from this size.
  void count_half_from(std::size_t size, Time now) noexcept {
    half_grew_at_ = now;
    half_mark_ = size;
  }
  // The half message has at most this size.
  void limit_half(std::size_t size) noexcept { half_mark_ = std::min(half_mark_, size); }
  // The half message could not grow, because it was not read. From now on it can.
  void let_half_grow(Time now) noexcept { half_grew_at_ = now; }
  bool half_rests(Time now, Duration patience) const noexcept { return now - half_grew_at_ >= patience; }

  // The peer has taken some of what waits for it, or there was nothing to take.
  void take_backlog(Time now) noexcept { backlog_taken_at_ = now; }
  bool backlog_rests(Time now, Duration patience) const noexcept { return now - backlog_taken_at_ >= patience; }

 private:
  Time half_grew_at_{}, backlog_taken_at_{};
  std::size_t half_mark_ = 0;  // size of the half message at half_grew_at_
};

}  // namespace corelane::transport
