// MessageDeadline knows until when the rest of an incomplete message must come. Each incomplete message gets a deadline
// of its own.
// Thread: the one that reads the connection.
#pragma once

#include <optional>
#include <utility>

#include "orb/base/time.h"

namespace corelane::core {

class MessageDeadline {
 public:
  // `patience`: from the first bytes of a message to its last; zero: any time.
  explicit MessageDeadline(Duration patience) noexcept : patience_(patience) {}

  void note_completed() noexcept { completed_ = true; }
  // Returns whether a message was completed since the last update().
  bool completed() const noexcept { return completed_; }
  // Call it after bytes were taken. `incomplete`: the beginning of a message is there, but not its end. Returns the new
  // deadline (`never`: none), or nothing if the deadline stays as it is.
  std::optional<Time> update(bool incomplete, Time now) noexcept {
    const bool completed = std::exchange(completed_, false);
    // An incomplete message after a completed one gets a new deadline.
    if (incomplete == incomplete_ && !(incomplete && completed)) return std::nullopt;
    incomplete_ = incomplete;
    return renewed(now);
  }
  // Returns the deadline for the current message, as if its first bytes had come now.
  Time renewed(Time now) const noexcept { return incomplete_ ? of_message_from(now) : never; }
  // Returns the deadline for the rest of a message whose first bytes came then.
  Time of_message_from(Time first) const noexcept { return patience_ > Duration::zero() ? first + patience_ : never; }
  // Makes the next update() return a deadline for an incomplete message in any case.
  void reset() noexcept { incomplete_ = completed_ = false; }

 private:
  const Duration patience_;
  bool incomplete_ = false;
  bool completed_ = false;
};

}  // namespace corelane::core
