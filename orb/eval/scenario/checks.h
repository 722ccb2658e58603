// Checks that concern several fields of a scenario.
// Threads: pure functions. Allocates.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "orb/base/contract.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

inline constexpr std::int64_t most_tasks = 100'000;  // of a scenario

// Returns the contract that the task asks for, with a server's defaults.
Contract contract_of(const ListedTask& task);

// Returns why no server would ever admit the task, and what to change; nothing if its contract is sound.
std::optional<std::string> fault_of_task(const ListedTask& task);

// What is wrong with a field of the generator: "utilizations", " = \"uunifast\": ...".
struct GeneratorFault {
  std::string key, text;
};
std::optional<GeneratorFault> fault_of_generator(const Generator& generator);

}  // namespace corelane::eval
