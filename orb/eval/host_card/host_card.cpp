#include "orb/eval/host_card/host_card.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "orb/os/files/small_file.h"
#include "orb/os/process/environment.h"

namespace corelane::eval {
namespace {

constexpr std::size_t longest_card = 1024 * 1024;  // bytes
constexpr const char* card_remedy = "measure this host: corelane doctor --measure";

constexpr std::array host_cost_names = {
    HostCostName{HostCost::migrate_itself, "migrate_itself", "a running thread changes its own affinity"},
    HostCostName{HostCost::migrate_running, "migrate_running", "a manager moves a running thread"},
    HostCostName{HostCost::migrate_sleeping, "migrate_sleeping", "a manager moves a sleeping thread"},
    HostCostName{HostCost::hop_same_core, "hop_same_core", "hop to a sleeping thread, same core"},
    HostCostName{HostCost::hop_other_core, "hop_other_core", "hop to a sleeping thread, other core"},
    HostCostName{HostCost::hop_polling, "hop_polling", "hop to a polling thread, other core"},
    HostCostName{HostCost::context_switch, "context_switch", "context switch"},
};

constexpr std::array wake_load_names = {
    WakeLoadName{WakeLoad::idle, "idle"},
    WakeLoadName{WakeLoad::cpu, "cpu"},
    WakeLoadName{WakeLoad::io, "io"},
    WakeLoadName{WakeLoad::kernel, "kernel"},
};

Duration quantile_of(const CostSummary& summary, CostCharge charge) noexcept {
  if (summary.count == 0) return {};
  return charge == CostCharge::max ? summary.max : summary.p99;
}

}  // namespace

std::span<const HostCostName> host_costs() noexcept { return host_cost_names; }
std::span<const WakeLoadName> wake_loads() noexcept { return wake_load_names; }

std::string_view name_of(WakeLoad load) noexcept { return wake_load_names[static_cast<std::size_t>(load)].name; }

std::string host_card_path() {
  const std::string state = os::variable("XDG_STATE_HOME");
  if (state.starts_with('/')) return state + "/corelane/host-card.json";  // a relative path does not count there
  const std::string home = os::variable("HOME");
  return home.starts_with('/') ? home + "/.local/state/corelane/host-card.json" : std::string();
}

Expected<HostCard, CardFault> read_host_card(const std::string& path) {
  const auto text = os::read_small_file(path, longest_card);
  if (!text) return CardFault{text.error().text + "; " + card_remedy};
  return parse_host_card(*text, path);
}

Expected<void, CardFault> write_host_card(const HostCard& card, const std::string& path) {
  std::error_code failure;
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  if (!directory.empty()) std::filesystem::create_directories(directory, failure);
  if (failure)
    return CardFault{directory.string() + " cannot be made: " + failure.message() +
                     "; name another file: --output FILE"};
  if (const auto written = os::write_small_file(path, host_card_text(card)); !written)
    return CardFault{written.error().text + "; name another file: --output FILE"};
  return {};
}

Expected<HostCard, CardFault> card_of_this_host(const std::string& path) {
  auto card = read_host_card(path);
  if (!card) return card;
  const std::string difference = difference_from_this_host(*card);
  if (!difference.empty()) return CardFault{path + " was measured " + difference + "; " + card_remedy};
  return card;
}

std::string difference_from_this_host(const HostCard& card) { return os::difference_of(card.key, key_of_this_host()); }

std::optional<RunOverheads> overheads_of(const HostCard& card, CostCharge charge) {
  const auto cost = [&](HostCost which) {
    const auto found = card.costs.find(which);
    return found == card.costs.end() ? Duration::zero() : quantile_of(found->second, charge);
  };
  Duration wake{};
  for (const WakeLatency& wake_up : card.wake_ups)
    if (wake_up.real_time) wake = std::max(wake, quantile_of(wake_up.late, charge));
  if (wake == Duration::zero()) return std::nullopt;
  const Duration hop = cost(HostCost::hop_other_core);
  return RunOverheads{.costs = {.dispatch = cost(HostCost::context_switch),
                                .hop = hop > Duration::zero() ? hop : cost(HostCost::hop_same_core),
                                .migration = cost(HostCost::migrate_sleeping)},
                      .blocking = wake};
}

}  // namespace corelane::eval
