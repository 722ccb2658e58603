#include "orb/eval/scenario/checks.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

#include "orb/base/settings/overrun_name.h"
#include "orb/core/contracts/contract_backlog.h"
#include "orb/eval/generate/requests.h"
#include "orb/eval/slowdown_table.h"

namespace corelane::eval {
namespace {

// Replaces "uses[0]" and the like in a text with the name of the resource.
std::string with_resource_names(std::string text, const ListedTask& task) {
  for (std::size_t i = 0; i < task.uses.size(); ++i) {
    const std::string number = "uses[" + std::to_string(i) + "]", name = "uses." + task.uses[i].resource;
    for (std::size_t at = 0; (at = text.find(number, at)) != text.npos; at += name.size())
      text.replace(at, number.size(), name);
  }
  return text;
}

// Returns the longest period that the generator may draw.
Duration longest_drawn(const Generator& generator) {
  if (generator.periods == "automotive") {
    const auto periods = automotive_periods();
    return std::ranges::max(periods, {}, &PeriodShare::period).period;
  }
  if (generator.periods == "list") return std::ranges::max(generator.period_list);
  return generator.period_max;
}

std::optional<FieldFault> fault_of_periods(const Generator& generator) {
  const auto out_of_range = [](const std::string& key, Duration value) {
    return FieldFault{key, " = " + to_string(value) + " is outside 0 < T <= 1 h; write a period such as \"10ms\""};
  };
  if (generator.period_min <= Duration::zero() || generator.period_min > longest_period)
    return out_of_range("period_min", generator.period_min);
  if (generator.period_max <= Duration::zero() || generator.period_max > longest_period)
    return out_of_range("period_max", generator.period_max);
  if (generator.period_min > generator.period_max)
    return FieldFault{"period_min", " = " + to_string(generator.period_min) + " is more than period_max = " +
                                        to_string(generator.period_max) + "; lower it, or raise period_max"};
  if (generator.period_step <= Duration::zero())
    return FieldFault{"period_step", " = 0ns gives no period; write a step such as \"1us\""};
  for (const Duration period : generator.period_list)
    if (period > longest_period) return out_of_range("period_list", period);
  const PeriodDistribution* const distribution = period_distribution(generator.periods);
  if (const std::string bad = distribution->fault_of(period_request_of(generator)); !bad.empty())
    return FieldFault{"periods", " = \"" + generator.periods + "\": " + bad};
  return std::nullopt;
}

std::optional<std::string> fault_of_criticality(const ListedTask& task) {
  if (!task.budget_high) return std::nullopt;
  const std::string given = "budget_high = " + to_string(*task.budget_high);
  const Duration deadline = task.deadline.value_or(task.period);
  if (task.criticality != "high") return given + " is for tasks with criticality = \"high\"; add that, or leave it out";
  if (*task.budget_high >= task.budget && *task.budget_high <= deadline) return std::nullopt;
  return given + " is outside C <= budget_high <= D, with C = " + to_string(task.budget) +
         " and D = " + to_string(deadline) + "; change one of these values";
}

// Returns the number of the other chain that has the task, or of this chain if the task is in it twice.
std::optional<std::size_t> chain_with(const Scenario& scenario, std::size_t number, const std::string& task) {
  for (std::size_t i = 0; i <= number; ++i)
    if (std::ranges::count(scenario.chains[i].tasks, task) > (i == number ? 1 : 0)) return i;
  return std::nullopt;
}

// Returns the task with this label, where it is only one.
const ListedTask* task_called(const Scenario& scenario, const std::string& label) {
  for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
    const ListedTask& task = scenario.tasks[i];
    if (task.count == 1 && (task.label.empty() ? "task-" + std::to_string(i + 1) : task.label) == label) return &task;
  }
  return nullptr;
}

// Returns whether the name is the label with "-" and a number from 1 to `most` added, as a copy of a task is labeled.
bool is_copy(std::string_view name, const std::string& label, std::int64_t most) {
  if (!is_named(name, label) || name == label) return false;
  const std::string_view digits = name.substr(label.size() + 1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc{} && end == digits.data() + digits.size() && digits.front() != '0' && number <= most;
}

// Returns whether a [[slowdown]] table with this name may be about a task. The task may be a listed one, one or several
// copies of it, or a drawn one.
bool names_a_task(const Scenario& scenario, const std::string& name) {
  if (scenario.generate) {
    const std::int64_t drawn = scenario.generate->tasks;
    if (name == "drawn" || is_copy(name, "drawn", drawn > 0 ? drawn : most_tasks)) return true;
  }
  for (std::size_t i = 0; i < scenario.tasks.size(); ++i) {
    const ListedTask& task = scenario.tasks[i];
    const std::string label = task.label.empty() ? "task-" + std::to_string(i + 1) : task.label;
    if (task.count == 1 ? is_named(label, name) : name == label || is_copy(name, label, task.count)) return true;
  }
  return false;
}

std::optional<std::string> fault_of_behavior(const ListedTask& task) {
  if (task.gap && (*task.gap < Duration::zero() || *task.gap > longest_period))
    return "gap = " + to_string(*task.gap) + " is outside 0 <= gap <= 1 h; write one such as \"5ms\"";
  if (task.execution_min && !task.execution_trace.empty())
    return "execution_min and execution_trace exclude each other; leave one of them out";
  if (task.execution_min && *task.execution_min > task.execution)
    return "execution_min = " + decimal(*task.execution_min) + " is more than execution = " + decimal(task.execution) +
           "; lower it, or raise execution";
  for (const Duration execution : task.execution_trace)
    if (execution > longest_period)
      return "execution_trace has " + to_string(execution) + ", which is more than 1 h; write shorter times";
  return std::nullopt;
}

std::optional<FieldFault> fault_of_execution(const Generator& generator) {
  if (!generator.execution_min || *generator.execution_min <= generator.execution) return std::nullopt;
  return FieldFault{"execution_min", " = " + decimal(*generator.execution_min) + " is more than execution = " +
                                         decimal(generator.execution) + "; lower it, or raise execution"};
}

std::optional<FieldFault> fault_of_utilizations(const Generator& generator) {
  if (generator.utilization_min > generator.utilization_max)
    return FieldFault{"utilization_min", " = " + decimal(generator.utilization_min) +
                                             " is more than utilization_max = " + decimal(generator.utilization_max) +
                                             "; lower it, or raise utilization_max"};
  const UtilizationGenerator* const chosen = utilization_generator(generator.utilizations);
  if (const std::string bad = chosen->fault_of(utilization_request_of(generator)); !bad.empty())
    return FieldFault{"utilizations", " = \"" + generator.utilizations + "\": " + bad};
  return std::nullopt;
}

}  // namespace

Contract contract_of(const ListedTask& task) {
  Contract contract = make_contract(task.period, task.budget, task.deadline, task.jitter);
  contract.suspension = task.suspension;
  contract.importance = static_cast<std::int16_t>(task.importance);
  contract.intensity = static_cast<std::uint16_t>(task.intensity);
  contract.on_overrun = overrun_policy_of(task.on_overrun).value_or(OverrunPolicy::report);
  for (std::size_t i = 0; i < std::min(task.uses.size(), max_uses); ++i)
    contract.uses[i] = use_of(task.uses[i].resource, task.uses[i].longest);
  return contract;
}

ArrivalKind arrival_kind(std::string_view name) noexcept {
  for (std::size_t i = 0; i < arrival_names.size(); ++i)
    if (arrival_names[i] == name) return static_cast<ArrivalKind>(i);
  return ArrivalKind::periodic;
}

Arrival arrival_of(const ListedTask& task) {
  return {.kind = arrival_kind(task.arrival), .gap = task.gap.value_or(task.period), .burst = task.burst};
}

Execution execution_of(const ListedTask& task) {
  return {.least = task.execution_min.value_or(task.execution), .most = task.execution, .trace = task.execution_trace};
}

Execution execution_of(const Generator& generator) {
  return {.least = generator.execution_min.value_or(generator.execution), .most = generator.execution, .trace = {}};
}

std::optional<std::string> fault_of_task(const ListedTask& task) {
  if (task.offset < Duration::zero() || task.offset > longest_period)
    return "offset = " + to_string(task.offset) + " is outside 0 <= offset <= 1 h; write one such as \"5ms\"";
  if (auto bad = fault_of_behavior(task)) return bad;
  if (auto bad = fault_of_criticality(task)) return bad;
  const Contract contract = contract_of(task);
  if (const auto bad = fault_of(contract)) return with_resource_names(*bad, task) + "; change one of these values";
  return core::backlog_fault_of(contract);
}

std::optional<std::string> fault_of_chain(const Scenario& scenario, std::size_t number) {
  const Chain& chain = scenario.chains[number];
  if (chain.tasks.size() < 2) return "it has one task; a chain has two or more";
  if (chain.deadline && (*chain.deadline <= Duration::zero() || *chain.deadline > longest_period))
    return "deadline = " + to_string(*chain.deadline) + " is outside 0 < D <= 1 h; write one such as \"30ms\"";
  Duration period{};
  for (const std::string& label : chain.tasks) {
    const ListedTask* const task = task_called(scenario, label);
    if (task == nullptr) return "no listed task with a count of 1 has the label \"" + label + "\"; name one that has";
    if (chain_with(scenario, number, label))
      return "task \"" + label + "\" is in a chain already; a task is in one chain, and there once";
    if (period != Duration::zero() && task->period != period)
      return "task \"" + label + "\" has the period " + to_string(task->period) + ", and the task before it has " +
             to_string(period) + "; give all tasks of a chain the same period";
    period = task->period;
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_dispatcher(const Scenario& scenario) {
  const std::string& own = scenario.policy.dispatcher;
  const std::vector<std::string>& names = scenario.experiment.dispatchers;
  const std::string name = own == "manager" ? "mc-orb" : own;
  if (own.empty() || names.empty() || std::ranges::find(names, name) != names.end()) return std::nullopt;
  return "\"" + own + "\" is the dispatcher " + name + ", which is none of experiment.dispatchers; add " + name +
         " there, or leave policy.dispatcher out";
}

std::optional<std::string> fault_of_locks(const Scenario& scenario) {
  if (scenario.policy.locks != "msrp") return std::nullopt;
  const bool has_high =
      std::ranges::any_of(scenario.tasks, [](const ListedTask& task) { return task.criticality == "high"; }) ||
      (scenario.generate && scenario.generate->high_tasks.millionths > 0);
  if (has_high) return "msrp has no analysis of tasks of high criticality; use ceiling, or make all tasks low";
  const std::string& test = scenario.policy.test;
  if (test.empty() || test == "response-time" || test == "none") return std::nullopt;
  return "msrp is analyzed by response times, and policy.test is \"" + test + "\"; use \"response-time\"";
}

std::optional<FieldFault> fault_of_slowdown(const Scenario& scenario, std::size_t number) {
  const PairSlowdown& slowdown = scenario.slowdowns[number];
  const std::pair<const char*, const std::string&> names[] = {{"operation", slowdown.operation},
                                                              {"beside", slowdown.beside}};
  for (const auto& [key, name] : names)
    if (!names_a_task(scenario, name))
      return FieldFault{key,
                        " = \"" + name + "\" is the label of no task; write the label of the task that it is about"};
  return std::nullopt;
}

std::optional<std::string> fault_of_charged_slowdowns(const Scenario& scenario) {
  if (scenario.policy.charge_slowdowns != SlowdownCharge::worst || scenario.platform.slowdown == unity)
    return std::nullopt;
  return " = \"worst\" charges as a server does, and a server does not know platform.slowdown = " +
         decimal(scenario.platform.slowdown) + "; write tables [[slowdown]] in its place, or charge_slowdowns = true";
}

std::optional<FieldFault> fault_of_generator(const Generator& generator) {
  if (auto bad = fault_of_periods(generator)) return bad;
  if (auto bad = fault_of_utilizations(generator)) return bad;
  if (auto bad = fault_of_execution(generator)) return bad;
  const Duration longest = longest_drawn(generator);
  if (longest.count() <= longest_period.count() * unity.millionths / generator.deadline.millionths) return std::nullopt;
  return FieldFault{"deadline", " = " + decimal(generator.deadline) + " with a period of " + to_string(longest) +
                                    " gives a deadline of more than 1 h; lower one of them"};
}

std::optional<FieldFault> fault_of_overheads(const OverheadFields& overheads) {
  for (const sim::OverheadInfo& info : sim::overhead_infos) {
    const Duration cost = sim::cost_of(overheads, info.kind).value_or(Duration::zero());
    if (cost > longest_overhead)
      return FieldFault{std::string(info.name), " = " + to_string(cost) + " is more than " +
                                                    to_string(longest_overhead) + "; write the time of one occurrence"};
  }
  return std::nullopt;
}

}  // namespace corelane::eval
