// What a pendulum of each length asks of the controller, and the budget that it declares for it. Nobody guesses it: the
// service measures at its start how long the computations take here, and the budget is the longest and a margin, as
// `corelane measure` proposes it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::pendulum {

struct Kind {
  double length;  // of the rod, m
  Duration period, deadline;
  Duration effort;  // of computing one force, on a core that nothing disturbs
};

// Shortest first. With its budget each takes about a fifth, a quarter and three tenths of a core.
inline constexpr std::array<Kind, 3> kinds{{
    {0.4, std::chrono::milliseconds{10}, std::chrono::milliseconds{8}, std::chrono::microseconds{1600}},
    {0.8, std::chrono::milliseconds{20}, std::chrono::milliseconds{18}, std::chrono::milliseconds{4}},
    {1.6, std::chrono::milliseconds{40}, std::chrono::milliseconds{38}, std::chrono::microseconds{9600}},
}};

// In per cent: for what a job does besides computing (waking up, reading its request, writing its reply); and on a
// virtual machine whose host takes time, for that, since a thread's processor time goes on meanwhile.
inline constexpr int usual_margin = 20, margin_of_guests = 40;
// By the text of /proc/stat: whether its first line counts any time since boot as stolen by the host. proc_stat(5)
int margin_by(const std::string& stat);
int margin_here();

// The longest that the effort of each kind took while all `cores` computed at once, for a third of a second: caches and
// hardware threads are shared then, as they will be. Stalls (see rt::GapLog) are left out: no budget covers them.
std::vector<Duration> longest_executions(const std::vector<CoreId>& cores);

// The margin, in per cent, on top, rounded up to a tenth of a millisecond.
Duration budget_for(Duration longest_execution, int margin);

// Of each kind, by its longest execution. One that cannot meet its deadline asks for all the time until then, and is
// refused.
std::vector<Contract> contracts_for(const std::vector<Duration>& longest_executions, int margin);

}  // namespace corelane::pendulum
