// The server of a task on a core where the platform has one server per task (CoreOrder::served). It is a constant
// bandwidth server that waits when its budget is used up. The kernel's SCHED_DEADLINE is such a server with runtime Q
// and deadline = period = P.
//
//   Q = C + slack    slack: a tenth of C, from 10 us to 100 us
//   P = D - J, or T if that is less
//
// The deadline of the server equals its period, although D may be less than T and the CoreScheduler keeps the releases
// T apart. Reason: if the deadline came before the end of the period, the kernel would treat wake-ups differently. It
// cuts the budget of a thread that wakes before the deadline. It delays a thread that wakes between the deadline and
// the next period. A task's thread wakes not only for its jobs, but also for half a message, or for a job that is
// early.
//
// With P as the deadline, a wake-up can do one of two things. It starts again with the deadline now + P and the budget
// Q. Or it comes so soon after the last one that the last deadline and budget are valid for it, too. The slack is the
// time that the thread may use between its jobs without harm to the next one. The price is that a task with D much less
// than T counts with C / D.
//
// So a job that becomes ready at r gets its Q before r + P, which is not later than its own deadline. This holds
// whatever the tasks of the core do. The condition is that the shares Q / P of the core plus the load above them are at
// most the whole core.
//
// Threads: pure.
#pragma once

#include "orb/base/contract.h"
#include "orb/sched/servers/reservation.h"

namespace corelane::sched {

// The kernel's default limits (sched_deadline_period_min_us, sched_deadline_period_max_us).
inline constexpr Duration shortest_server_period = std::chrono::microseconds{100};
inline constexpr Duration longest_server_period = std::chrono::seconds{4};

// Returns the server of a contract, or a reservation without a budget if there is none. There is none in these cases:
// - The task suspends itself: the server could stop it in the middle of a job.
// - The task uses resources: their ceilings are priorities.
// - The period is too short, or leaves no room for the slack.
Reservation task_server_of(const Contract& contract) noexcept;

}  // namespace corelane::sched
