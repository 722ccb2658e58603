// Corelane's own: the directory in which servers meet.
#include "services/corelane/finding.h"

namespace corelane::tool {
namespace {

Finding look_at_runtime_directory(const HostView& host) {
  Finding finding{.name = "runtime directory", .found = host.facts.runtime_directory};
  if (host.facts.runtime_fault.empty()) return finding;
  finding.state = FindingState::missing;
  finding.found = host.facts.runtime_fault;
  finding.cost = "servers do not start: they promise cores only where they see what the others promised";
  finding.commands.push_back("export CORELANE_RUNTIME_DIRECTORY=$HOME/.corelane");
  finding.note = "the same for all servers of this host that share cores";
  return finding;
}

}  // namespace

std::span<const Check> service_checks() {
  static constexpr Check table[] = {
      {unsigned(Purpose::tasks), &look_at_runtime_directory},
  };
  return table;
}

}  // namespace corelane::tool
