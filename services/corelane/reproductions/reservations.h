// Repeats the published reservations of 40 % in 8192 us beside 20 % in 512 us (Goel et al., OSDI 2002), alone and
// beside other work. In virtual time the core runs by deadlines, as in the publication. On this host it runs by
// rate-monotonic priorities, and what a reservation used is read at the ends of its periods.
//
// Threads: pure functions, except the experiment on this host. They allocate.
#pragma once

#include <vector>

#include "orb/base/time.h"
#include "orb/sched/servers/reservation.h"
#include "services/corelane/reproductions/experiment.h"

namespace corelane::tool::reproductions {

// The published reservations; the first one has the shorter period.
inline constexpr sched::Reservation published_reservations[] = {
    {.budget = std::chrono::nanoseconds{102'400}, .period = std::chrono::microseconds{512}},
    {.budget = std::chrono::nanoseconds{3'276'800}, .period = std::chrono::microseconds{8192}}};

// What each of them used in each of its periods.
using PeriodUse = std::vector<std::vector<Duration>>;

PeriodUse use_in_virtual_time(bool has_load, Duration length);

extern const Experiment reservations, reservations_real;

}  // namespace corelane::tool::reproductions
