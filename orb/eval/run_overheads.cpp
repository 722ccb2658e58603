#include "orb/eval/run_overheads.h"

#include <algorithm>
#include <chrono>

#include "orb/base/contract.h"

namespace corelane::eval {
namespace {

Duration cost_of_one(const RunOverheads& overheads, sim::OverheadKind kind) {
  return sim::cost_of(overheads.costs, kind).most();
}

Duration up_to_microseconds(Duration time) { return std::chrono::ceil<std::chrono::microseconds>(time); }

// Adds "hop 20us" if it costs something.
void add_cost(const RunOverheads& overheads, sim::OverheadKind kind, std::string& text) {
  const Duration cost = cost_of_one(overheads, kind);
  if (cost == Duration::zero()) return;
  text += (text.empty() ? "" : ", ") + std::string(sim::name_of(kind)) + " " + to_string(cost);
  if (overheads.charged && kind == sim::OverheadKind::dispatch) text += " twice";
}

std::string charged_text(const RunOverheads& overheads) {
  std::string listed, text, rest;
  for (const sim::OverheadKind kind : sim::overhead_kinds)
    add_cost(overheads, kind, kind == sim::OverheadKind::migration ? rest : listed);
  if (!listed.empty())
    text = "overheads charged by the analysis: " + listed + "; " + to_string(overheads.per_job()) +
           " on top of each budget";
  if (!rest.empty()) text += (text.empty() ? "overheads " : "; ") + std::string("not charged by the analysis: ") + rest;
  return text;
}

}  // namespace

Duration RunOverheads::per_job() const {
  using Kind = sim::OverheadKind;
  return up_to_microseconds(cost_of_one(*this, Kind::release) + cost_of_one(*this, Kind::hop) +
                            2 * cost_of_one(*this, Kind::dispatch) + cost_of_one(*this, Kind::preemption));
}

RunOverheads run_overheads(const Scenario& scenario, std::size_t tasks) {
  const OverheadFields& fields = scenario.overheads;
  RunOverheads overheads{.charged = fields.charged};
  if (fields.measured) {
    overheads.costs = costs_of(*fields.measured, tasks);
    overheads.blocking = up_to_microseconds(fields.measured->card.wake_up);
  }
  if (fields.release) overheads.costs.release = *fields.release;
  if (fields.dispatch) overheads.costs.dispatch = *fields.dispatch;
  if (fields.hop) overheads.costs.hop = *fields.hop;
  if (fields.preemption) overheads.costs.preemption = *fields.preemption;
  if (fields.migration) overheads.costs.migration = *fields.migration;
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
    for (const sim::OverheadKind kind : sim::overhead_kinds) add_cost(overheads, kind, text);
    if (!text.empty()) text.insert(0, "overheads not charged by the analysis: ");
  }
  if (overheads.blocking == Duration::zero()) return text;
  return text + (text.empty() ? "" : "; ") + "wake-ups " + to_string(overheads.blocking) + " late, " +
         (overheads.charged ? "charged as blocking, and " : "") + "not simulated";
}

}  // namespace corelane::eval
