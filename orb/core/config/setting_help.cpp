#include "orb/core/config/setting_help.h"

#include <string>

#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/transport/endpoint.h"
#include "orb/transport/transport_kind.h"

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

std::string_view listen_help() {
  static const std::string help =
      "Where a server listens, separated by commas. " + transport::endpoint_help() + ". References name all of them";
  return help;
}

std::string_view local_help() {
  static const std::string help = [] {
    std::string local;
    for (const auto* const kind : transport::transport_kinds())
      if (kind->of_this_host) local.append(local.empty() ? "" : " and ").append(kind->prefix);
    return "on: a server that listens for clients of other hosts also offers " + local +
           " to those of its own host. off: only what endpoint.listen says";
  }();
  return help;
}

}  // namespace corelane::core
