#include "services/reserved/accounts/request_check.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "orb/base/text/counted.h"
#include "orb/os/machine/core_list.h"
#include "services/reserved/accounts/core_sets.h"
#include "services/reserved/accounts/placement.h"

namespace corelane::reserved {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

Refusal bad(std::string reason) { return {.kind = RefusalKind::bad_request, .reason = std::move(reason)}; }

std::optional<Refusal> cores_fault(const Holder& holder, const CoresWanted& wanted, const std::vector<CoreId>& all) {
  if (holder.extent == Extent::thread)
    return bad(
        "whole cores are for a process or a process tree, not for one thread; ask for the process, or for a share");
  if (wanted.count < 0 || (wanted.count == 0 && wanted.these.empty()))
    return bad("how many cores? Say a count from 1 on, or which cores");
  for (const CoreId core : wanted.these)
    if (!holds(all, core))
      return bad("core " + std::to_string(core.value) + " is none of this host's that can be reserved (" +
                 os::core_list_text(all) + ")");
  if (!wanted.these.empty() && wanted.count > static_cast<int>(wanted.these.size()))
    return bad(counted(static_cast<std::uint64_t>(wanted.count), "core") + " out of " +
               std::to_string(wanted.these.size()) + " named; name more or ask for fewer");
  return std::nullopt;
}

std::optional<Refusal> share_fault(const Holder& holder, const ShareWanted& share) {
  const ShareRange range = share_range(holder.extent);
  if (share.budget > share.period)
    return bad("a budget of " + duration_text(share.budget) + " is longer than its period");
  if (share.period < range.least_period || share.period > range.longest_period)
    return bad("a period of " + duration_text(share.period) + " is none that the kernel takes: " +
               duration_text(range.least_period) + " to " + duration_text(range.longest_period));
  if (share.budget < range.least_budget)
    return bad("a budget of " + duration_text(share.budget) + " is none that the kernel takes: it has to be " +
               duration_text(range.least_budget) + " at least; the same share over a longer period would do");
  if (parts_of(share) > shared_limit)
    return bad(duration_text(share.budget) + " in every " + duration_text(share.period) +
               " is more than 95 % of a core, which is all that can be shared; ask for a whole core");
  return std::nullopt;
}

}  // namespace

ShareRange share_range(Extent extent) noexcept {
  if (extent == Extent::thread) return {Duration{1024}, microseconds{100}, seconds{1}};
  return {milliseconds{1}, milliseconds{1}, seconds{1}};
}

std::string duration_text(Duration duration) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> units{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  for (const auto& [size, unit] : units)
    if (duration.count() != 0 && duration.count() % size == 0) return std::to_string(duration.count() / size) + unit;
  return std::to_string(duration.count()) + "ns";
}

std::optional<Refusal> request_fault(const Holder& holder, const Wanted& wanted, const std::vector<CoreId>& all) {
  if (const auto* cores = std::get_if<CoresWanted>(&wanted)) return cores_fault(holder, *cores, all);
  return share_fault(holder, std::get<ShareWanted>(wanted));
}

std::string no_room_text(const Account& account, const std::vector<CoreId>& free, std::size_t reservations) {
  const std::string held = counted(reservations, "reservation is held", "reservations are held");
  const std::string advice =
      "; wait in the queue (corelane reserve --wait), or ask for what fits; corelane cores shows which process has "
      "which cores";
  if (account.is_share()) return "no shared core has so much left, and no core is free to be shared: " + held + advice;
  if (free.empty()) return "no core is free: " + held + advice;
  return "of the free cores (" + os::core_list_text(free) + ") not as many fit together as were asked for: " + held +
         advice;
}

std::string never_fits_text(const Account& account, const std::vector<os::CoreInfo>& machine,
                            const std::vector<CoreId>& kept) {
  const std::string host = "this host has " + counted(machine.size(), "core") + ", of which " +
                           (kept.size() == 1 ? "core " : "cores ") + os::core_list_text(kept) +
                           (kept.size() == 1 ? " stays" : " stay") + " with all processes (reserved.keep)";
  if (account.is_share()) return host + ": none is left to be shared";
  return host + ": the others do not have what was asked for, even when all are free";
}

std::string fit_text(const Account& account, const std::vector<os::CoreInfo>& machine,
                     const std::vector<CoreId>& free) {
  if (const auto* share = std::get_if<ShareWanted>(&account.wanted)) {
    const bool has_core = choose_cores(machine, free, CoresWanted{.count = 1}).has_value();
    return has_core ? share_fit_text(*share, account.holder.extent, shared_limit) : "";
  }
  const auto& wanted = std::get<CoresWanted>(account.wanted);
  if (const int most = most_cores(machine, free, wanted); most > 0)
    return counted(static_cast<std::uint64_t>(most), "core");
  CoresWanted loose{.count = wanted.count != 0 ? wanted.count : static_cast<int>(wanted.these.size()),
                    .nearness = Nearness::anywhere,
                    .siblings = Siblings::others};
  if (const int most = most_cores(machine, free, loose); most > 0)
    return counted(static_cast<std::uint64_t>(most), "core") +
           ", if they may be anywhere and others may have their siblings";
  return "";
}

std::string share_fit_text(const ShareWanted& share, Extent extent, PartsPerBillion room) {
  const ShareRange range = share_range(extent);
  // Rounded down to a whole microsecond. Cannot overflow: a period is at most one second.
  const Duration budget{share.period.count() * room / whole_core / 1000 * 1000};
  if (budget < range.least_budget) return "";
  return duration_text(std::min(budget, share.budget)) + " in every " + duration_text(share.period);
}

}  // namespace corelane::reserved
