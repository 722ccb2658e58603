// Contract is what a task asks of its server: how often its jobs come, and how much time they need by which deadline.
// The server enforces it; see docs/scheduling.md.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane {

enum class OverrunPolicy : std::uint8_t { report = 0, demote = 1, cancel = 2 };  // the values on the wire

// A resource that a job locks, once or several times in sequence. If a section locks a second resource, it contains the
// whole section of that resource.
struct ResourceUse {
  ResourceId resource = no_resource;  // no_resource: this entry is unused
  Duration longest{};                 // execution time of the longest section, 0 < longest <= C

  friend constexpr bool operator==(const ResourceUse&, const ResourceUse&) = default;
};
inline constexpr std::size_t max_uses = 4;

// Returns the resource with this name: the same number in every process (FNV-1a of 32 bits). It needs no table, which
// clients could fill with names. If two names have the same number, the analysis treats them as one resource. Then it
// promises less, but nothing wrong.
constexpr ResourceId resource_named(std::string_view name) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return ResourceId{hash == no_resource.value ? 1 : hash};
}

// Returns an entry for Contract::uses: a job locks the resource with this name, each time for `longest` at most.
constexpr ResourceUse use_of(std::string_view name, Duration longest) noexcept {
  return {resource_named(name), longest};
}

struct Contract {
  Duration period{};      // T: period or minimum inter-arrival, 0 < T <= 1 h
  Duration deadline{};    // D: relative to the release, C <= D
  Duration budget{};      // C: execution time of one job, 0 < C
  Duration jitter{};      // J: release jitter, 0 <= J < D
  Duration suspension{};  // S: self-suspension of one job, 0 <= S, C + S <= D
  std::int16_t importance = 0;
  OverrunPolicy on_overrun = OverrunPolicy::report;
  // How much a job uses the last-level cache: its accesses per 1,000 instructions; 0: unknown. No deadline depends on
  // it. The allocation strategy cache-aware places tasks by it.
  std::uint16_t intensity = 0;
  std::array<ResourceUse, max_uses> uses{};  // each resource once; if any, S = 0: a job may not sleep with a lock

  friend constexpr bool operator==(const Contract&, const Contract&) = default;
};

inline constexpr Duration longest_period = std::chrono::hours{1};

// Returns what is wrong with a contract, in one sentence: the field, its range, and its value. Nothing if the contract
// is valid. Not for real-time threads (allocates).
std::optional<std::string> fault_of(const Contract& contract);

constexpr bool uses_resources(const Contract& c) noexcept {
  return std::any_of(c.uses.begin(), c.uses.end(), [](const ResourceUse& u) { return u.resource != no_resource; });
}

// Tasks from this intensity on slow each other down when they run at the same time on cores that share a cache.
inline constexpr std::uint16_t intensive_from = 10;
constexpr bool is_intensive(const Contract& c) noexcept { return c.intensity >= intensive_from; }

// Returns whether work beyond the contract runs below the other tasks, on a core that schedules by priorities.
// `charges`: overruns under `report` are charged to their own task there.
constexpr bool is_enforced(const Contract& c, bool charges) noexcept {
  return charges || c.on_overrun != OverrunPolicy::report;
}

constexpr bool are_sound(const std::array<ResourceUse, max_uses>& uses, Duration budget) noexcept {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].resource == no_resource) {
      if (uses[i].longest != Duration::zero()) return false;
      continue;
    }
    if (uses[i].longest <= Duration::zero() || uses[i].longest > budget) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (uses[j].resource == uses[i].resource) return false;
  }
  return true;
}

// Returns whether fault_of() would find no fault; for any thread.
constexpr bool is_sound(const Contract& c) noexcept {
  return c.period > Duration::zero() && c.period <= longest_period && c.budget > Duration::zero() &&
         c.deadline <= longest_period && c.budget <= c.deadline && c.jitter >= Duration::zero() &&
         c.jitter < c.deadline && c.on_overrun <= OverrunPolicy::cancel && c.suspension >= Duration::zero() &&
         c.suspension <= c.deadline - c.budget && are_sound(c.uses, c.budget) &&
         (c.suspension == Duration::zero() || !uses_resources(c));
}

// Returns a contract with default values: D = T, J a tenth of T or D, whichever is less.
Contract make_contract(Duration period, Duration budget, std::optional<Duration> deadline = {},
                       std::optional<Duration> jitter = {}) noexcept;

// Parses "[0-9]+(ns|us|ms|s)", the format of IDL annotations, configuration and options. Returns nothing for any other
// text, and if the value does not fit.
std::optional<Duration> parse_duration(std::string_view text) noexcept;

// Returns the end of a message about a text that parse_duration() rejects. For "1.5 ms" it is "; a duration has no
// blank and no fraction: write 1500us". Returns "" if neither a blank nor a fraction is the fault.
std::string duration_hint(std::string_view text);

// Returns the shortest exact text that parse_duration() reads back: "1500us", "10ms".
std::string to_string(Duration duration);

}  // namespace corelane
