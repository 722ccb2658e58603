// Checks requests, and writes the texts that tell a user what is wrong, why there is no room, and what would fit.
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/os/machine/topology.h"
#include "services/reserved/accounts/accounts.h"

namespace corelane::reserved {

// The budgets and periods that the kernel accepts for a share: SCHED_DEADLINE for a thread, control-group bandwidth for
// a process or a tree.
struct ShareRange {
  Duration least_budget;
  Duration least_period;
  Duration longest_period;
};
ShareRange share_range(Extent extent) noexcept;

std::optional<Refusal> request_fault(const Holder& holder, const Wanted& wanted, const std::vector<CoreId>& all);

std::string no_room_text(const Account& account, const std::vector<CoreId>& free, std::size_t reservations);
std::string never_fits_text(const Account& account, const std::vector<os::CoreInfo>& machine,
                            const std::vector<CoreId>& kept);
// Returns what would fit into `free`, in the words of a request; "" if nothing would.
std::string fit_text(const Account& account, const std::vector<os::CoreInfo>& machine, const std::vector<CoreId>& free);
// Returns the largest budget for the share's period that fits into `room` of a core; "" if the kernel accepts none that
// small.
std::string share_fit_text(const ShareWanted& share, Extent extent, PartsPerBillion room);

// Formats a duration with the largest unit that is exact: "1500us", "10ms".
std::string duration_text(Duration duration);

}  // namespace corelane::reserved
