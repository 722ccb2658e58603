#include "orb/eval/run_overheads.h"

#include <algorithm>

#include "orb/base/contract.h"

namespace corelane::eval {
namespace {

// Adds "hop 20us" if it costs something.
void add_cost(const RunOverheads& overheads, const sim::OverheadInfo& info, std::string& text) {
  const Duration cost = sim::cost_of(overheads.costs, info.kind).most();
  if (cost == Duration::zero()) return;
  text += (text.empty() ? "" : ", ") + std::string(info.name) + " " + to_string(cost);
  if (overheads.charged && info.per_job > 1)
    text += info.per_job == 2 ? " twice" : " " + std::to_string(info.per_job) + " times";
}

std::string charged_text(const RunOverheads& overheads) {
  std::string listed, text, rest;
  for (const sim::OverheadInfo& info : sim::overhead_infos)
    add_cost(overheads, info, info.per_job == 0 ? rest : listed);
  if (!listed.empty())
    text = "overheads charged by the analysis: " + listed + "; " + to_string(overheads.per_job()) +
           " on top of each budget";
  if (!rest.empty()) text += (text.empty() ? "overheads " : "; ") + std::string("not charged by the analysis: ") + rest;
  return text;
}

}  // namespace

RunOverheads run_overheads(const Scenario& scenario, std::size_t tasks) {
  const OverheadFields& fields = scenario.overheads;
  RunOverheads overheads = fields.measured ? overheads_of(*fields.measured, tasks) : RunOverheads{};
  overheads.charged = fields.charged;
  for (const sim::OverheadInfo& info : sim::overhead_infos)
    if (const auto& cost = sim::cost_of(fields, info.kind)) sim::cost_of(overheads.costs, info.kind) = *cost;
  return overheads;
}

RunOverheads overheads_in(dispatch::DispatchMode mode, RunOverheads overheads) {
  if (mode != dispatch::DispatchMode::manager) overheads.costs.hop = {};
  return overheads;
}

void charge(const RunOverheads& overheads, std::vector<Task>& tasks) {
  const Duration more = overheads.charge_per_job();
  for (Task& task : tasks) {
    task.contract.budget += more;
    if (task.is_high) task.budget_high += more;
    task.overheads += more;
  }
}

void charge(const RunOverheads& overheads, dispatch::ExecutiveOptions& server) {
  if (overheads.charged) server.platform.blocking = std::max(server.platform.blocking, overheads.blocking);
}

std::string text_of(const RunOverheads& overheads) {
  std::string text;
  if (overheads.charged) {
    text = charged_text(overheads);
  } else {
    for (const sim::OverheadInfo& info : sim::overhead_infos) add_cost(overheads, info, text);
    if (!text.empty()) text.insert(0, "overheads not charged by the analysis: ");
  }
  if (overheads.blocking == Duration::zero()) return text;
  return text + (text.empty() ? "" : "; ") + "wake-ups " + to_string(overheads.blocking) + " late, " +
         (overheads.charged ? "charged as blocking, and " : "") + "not simulated";
}

}  // namespace corelane::eval
