// What a pendulum of each length asks of the controller, and the budget that it declares. The budget is measured: at
// its start the service measures how long the computations take on this machine. The budget is the longest of these
// times plus a margin, as `corelane measure` proposes it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::pendulum {

struct Kind {
  double length;  // length of the rod, m
  Duration period, deadline;
  Duration effort;  // time to compute one force on an undisturbed core
};

// Shortest first. With its budget, each kind takes about a fifth, a quarter and three tenths of a core.
inline constexpr std::array<Kind, 3> kinds{{
    {0.4, std::chrono::milliseconds{10}, std::chrono::milliseconds{8}, std::chrono::microseconds{1600}},
    {0.8, std::chrono::milliseconds{20}, std::chrono::milliseconds{18}, std::chrono::milliseconds{4}},
    {1.6, std::chrono::milliseconds{40}, std::chrono::milliseconds{38}, std::chrono::microseconds{9600}},
}};

// Margins in percent. They cover the work of a job besides its computation: it wakes up, reads its request and writes
// its reply. On a virtual machine the margin is larger: while the host takes the core, the processor time of the thread
// goes on.
inline constexpr int usual_margin = 20, margin_of_guests = 40;
// Chooses the margin from the text of /proc/stat. The larger margin applies if the first line counts any time since
// boot as stolen by the host; see proc_stat(5).
int margin_by(const std::string& stat);
int margin_here();

// Returns the longest time that the effort of each kind took while all `cores` computed at once, 20 times each. Then
// the cores share caches and hardware threads, as they do in the demo. Stalls (see rt::GapLog) are left out: no budget
// covers them.
std::vector<Duration> longest_executions(const std::vector<CoreId>& cores);

// Adds the margin, in percent, and rounds up to a tenth of a millisecond.
Duration budget_for(Duration longest_execution, int margin);

// Makes a contract for each kind from its longest execution. A kind that cannot meet its deadline asks for all the time
// until the deadline, and is refused.
std::vector<Contract> contracts_for(const std::vector<Duration>& longest_executions, int margin);

}  // namespace corelane::pendulum
