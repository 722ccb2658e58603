// Contract: what a task asks of its server. The server enforces it; see docs/scheduling.md.
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

enum class OverrunPolicy : std::uint8_t { report = 0, demote = 1, cancel = 2 };  // numbers of the wire

// A resource that a job locks, once or more, one after another; a section that locks a second one contains that one's.
struct ResourceUse {
  ResourceId resource = no_resource;  // no_resource: this entry is not used
  Duration longest{};                 // execution time of the longest section, 0 < longest <= C

  friend constexpr bool operator==(const ResourceUse&, const ResourceUse&) = default;
};
inline constexpr std::size_t max_uses = 4;

// The resource of that name: the same number in every process, without a table that names of clients could fill (FNV-1a
// of 32 bits). Two names of one number are one resource to the analysis, which promises less for it and nothing wrong.
constexpr ResourceId resource_named(std::string_view name) noexcept {
  std::uint32_t hash = 2166136261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return ResourceId{hash == no_resource.value ? 1 : hash};
}

// For Contract::uses: a job locks the resource of that name, for `longest` at most each time.
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
  std::array<ResourceUse, max_uses> uses{};  // each resource once; then S = 0, since nobody may sleep with a lock

  friend constexpr bool operator==(const Contract&, const Contract&) = default;
};

inline constexpr Duration longest_period = std::chrono::hours{1};

// What is wrong with a contract: the field, its range, and the value found, in one sentence; nothing when it is sound.
// Not for real-time threads (allocates).
std::optional<std::string> fault_of(const Contract& contract);

constexpr bool uses_resources(const Contract& c) noexcept {
  return std::any_of(c.uses.begin(), c.uses.end(), [](const ResourceUse& u) { return u.resource != no_resource; });
}

// Whether what a job exceeds its contract by is done below the others on a core by priorities. `charges`: overruns
// under `report` are charged to their own task there.
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

// The same as a yes or no, for any thread.
constexpr bool is_sound(const Contract& c) noexcept {
  return c.period > Duration::zero() && c.period <= longest_period && c.budget > Duration::zero() &&
         c.deadline <= longest_period && c.budget <= c.deadline && c.jitter >= Duration::zero() &&
         c.jitter < c.deadline && c.on_overrun <= OverrunPolicy::cancel && c.suspension >= Duration::zero() &&
         c.suspension <= c.deadline - c.budget && are_sound(c.uses, c.budget) &&
         (c.suspension == Duration::zero() || !uses_resources(c));
}

// A contract with its defaults filled in: D = T, J a tenth of T or D, whichever is less.
Contract make_contract(Duration period, Duration budget, std::optional<Duration> deadline = {},
                       std::optional<Duration> jitter = {}) noexcept;

// "[0-9]+(ns|us|ms|s)", as IDL annotations, configuration and options write it; nothing for any other text or when the
// value does not fit.
std::optional<Duration> parse_duration(std::string_view text) noexcept;

// The end of a message about a text that parse_duration() does not read: "; a duration has no blank and no fraction:
// write 1500us" of "1.5 ms"; "" where no blank and no fraction is wrong with it.
std::string duration_hint(std::string_view text);

// The shortest exact spelling that parse_duration() reads back: "1500us", "10ms".
std::string to_string(Duration duration);

}  // namespace corelane
