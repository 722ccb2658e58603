// Checks that concern several fields of a scenario.
// Threads: pure functions. Allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orb/base/contract.h"
#include "orb/eval/scenario.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

inline constexpr std::int64_t most_tasks = 100'000;  // of a scenario

// Returns the contract that the task asks for, with a server's defaults.
Contract contract_of(const ListedTask& task);

// Return when the jobs of a task come and how long they execute. The names of the fields are known ones.
ArrivalKind arrival_kind(std::string_view name) noexcept;
Arrival arrival_of(const ListedTask& task);
Execution execution_of(const ListedTask& task);
Execution execution_of(const Generator& generator);

// Returns why no server would ever admit the task, and what to change; nothing if its contract is sound.
std::optional<std::string> fault_of_task(const ListedTask& task);

// Returns what is wrong with the chain of this number, and what to change; nothing if it can be analyzed.
std::optional<std::string> fault_of_chain(const Scenario& scenario, std::size_t number);

// Returns why policy.dispatcher and experiment.dispatchers contradict each other; nothing if they do not.
std::optional<std::string> fault_of_dispatcher(const Scenario& scenario);

// Returns why policy.locks cannot be as it is, and what to change; nothing if it can.
std::optional<std::string> fault_of_locks(const Scenario& scenario);

// What is wrong with a field of a table, such as the generator's: "utilizations", " = \"uunifast\": ...".
struct FieldFault {
  std::string key, text;
};
std::optional<FieldFault> fault_of_generator(const Generator& generator);

// Returns what is wrong with the slowdown of this number, and what to change; nothing if both of its tasks exist.
std::optional<FieldFault> fault_of_slowdown(const Scenario& scenario, std::size_t number);

// Returns why policy.charge_slowdowns cannot be as it is, and what to change; nothing if it can.
std::optional<std::string> fault_of_charged_slowdowns(const Scenario& scenario);

// Returns which overhead is too long, and what to change; nothing if none is.
std::optional<FieldFault> fault_of_overheads(const OverheadFields& overheads);

}  // namespace corelane::eval
