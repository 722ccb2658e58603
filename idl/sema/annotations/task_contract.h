// The contract of @rt::task: reads durations and checks their ranges. idl must not depend on the runtime, so it has its
// own reader.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl {

// Reads "[0-9]+(ns|us|ms|s)". Returns nothing for any other text, or if the number does not fit.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// Returns the end of a message about a text that parse_duration() refuses. For "1.5 ms" it is "; a duration has no
// blank and no fraction: write "1500us"". Returns "" if blanks and fractions are not the cause.
std::string duration_hint(std::string_view text);

// Returns the shortest exact spelling: "1500us".
std::string spell_duration(std::chrono::nanoseconds duration);

struct ContractFault {
  std::string field;  // parameter of the annotation
  std::string message;
};

// Returns the first rule that the contract breaks: 0 < T <= 1 h, 0 < D <= 1 h, 0 < C <= D, 0 <= J < D, 0 <= S <= D - C,
// (D + J) / T <= 8.
std::optional<ContractFault> fault_of(const TaskContract& contract);

// Returns the first rule that one more resource breaks. Its name has 1 to 64 letters, digits and _ . : / -. 0 < L <= C.
// A contract has at most four resources, each once. A task that suspends itself has none.
std::optional<ContractFault> fault_of(const TaskContract& contract, const ResourceUse& use);

}  // namespace corelane::idl
