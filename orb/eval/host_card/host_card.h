// HostCard is what `corelane doctor --measure` has measured of a host: the costs of hand-overs, migrations and
// wake-ups, and how far the clocks of the cores differ. Plans and simulations take overheads from it. A card is a file
// in the user's state directory; docs/host-card.md describes it.
//
// Threads: values. Any thread but real-time ones may call the functions: they allocate, and some use files.
//
// The folder orb/eval/host_card keeps what a host was measured to cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/host_card/cost_summary.h"
#include "orb/eval/measured_overheads.h"
#include "orb/os/machine/host_key.h"

namespace corelane::eval {

// What a card is valid for.
using os::HostKey;
using os::key_of_this_host;

// Each cost is the time from the first instruction of the operation to the last one of its effect.
enum class HostCost : std::uint8_t {
  migrate_itself,    // a running thread changes its own affinity, until it runs on the other core
  migrate_running,   // a manager moves a running thread, until that thread runs on the other core
  migrate_sleeping,  // a manager moves a sleeping thread, until the call returns
  hop_same_core,     // a thread wakes a sleeping one of its core and sleeps, until the other one runs
  hop_other_core,    // a thread wakes a sleeping one of another core, until that one runs
  hop_polling,       // a thread writes a word, until a thread that polls on another core has seen it
  context_switch,    // a thread yields its core, until the next one runs
};

struct HostCostName {
  HostCost cost;
  std::string_view key;   // in the file
  std::string_view text;  // for people
};
// Returns every cost, in the order of reports.
std::span<const HostCostName> host_costs() noexcept;

// How far the clock of one core is ahead of another's.
struct ClockOffset {
  CoreId from, to;
  // The median of d0 = 2*y1 - x0 - z0. A message leaves `from` at x0, `to` answers it at y1, and the answer arrives at
  // z0. Twice the offset, if both ways take equally long.
  Duration d0{};
  Duration round_trip{};   // the shortest z0 - x0; the offset is known to half of it
  std::int64_t count = 0;  // of messages

  constexpr Duration offset() const noexcept { return d0 / 2; }
  friend constexpr bool operator==(const ClockOffset&, const ClockOffset&) = default;
};

// What else runs on the core while a thread sleeps and wakes.
enum class WakeLoad : std::uint8_t { idle, cpu, io, kernel };
struct WakeLoadName {
  WakeLoad load;
  std::string_view name;
};
std::span<const WakeLoadName> wake_loads() noexcept;
std::string_view name_of(WakeLoad load) noexcept;

// How late a thread runs after a timer was due. `late` is what was observed. The other parts are those of the same
// samples; without samples, the kernel does not tell how long threads are ready.
struct WakeLatency {
  WakeLoad load = WakeLoad::idle;
  bool real_time = false;  // under SCHED_FIFO, above the load; otherwise an ordinary thread beside the load
  CostSummary late{};
  CostSummary timer{};    // until the thread was ready: the timer, and interrupts that were off or came first
  CostSummary ready{};    // ready without running: real_time: the kernel was not preemptible; otherwise: other threads
  CostSummary machine{};  // gaps without a context switch: the host or interrupts had the core. None seen when idle

  friend constexpr bool operator==(const WakeLatency&, const WakeLatency&) = default;
};

// What the kernel's load balancer costs while many threads are bound to one core.
struct BalancerCost {
  int tasks = 0;
  int percent = 0;         // of the core that these threads use together
  Duration watched{};      // how long
  std::int64_t calls = 0;  // of the balancer, on all cores
  Duration min{}, mean{}, max{}, total{};

  friend constexpr bool operator==(const BalancerCost&, const BalancerCost&) = default;
};

// A measurement that was left out.
struct Omission {
  std::string what, why;

  friend bool operator==(const Omission&, const Omission&) = default;
};

struct HostCard {
  HostKey key{};
  std::string measured_at{};  // UTC: "2026-11-30T09:00:00Z"
  bool thorough = false;      // with --long
  bool real_time = false;     // measured under SCHED_FIFO; otherwise the costs include other programs
  std::vector<ClockOffset> clock_offsets{};
  std::map<HostCost, CostSummary> costs{};  // without those that were left out
  std::vector<WakeLatency> wake_ups{};
  std::vector<BalancerCost> balancer{};
  std::vector<Omission> omissions{};

  friend bool operator==(const HostCard&, const HostCard&) = default;
};

// Returns the card as JSON, with a newline at its end. Durations are in nanoseconds.
std::string host_card_text(const HostCard& card);
// `path` is for the fault.
Expected<HostCard, CardFault> parse_host_card(std::string_view text, const std::string& path);

// Returns the path of this user's card: corelane/host-card.json in $XDG_STATE_HOME, else in $HOME/.local/state. Returns
// "" if neither variable has an absolute path.
std::string host_card_path();
Expected<HostCard, CardFault> read_host_card(const std::string& path);
// Replaces the file atomically. Makes missing directories.
Expected<void, CardFault> write_host_card(const HostCard& card, const std::string& path);

// Reads a card, and refuses it if it was measured elsewhere, or under another kernel.
Expected<HostCard, CardFault> card_of_this_host(const std::string& path);

// Returns in what this host differs from the measured one, with both values; "" if in nothing.
std::string difference_from_this_host(const HostCard& card);

// Returns the costs of a context switch (`dispatch`), a hop and a migration of a sleeping thread, and as `blocking` the
// latest wake-up of a real-time thread under any load. The hop goes to another core; if the host has only one, it stays
// there. Returns nothing if no such wake-up was measured. Then nothing bounds when jobs start.
std::optional<RunOverheads> overheads_of(const HostCard& card, CostCharge charge);

}  // namespace corelane::eval
