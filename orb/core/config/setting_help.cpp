#include "orb/core/config/setting_help.h"

#include <string>

#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"

namespace corelane::core {

std::string_view admission_help() {
  static const std::string help =
      "How it is decided whether a task is admitted. on: a task is refused if a deadline could be missed. off: no "
      "task is refused. Or the name of a test for cores with fixed priorities; " +
      std::string(sched::default_admission_test()->name) + " is the default. " + help_of(sched::admission_tests());
  return help;
}

std::string_view allocation_help() {
  static const std::string help =
      "The order in which the cores are tried for a task. A task is refused only if its deadlines hold on no core. " +
      help_of(sched::allocation_strategies());
  return help;
}

}  // namespace corelane::core
