#include "orb/eval/report/policy_table.h"

#include <string_view>

#include "orb/base/registry.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/task_order.h"

namespace corelane::eval {
namespace {

std::string_view text_of(sched::Scheduling scheduling) {
  switch (scheduling) {
    case sched::Scheduling::priorities:
      return "each by priorities";
    case sched::Scheduling::deadlines:
      return "each by deadlines";
    case sched::Scheduling::global_priorities:
      return "together, by priorities";
    case sched::Scheduling::global_deadlines:
      return "together, by deadlines";
  }
  return {};
}

std::string usable_cells(const sched::UsableIn& usable) {
  std::string text;
  for (const bool works : {usable.analysis, usable.simulator, usable.server}) text += works ? " yes |" : " no |";
  return text;
}

std::string line_start(std::string_view name) { return "| `" + std::string(name) + "` |"; }

std::string tests_table() {
  std::string text =
      "| `policy.test`, `dispatch.admission` | cores run | analysis | simulator | server | what it does |\n"
      "|---|---|---|---|---|---|\n";
  for (const sched::AdmissionTest* const test : sched::admission_tests()) {
    text += line_start(test->name) + " " + std::string(text_of(test->scheduling)) + " |" +
            usable_cells(test->usable_in) + " " + std::string(test->help);
    if (!test->instead.empty()) text += ". Instead: " + std::string(test->instead);
    text += " |\n";
  }
  return text + "\n";
}

template <typename Entry>
std::string plain_table(std::string_view heading, Registry<Entry> registry) {
  std::string text = "| " + std::string(heading) +
                     " | analysis | simulator | server | what comes first |\n"
                     "|---|---|---|---|---|\n";
  for (const Entry* const entry : registry)
    text += line_start(entry->name) + usable_cells(entry->usable_in) + " " + std::string(entry->help) + " |\n";
  return text + "\n";
}

}  // namespace

std::string policy_documentation() {
  return tests_table() + plain_table("`policy.allocation`, `dispatch.allocation`", sched::allocation_strategies()) +
         plain_table("`policy.order`", sched::task_orders());
}

}  // namespace corelane::eval
