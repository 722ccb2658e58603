#include "services/corelane/plan/planned_set.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "orb/base/contract.h"
#include "orb/base/text/counted.h"
#include "orb/sched/refusal.h"
#include "orb/sched/share.h"
#include "services/corelane/output/json_text.h"
#include "services/corelane/output/overheads_text.h"
#include "services/corelane/output/text.h"

namespace corelane::tool {
namespace {

using eval::Plan;
using eval::TaskVerdict;
using Json = nlohmann::ordered_json;

std::string percentage(sched::Ppm share) { return format("%.1f %%", static_cast<double>(share) / 10'000); }

std::size_t admitted_in(const Plan& plan) { return plan.tasks.size() - plan.refused; }

std::string load_text(const sched::PlatformLoad& load) {
  if (load.budget == Duration::zero() && load.blocking == Duration::zero()) return "no platform load";
  std::string text = "platform load " + to_string(load.budget) + " in each " + to_string(load.period);
  if (load.jitter > Duration::zero()) text += " with jitter " + to_string(load.jitter);
  if (load.blocking > Duration::zero()) text += ", blocking " + to_string(load.blocking);
  return text;
}

// Returns the core of a task, or those of its parts: "0+1".
std::string core_text(const TaskVerdict& verdict) {
  if (!verdict.admitted) return "-";
  if (verdict.core == no_core) return "any";
  if (verdict.parts.empty()) return std::to_string(verdict.core.value);
  std::string text;
  for (const eval::TaskPart& part : verdict.parts) text += (text.empty() ? "" : "+") + std::to_string(part.core.value);
  return text;
}

// Returns the lines below a task that is refused.
std::string refusal_text(const TaskVerdict& verdict) {
  if (verdict.admitted) return {};
  if (verdict.jobs_admitted) return "       " + percentage(*verdict.jobs_admitted) + " of its jobs are admitted\n";
  return refusal_lines(eval::reason_of(verdict.refusal, verdict.refusal_note));
}

// Returns the budget with which the task was analyzed, if tasks on other cores slow it down; "" otherwise.
std::string charged_text(const TaskVerdict& verdict, const eval::RunOverheads& overheads) {
  if (!verdict.charged_budget || verdict.slowdown <= eval::unity.millionths) return {};
  const bool has_overheads = overheads.charge_per_job() > Duration::zero();
  return "       analyzed with a budget of " + brief(*verdict.charged_budget) + ", which includes " +
         (has_overheads ? "overheads and " : "") + "slowdowns by tasks on other cores of its cache\n";
}

// Returns what a task of high criticality may expect after an overrun; "" for other tasks.
std::string high_text(const TaskVerdict& verdict) {
  if (!verdict.high || !verdict.admitted) return {};
  const std::string budget =
      "       if jobs take up to their budget_high (" + to_string(verdict.task.budget_high) + "): ";
  if (!verdict.high->holds) return budget + "the deadline may be missed\n";
  return budget + "bound " + brief(*verdict.high->bound) + "\n";
}

std::string chain_text(const Plan& plan, const eval::ChainVerdict& chain) {
  std::string text = "Chain " + plain(chain.label) + " (";
  for (std::size_t i = 0; i < chain.tasks.size(); ++i)
    text += (i > 0 ? ", " : "") + plain(plan.tasks[chain.tasks[i]].task.label);
  text += "): ";
  if (!chain.bound) return text + "no bound, because a task has none.\n";
  text += brief(*chain.bound) + " from end to end";
  if (chain.deadline)
    text += (chain.holds ? ", within the deadline of " : ", later than the deadline of ") + to_string(*chain.deadline);
  if (chain.direct) text += ";\n  " + brief(*chain.direct) + " if early jobs did not wait";
  return text + ".\n";
}

std::string line_of(const TaskVerdict& verdict, const eval::RunOverheads& overheads) {
  const Contract& c = verdict.task.contract;
  const bool is_bounded = verdict.bound > Duration::zero();
  const std::string core = core_text(verdict);
  return format("%4s %9s %9s %9s %9s %8s %9s %9s  ", core.c_str(), to_string(c.period).c_str(),
                to_string(c.deadline).c_str(), to_string(c.budget).c_str(), to_string(c.jitter).c_str(),
                percentage(verdict.utilization).c_str(), is_bounded ? brief(verdict.bound).c_str() : "-",
                verdict.largest_budget ? to_string(*verdict.largest_budget).c_str() : "-") +
         plain(verdict.task.label) + "\n" + charged_text(verdict, overheads) + high_text(verdict) +
         refusal_text(verdict);
}

// Returns how many cores all tasks need, as a sentence; "" if that was not looked for.
std::string need_text(const Plan& plan) {
  if (plan.hopeless)
    return plain(plan.tasks[*plan.hopeless].task.label) + " does not fit on any core, not even alone.\n";
  if (!plan.fewest_cores) return {};
  return (plan.tasks.size() == 1 ? "The task needs " : "All " + std::to_string(plan.tasks.size()) + " tasks need ") +
         counted(static_cast<std::uint64_t>(*plan.fewest_cores), "core") + ".\n";
}

std::string growth_text(const Plan& plan) {
  if (!plan.growth) return {};
  const int more = *plan.growth - 1000;  // thousandths
  if (more == 0) return "The budgets of the admitted tasks may not grow together.\n";
  return format("The budgets of the admitted tasks may grow by %d.%d %% together.\n", more / 10, more % 10);
}

std::string lines_of_cores(const Plan& plan) {
  if (!plan.tasks.empty() && plan.tasks.front().jobs_admitted) return {};  // jobs choose their cores
  std::string text;
  sched::Ppm sum = 0;
  for (const sched::CoreView& core : plan.cores) {
    sum += core.admitted;
    text += format("core %d: %s admitted, %s platform load, %s free\n", core.id.value,
                   percentage(core.admitted).c_str(), percentage(core.platform).c_str(),
                   percentage(std::max<sched::Ppm>(0, core.capacity - core.admitted - core.platform)).c_str());
  }
  return plan.is_global ? "all cores together: " + percentage(sum) + " of a core admitted\n" : text;
}

std::string whole_text(const PlannedSet& set) {
  const Plan& plan = set.plan;
  std::string text = counted(plan.tasks.size(), "task") + " on " + counted(plan.cores.size(), "core") + "; " +
                     load_text(set.server.platform) + "; " + percentage(set.server.capacity) + " of a core at most\n" +
                     overheads_line(set.overheads) + "\n";
  text +=
      format("%4s %9s %9s %9s %9s %8s %9s %9s  %s\n", "core", "T", "D", "C", "J", "util", "bound", "C up to", "task");
  for (const TaskVerdict& verdict : plan.tasks) text += line_of(verdict, set.overheads);
  text += "\n" + lines_of_cores(plan);
  text +=
      std::to_string(admitted_in(plan)) + " of " + counted(plan.tasks.size(), "task is", "tasks are") + " admitted.\n";
  if (plan.tasks.size() > admitted_in(plan))
    text += "Of the utilization that they ask for, " + percentage(plan.accepted) + " is admitted.\n";
  for (const std::string& note : plan.notes) text += "Note: " + note + ".\n";
  if (!plan.promises) return text + "The server has no admission test, so no deadline is promised.\n";
  for (const eval::ChainVerdict& chain : plan.chains) text += chain_text(plan, chain);
  return text + need_text(plan) + growth_text(plan);
}

bool is_whole(const PlannedSet& set) { return set.plan.refused == 0; }

// Returns whether all tasks are admitted, and something may be late all the same.
bool is_late(const PlannedSet& set) { return is_whole(set) && !eval::holds(set.plan); }

std::string swept_text(const PlannedSet& set) {
  std::string text;
  for (const auto& [field, value] : set.swept) text += (text.empty() ? "" : ", ") + field + " = " + plain(value);
  return text + (text.empty() ? "" : ": ");
}

// Returns a line for sets with the same swept values.
std::string group_text(std::span<const PlannedSet> sets) {
  std::size_t tasks = 0, admitted = 0;
  sched::Ppm accepted = 0;  // of all sets together
  for (const PlannedSet& set : sets) {
    tasks += set.plan.tasks.size(), admitted += admitted_in(set.plan);
    accepted += set.plan.accepted;
  }
  const Plan& first = sets.front().plan;
  std::string text = swept_text(sets.front());
  if (sets.size() > 1)
    text += std::to_string(std::ranges::count_if(sets, is_whole)) + " of " +
            counted(sets.size(), "set is", "sets are") + " admitted as a whole, with ";
  text += std::to_string(admitted) + " of " + counted(tasks, "task") + " on " + counted(first.cores.size(), "core");
  if (admitted < tasks)
    text += "; " + percentage(accepted / static_cast<sched::Ppm>(sets.size())) + " of the utilization";
  if (sets.size() == 1 && first.fewest_cores) text += "; all need " + std::to_string(*first.fewest_cores);
  return text + "\n";
}

std::string text_of_several(std::span<const PlannedSet> sets) {
  std::string text;
  for (std::span<const PlannedSet> rest = sets; !rest.empty();) {
    const auto other =
        std::ranges::find_if(rest, [&](const PlannedSet& set) { return set.swept != rest.front().swept; });
    const auto size = static_cast<std::size_t>(other - rest.begin());
    text += group_text(rest.first(size));
    rest = rest.subspan(size);
  }
  text += std::to_string(std::ranges::count_if(sets, is_whole)) + " of " + counted(sets.size(), "set is", "sets are") +
          " admitted as a whole.\n";
  const auto late = static_cast<std::uint64_t>(std::ranges::count_if(sets, is_late));
  if (late > 0)
    text += "In " + counted(late, "of them", "of them") + " a chain or a task of high criticality may be late.\n";
  return text;
}

Json json_of(const sched::Nearest& nearest) {
  return {{"period_ns", nearest.period.count()},
          {"deadline_ns", nearest.deadline.count()},
          {"budget_ns", nearest.budget.count()},
          {"jitter_ns", nearest.jitter.count()},
          {"suspension_ns", nearest.suspension.count()}};
}

Json json_of(const TaskVerdict& verdict, const eval::HighMode& high) {
  Json json{{"budget_ns", verdict.task.budget_high.count()}, {"holds", high.holds}};
  if (high.bound) json["bound_ns"] = high.bound->count();
  return json;
}

Json json_of(const Plan& plan, const eval::ChainVerdict& chain) {
  Json json{{"label", chain.label}, {"tasks", Json::array()}, {"holds", chain.holds}};
  for (const std::size_t task : chain.tasks) json["tasks"].push_back(plan.tasks[task].task.label);
  if (chain.deadline) json["deadline_ns"] = chain.deadline->count();
  if (chain.bound) json["bound_ns"] = chain.bound->count();
  if (chain.direct) json["direct_bound_ns"] = chain.direct->count();
  return json;
}

Json json_of(const TaskVerdict& verdict) {
  const Contract& c = verdict.task.contract;
  Json json{{"label", verdict.task.label},   {"period_ns", c.period.count()}, {"deadline_ns", c.deadline.count()},
            {"budget_ns", c.budget.count()}, {"jitter_ns", c.jitter.count()}, {"utilization_ppm", verdict.utilization},
            {"admitted", verdict.admitted}};
  if (verdict.admitted && verdict.core != no_core) json["core"] = verdict.core.value;
  if (verdict.jobs_admitted) json["jobs_admitted_ppm"] = *verdict.jobs_admitted;
  for (const eval::TaskPart& part : verdict.parts)
    json["parts"].push_back({{"core", part.core.value},
                             {"budget_ns", part.budget.count()},
                             {"offset_ns", part.offset.count()},
                             {"deadline_ns", part.deadline.count()}});
  if (verdict.bound > Duration::zero()) json["bound_ns"] = verdict.bound.count();
  if (verdict.charged_budget) json["charged_budget_ns"] = verdict.charged_budget->count();
  if (verdict.high) json["high"] = json_of(verdict, *verdict.high);
  if (verdict.largest_budget) json["largest_budget_ns"] = verdict.largest_budget->count();
  if (verdict.admitted) return json;
  json["refusal"] = {{"code", std::string(sched::name_of(verdict.refusal.code))},
                     {"text", eval::reason_of(verdict.refusal, verdict.refusal_note)}};
  if (verdict.refusal.nearest.found()) json["refusal"]["would_fit"] = json_of(verdict.refusal.nearest);
  return json;
}

Json json_of(const PlannedSet& set) {
  const Plan& plan = set.plan;
  const sched::PlatformLoad& load = set.server.platform;
  Json json;
  if (!set.swept.empty()) json["swept"] = Json::object();
  for (const auto& [field, value] : set.swept) json["swept"][field] = value;
  if (set.set > 0) json["set"] = set.set;
  json["platform"] = {{"budget_ns", load.budget.count()},
                      {"period_ns", load.period.count()},
                      {"jitter_ns", load.jitter.count()},
                      {"blocking_ns", load.blocking.count()},
                      {"capacity_ppm", set.server.capacity}};
  if (!eval::text_of(set.overheads).empty()) json["overheads"] = overheads_json(set.overheads);
  json["promises"] = plan.promises;
  json["admitted"] = admitted_in(plan);
  json["admitted_utilization_ppm"] = plan.accepted;
  json["refused"] = plan.refused;
  if (plan.fewest_cores) json["fewest_cores"] = *plan.fewest_cores;
  if (plan.growth) json["growth_thousandths"] = *plan.growth;
  json["tasks"] = Json::array();
  for (const TaskVerdict& verdict : plan.tasks) json["tasks"].push_back(json_of(verdict));
  if (!plan.chains.empty()) json["chains"] = Json::array();
  for (const eval::ChainVerdict& chain : plan.chains) json["chains"].push_back(json_of(plan, chain));
  json["cores"] = Json::array();
  for (const sched::CoreView& core : plan.cores)
    json["cores"].push_back({{"core", core.id.value},
                             {"admitted_ppm", core.admitted},
                             {"platform_ppm", core.platform},
                             {"capacity_ppm", core.capacity},
                             {"tasks", core.tasks}});
  if (!plan.notes.empty()) json["notes"] = plan.notes;
  return json;
}

}  // namespace

std::string text_of(const std::vector<PlannedSet>& sets, Format shown_as) {
  const bool is_one = sets.size() == 1;
  if (shown_as == Format::table) return is_one ? whole_text(sets.front()) : text_of_several(sets);
  if (is_one) return json_lines(json_of(sets.front()));
  Json json = Json::array();
  for (const PlannedSet& set : sets) json.push_back(json_of(set));
  return json_lines(json);
}

}  // namespace corelane::tool
