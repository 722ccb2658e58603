#include "orb/eval/formats/left_out.h"

#include <algorithm>

#include "orb/base/text/counted.h"

namespace corelane::eval {

void LeftOut::add_what_only_toml_has(const ListedTask& task) {
  if (task.importance != 0) add("importance");
  if (task.on_overrun != "report") add("on_overrun");
  if (task.intensity != 0) add("intensity");
  if (task.arrival != "periodic") add("arrival");
  if (task.criticality != "low") add("criticality");
}

void LeftOut::add_what_only_toml_has(const Scenario& scenario) {
  const Platform& platform = scenario.platform;
  if (platform.budget || platform.blocking || platform.jitter || platform.capacity)
    say("the load and the capacity of the platform are left out");
  const Policy& policy = scenario.policy;
  if (!policy.allocation.empty() || !policy.test.empty() || !policy.dispatcher.empty()) say("the policy is left out");
  if (!scenario.slowdowns.empty()) say("the slowdowns are left out");
  const OverheadFields& overheads = scenario.overheads;
  if (!overheads.from.empty() || std::ranges::any_of(sim::overhead_infos, [&](const sim::OverheadInfo& info) {
        return sim::cost_of(overheads, info.kind).has_value();
      }))
    say("the overheads are left out");
}

std::vector<std::string> LeftOut::notes() const {
  std::vector<std::string> notes = sentences_;
  for (const auto& [what, count] : tasks_)
    notes.push_back("the " + what + " of " + counted(count, "task") + " is left out");
  return notes;
}

}  // namespace corelane::eval
