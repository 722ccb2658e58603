// FirmTimers (Goel, Abeni, Krasic, Snow & Walpole 2002, "Supporting Time-Sensitive Applications on a Commodity OS"):
// one hard timer for many, set late on purpose. Where control passes anyway (a request is dequeued, a job ends, before
// a thread parks) a soft check fires whatever has expired, and mostly it comes before the hard timer, whose interrupt
// is then never taken. The overshoot bounds the delay: a timer fires at its instant at the earliest, and `overshoot`
// later at the latest, as far as the hard timer is punctual. Overshoot 0 makes them hard timers; a very long one, soft
// timers. That pays once about one soft check in fifty finds something to fire.
//
//   owner                                     clock
//     add / cancel, then arm next_hard() ────▶  one-shot timer
//     soft_check(now) at each opportunity,
//     and when the one-shot has fired    ◀────
//
// A min-heap by instant, then by id. Ids are chosen by the owner, 0 .. capacity - 1, so that it may keep what a timer
// is for in a table of its own.
//
// Threads: owned by one thread at a time. No clock, no thread; nothing allocates after the constructor. add() and
// cancel() take O(log n), soft_check() O(1) when nothing has expired and O(log n) for each that has.
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
  // overshoot >= 0.
  FirmTimers(std::size_t capacity, Duration overshoot);

  // Fires at `at`, once; replaces what was set under this id. False for an id past the capacity.
  bool add(TimerId id, Time at) noexcept;
  // False when it is not set (any more).
  bool cancel(TimerId id) noexcept;

  // When the hard timer has to go off; `never` when nothing is set. Ask again after each change; it may stay armed for
  // longer than needed: a check too many fires nothing.
  Time next_hard() const noexcept;

  // All that have expired by now, the earliest first; they are not set any more. Valid until the next call.
  std::span<const FirmTimer> soft_check(Time now) noexcept;

  bool is_set(TimerId id) const noexcept { return id.value < place_.size() && place_[id.value] != unset; }
  std::size_t size() const noexcept { return heap_.size(); }

  // How many checks there were, and how many of them found something.
  std::uint64_t checks() const noexcept { return checks_; }
  std::uint64_t hits() const noexcept { return hits_; }

 private:
  static constexpr std::size_t unset = SIZE_MAX;

  void put(std::size_t place, const FirmTimer& timer) noexcept;
  void settle(std::size_t place) noexcept;
  void remove(std::size_t place) noexcept;

  Duration overshoot_;
  std::vector<FirmTimer> heap_;
  std::vector<std::size_t> place_;  // by id: where in the heap, or unset
  std::vector<FirmTimer> expired_;  // answer to the last soft_check()
  std::uint64_t checks_ = 0;
  std::uint64_t hits_ = 0;
};

}  // namespace corelane::sched
