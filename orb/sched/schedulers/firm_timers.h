// FirmTimers (Goel, Abeni, Krasic, Snow & Walpole 2002, "Supporting Time-Sensitive Applications on a Commodity OS") is
// a set of timers that share one hard timer. The hard timer is armed later than the first timer by `overshoot`. The
// owner makes a soft check whenever it has control: when a request is dequeued, when a job ends, before a thread parks.
// The soft check fires all expired timers. Mostly it comes before the hard timer, and then the interrupt does not
// occur.
//
// A timer fires at its time or later, and at most `overshoot` later if the hard timer is punctual. With overshoot 0 all
// timers are hard timers. With a very long overshoot they are soft timers. Firm timers save time if at least one soft
// check in about fifty finds an expired timer.
//
//   owner                                     clock
//     add / cancel, then arm next_hard() ────▶  one-shot timer
//     soft_check(now) at each opportunity,
//     and when the one-shot has fired    ◀────
//
// The timers are kept in a min-heap, ordered by time and then by id. The owner chooses the ids, 0 .. capacity - 1, so
// it can keep its own table with the purpose of each timer.
//
// Threads: owned by one thread at a time. No clock, no thread. Nothing allocates after the constructor. add() and
// cancel() take O(log n). soft_check() takes O(1) if nothing has expired and O(log n) per expired timer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

struct FirmTimer {
  TimerId id{};
  Time at{};

  friend constexpr bool operator==(const FirmTimer&, const FirmTimer&) = default;
};

class FirmTimers {
 public:
  // `capacity`: the number of ids. `overshoot` >= 0.
  FirmTimers(std::size_t capacity, Duration overshoot);

  // Sets a timer that fires once, at `at`. Replaces the previous time of this id. Returns false if the id is out of
  // range.
  bool add(TimerId id, Time at) noexcept;
  // Clears a timer. Returns false if it is not set.
  bool cancel(TimerId id) noexcept;

  // Returns the time for which to arm the hard timer, or `never` if no timer is set. Ask again after each change. The
  // hard timer may stay armed longer than needed, because an extra check fires nothing.
  Time next_hard() const noexcept;

  // Removes and returns all timers that have expired, the earliest first. The result is valid until the next call.
  std::span<const FirmTimer> soft_check(Time now) noexcept;

  bool is_set(TimerId id) const noexcept { return id.value < place_.size() && place_[id.value] != unset; }
  std::size_t size() const noexcept { return heap_.size(); }

  // The number of soft checks, and the number of those that found an expired timer.
  std::uint64_t checks() const noexcept { return checks_; }
  std::uint64_t hits() const noexcept { return hits_; }

 private:
  static constexpr std::size_t unset = SIZE_MAX;

  void put(std::size_t place, const FirmTimer& timer) noexcept;
  void settle(std::size_t place) noexcept;
  void remove(std::size_t place) noexcept;

  Duration overshoot_;
  std::vector<FirmTimer> heap_;
  std::vector<std::size_t> place_;  // by id: the index in the heap, or unset
  std::vector<FirmTimer> expired_;  // the answer to the last soft_check()
  std::uint64_t checks_ = 0;
  std::uint64_t hits_ = 0;
};

}  // namespace corelane::sched
