// IoServer is a bandwidth-preserving server for work on behalf of other tasks, such as reading their requests. It is
// the "PIBS" of Danish, Li & West 2011, "Virtual-CPU Scheduling in the Quest Operating System". It has no period and no
// priority of its own, and takes those of the caller for which it works.
//
// The server may use the share U of the core: at most U T at a time. After a use of u, the next use begins u / U later.
// A use ends when the server blocks or its budget is used up. So work for a low-priority task never delays a
// high-priority one. At its caller's level the work is bounded, and no queue of replenishments is needed.
//
// Callers that share a server also share its pauses: the work for one caller delays the next by up to the first one's
// T. If that is not acceptable, give each caller its own server.
//
// A change of caller ends the use. Like a wake-up, it moves the start of the next use to now, if that start lies in the
// past. So time that the server did not get at a low priority is not made up at a high one.
#pragma once

#include <span>

#include "orb/base/ids.h"
#include "orb/sched/analysis/bounds.h"
#include "orb/sched/response_time.h"
#include "orb/sched/servers/reservation.h"
#include "orb/sched/task.h"

namespace corelane::sched {

struct IoCaller {
  Duration period{};  // T: 0 < T <= 1 h
  Priority priority{};

  friend constexpr bool operator==(const IoCaller&, const IoCaller&) = default;
};

class IoServer {
 public:
  // `share`: U, 0 < U <= whole_core. `least`: every use counts as at least this time, >= 0. Let it include the cost of
  // starting and stopping the work. A flood of very short uses then makes at most U w / least + 1 uses in a window w.
  explicit IoServer(Ppm share, Time start = {}, Duration least = {}) noexcept;

  // Sets the caller for which the server works. Call it before wake(), and whenever the most urgent caller with work
  // changes.
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

// Returns U T for a caller with this period, rounded down, but at least 1 ns.
Duration io_budget(Ppm share, Duration period) noexcept;

// Return the interference of a server of this share on tasks at the level of its callers and below. T is the longest
// period of its callers at or above that level. In a window w the server runs for at most U w + (1 - U) U T. An
// analysis may use either form, and may choose the better one for each task:
// - io_interference(): a task (U T, T) with jitter T - U T, exact for long windows;
// - io_interference_without_jitter(): a task ((2 - U) U T, T) without jitter, less for short windows.
Interference io_interference(Ppm share, Duration period) noexcept;
Interference io_interference_without_jitter(Ppm share, Duration period) noexcept;

// Tests rate-monotonic tasks (implicit deadlines, no jitter) and the servers that work for them: sum U_i + sum (2 - U)
// U over the servers <= n (2^(1/n) - 1), where n is the number of tasks. Sufficient.
bool rate_monotonic_with_io(std::span<const Usage> tasks, std::span<const Ppm> shares) noexcept;

}  // namespace corelane::sched
