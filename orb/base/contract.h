// Contract: what a task asks of its server. The server enforces it; see docs/scheduling.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/time.h"

namespace corelane {

enum class OverrunPolicy : std::uint8_t { report = 0, demote = 1, cancel = 2 };  // numbers of the wire

struct Contract {
  Duration period{};      // T: period or minimum inter-arrival, 0 < T <= 1 h
  Duration deadline{};    // D: relative to the release, C <= D
  Duration budget{};      // C: execution time of one job, 0 < C
  Duration jitter{};      // J: release jitter, 0 <= J < D
  Duration suspension{};  // S: self-suspension of one job, 0 <= S, C + S <= D
  std::int16_t importance = 0;
  OverrunPolicy on_overrun = OverrunPolicy::report;

  friend constexpr bool operator==(const Contract&, const Contract&) = default;
};

inline constexpr Duration longest_period = std::chrono::hours{1};

// What is wrong with a contract: the field, its range, and the value found, in one sentence; nothing when it is sound.
// Not for real-time threads (allocates).
std::optional<std::string> fault_of(const Contract& contract);

// The same as a yes or no, for any thread.
constexpr bool is_sound(const Contract& c) noexcept {
  return c.period > Duration::zero() && c.period <= longest_period && c.budget > Duration::zero() &&
         c.deadline <= longest_period && c.budget <= c.deadline && c.jitter >= Duration::zero() &&
         c.jitter < c.deadline && c.suspension >= Duration::zero() && c.suspension <= c.deadline - c.budget;
}

// A contract with its defaults filled in: D = T, J = T/10 (but below D).
Contract make_contract(Duration period, Duration budget, std::optional<Duration> deadline = {},
                       std::optional<Duration> jitter = {}) noexcept;

// "[0-9]+(ns|us|ms|s)", as IDL annotations, configuration and options write it; nothing for any other text or when the
// value does not fit.
std::optional<Duration> parse_duration(std::string_view text) noexcept;

// The shortest exact spelling that parse_duration() reads back: "1500us", "10ms".
std::string to_string(Duration duration);

}  // namespace corelane
