// What is wrong with a request, why it finds no room, and what would: for people.
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "orb/os/topology.h"
#include "services/reserved/accounts/accounts.h"

namespace corelane::reserved {

// What the kernel takes as a share: SCHED_DEADLINE of a thread, and the bandwidth of a control group.
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
// What would fit into `free`, in the words of a request; "" for nothing.
std::string fit_text(const Account& account, const std::vector<os::CoreInfo>& machine, const std::vector<CoreId>& free);
// The largest budget for that period that `room` of a core has; "" for none that the kernel takes.
std::string share_fit_text(const ShareWanted& share, Extent extent, PartsPerBillion room);

// "1500us", "10ms": the largest unit that says it exactly.
std::string duration_text(Duration duration);

}  // namespace corelane::reserved
