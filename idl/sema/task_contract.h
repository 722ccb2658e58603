// The contract of @rt::task: durations and their ranges. idl knows nothing of the runtime, so it has its own reader.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "idl/model/model.h"

namespace corelane::idl {

// "[0-9]+(ns|us|ms|s)"; nothing for any other text or when it does not fit.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// The end of a message about a text that parse_duration() does not read: "; a duration has no blank and no fraction:
// write "1500us"" of "1.5 ms"; "" where no blank and no fraction is wrong with it.
std::string duration_hint(std::string_view text);

// The shortest exact spelling: "1500us".
std::string spell_duration(std::chrono::nanoseconds duration);

struct ContractFault {
  std::string field;  // parameter of the annotation
  std::string message;
};

// The first rule that the contract breaks: 0 < T <= 1 h, 0 < D <= 1 h, 0 < C <= D, 0 <= J < D, 0 <= S <= D - C.
std::optional<ContractFault> fault_of(const TaskContract& contract);

// What is wrong with one more resource for the contract, as a sentence: a name of 1 to 64 letters, digits and _ . : /
// -, 0 < L <= C, four at most, each once, and none for a task that suspends itself.
std::optional<ContractFault> fault_of(const TaskContract& contract, const ResourceUse& use);

}  // namespace corelane::idl
