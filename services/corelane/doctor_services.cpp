// Corelane's own: the directory in which servers meet, and the daemons.
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

Finding look_at_nameserver(const HostView& host) {
  Finding finding{.name = "nameserver", .found = "runs"};
  if (host.facts.nameserver) return finding;
  finding.state = FindingState::missing;
  finding.found = "none runs on this host";
  finding.cost = "names lead nowhere (corbaname:rir:#..., corelane ns), unless naming.service names another host's";
  finding.commands.push_back("corelane-nameserver &");
  return finding;
}

Finding look_at_reserved(const HostView& host) {
  Finding finding{.name = "reservation daemon", .found = "runs: corelane cores"};
  if (host.facts.reserved) return finding;
  finding.state = FindingState::missing;
  finding.found = "none runs on this host";
  finding.cost = "corelane reserve has nobody to ask: no program can have a core for itself";
  finding.commands.push_back(host.as_root("corelane-reserved &"));
  return finding;
}

}  // namespace

std::span<const Check> service_checks() {
  static constexpr Check table[] = {
      {unsigned(Purpose::tasks), &look_at_runtime_directory},
      {unsigned(Purpose::services), &look_at_nameserver},
      {unsigned(Purpose::services) | unsigned(Purpose::reserve), &look_at_reserved},
  };
  return table;
}

}  // namespace corelane::tool
