// IoServer: bandwidth-preserving server for work on behalf of others, as reading their requests ("PIBS": Danish, Li &
// West 2011, "Virtual-CPU Scheduling in the Quest Operating System"). It has no period and no priority of its own. It
// takes those of the caller for whom it works, and may use the share U of the core: at most U T at a time, and after a
// use of u (it blocked, or it had no more) the next use begins u / U later. So work for a low task never delays a high
// one, and what it does at its caller's level is bounded without a queue of replenishments.
//
// Callers that share a server share its waiting: what it just did for one delays the next, by up to the first one's T.
// Where that must not be, they get servers of their own.
//
// A change of caller ends the use, and like a wake-up moves the next one to now at the earliest: what a server was
// starved of at a low level it does not get back at a high one.
#pragma once

#include <span>

#include "orb/base/ids.h"
#include "orb/sched/bounds.h"
#include "orb/sched/reservation.h"
#include "orb/sched/response_time.h"
#include "orb/sched/task.h"

namespace corelane::sched {

struct IoCaller {
  Duration period{};  // T: 0 < T <= 1 h
  Priority priority{};

  friend constexpr bool operator==(const IoCaller&, const IoCaller&) = default;
};

class IoServer {
 public:
  // share: U, 0 < U <= whole_core. least: a use counts as at least so long, >= 0. With what it costs to start and to
  // stop the work, a flood of tiny uses makes at most U w / least + 1 of them in a window w.
  explicit IoServer(Ppm share, Time start = {}, Duration least = {}) noexcept;

  // From now on it works for `caller`; said before wake(), and whenever the most urgent caller with work changes.
  void serve(Time now, const IoCaller& caller) noexcept;

  void wake(Time now) noexcept;
  void charge(Time now, Duration used) noexcept;
  void block(Time now) noexcept;
  Duration available(Time now) const noexcept;
  Time next(Time) const noexcept { return eligible_; }

  Ppm share() const noexcept { return share_; }
  const IoCaller& caller() const noexcept { return caller_; }

 private:
  void settle() noexcept;

  Ppm share_;
  IoCaller caller_{};
  Duration budget_{};  // U T, at least 1 ns
  Duration used_{};    // since eligible_
  Duration least_;
  Time eligible_;
};

// U T of a caller with this period, rounded down, but at least 1 ns.
Duration io_budget(Ppm share, Duration period) noexcept;

// How a server of this share bears on the level of its callers and those below, T being the longest of its callers'
// periods at or above that level. In a window w it runs for at most U w + (1 - U) U T, which an analysis may put in
// either way, for each task the one that suits it: as a task (U T, T) with jitter T - U T, exact for long windows, or
// as a task ((2 - U) U T, T) without, less for short ones.
Interference io_interference(Ppm share, Duration period) noexcept;
Interference io_interference_without_jitter(Ppm share, Duration period) noexcept;

// Rate-monotonic tasks (implicit deadlines, without jitter) and servers that work for them: sum U_i + sum (2 - U) U
// over the servers <= n (2^(1/n) - 1), n counting the tasks. Sufficient.
bool rate_monotonic_with_io(std::span<const Usage> tasks, std::span<const Ppm> shares) noexcept;

}  // namespace corelane::sched
