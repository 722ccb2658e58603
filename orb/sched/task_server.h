// The server of a task on a core whose platform has one for each (CoreOrder::served): a constant bandwidth server that
// waits when its budget is used up, as the kernel's SCHED_DEADLINE is with runtime Q and deadline = period = P.
//
//   Q = C + slack    slack: a tenth of C, from 10 us to 100 us
//   P = D - J, or T where that is less
//
// Deadline and period are the same, though D may be less than T, and the Lane holds the releases T apart. With a
// deadline before the end of the period the kernel cuts the budget of a thread that wakes before the deadline, and
// keeps one waiting that wakes between the deadline and the next period. A task's thread wakes for more than its jobs:
// for half a message, for a job that is early. With P as the deadline each wake-up either starts anew (deadline now +
// P, budget Q), or comes so shortly after the one before that deadline and budget of that one serve it as well: what
// the thread may use between its jobs without harm to the next is the slack. The price is that a task with D much
// less than T counts with C / D.
//
// So a job that becomes ready at r has its Q before r + P, which is no later than its own deadline, while the shares
// Q / P of a core and what is above them sum to no more than the core; and that holds whatever any of its tasks does.
//
// Threads: pure.
#pragma once

#include "orb/base/contract.h"
#include "orb/sched/reservation.h"

namespace corelane::sched {

// What the kernel takes by default (sched_deadline_period_min_us, sched_deadline_period_max_us).
inline constexpr Duration shortest_server_period = std::chrono::microseconds{100};
inline constexpr Duration longest_server_period = std::chrono::seconds{4};

// Without a budget: the contract has no such server. One that suspends itself could be cut in the middle of a job;
// ceilings of resources are priorities; and some periods are too short, or leave no room for the slack.
Reservation task_server_of(const Contract& contract) noexcept;

}  // namespace corelane::sched
