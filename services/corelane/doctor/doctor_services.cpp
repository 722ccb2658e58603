// Checks of Corelane's own services: the runtime directory that servers share, and the daemons.
#include "services/corelane/doctor/finding.h"

namespace corelane::tool {
namespace {

Finding look_at_runtime_directory(const HostView& host) {
  Finding finding{.name = "runtime directory", .found = host.facts.runtime_directory};
  if (!host.facts.runtime_is_there) finding.found += " does not exist yet; the first server makes it";
  finding.note = host.facts.runtime_remark;
  if (host.facts.runtime_fault.empty()) return finding;
  finding.state = FindingState::missing;
  finding.found = host.facts.runtime_fault;
  finding.cost = "servers do not start, because they promise cores only if they see the promises of the others";
  finding.commands.push_back("export CORELANE_RUNTIME_DIRECTORY=$HOME/.corelane");
  finding.note = "the same for all servers of this host that share cores";
  return finding;
}

std::string nobody_at(const std::vector<std::string>& places) {
  if (places.empty()) return "none: naming.socket is off";
  std::string text;
  for (const std::string& place : places) text += (text.empty() ? "no process listens at " : ", nor at ") + place;
  return text;
}

// Reports a stopped daemon, and how to continue it. Returns whether it was stopped.
bool is_told_stopped(Finding& finding, const Listening& daemon) {
  if (!daemon || !daemon.stopped) return false;
  finding.state = FindingState::missing;
  finding.found = stopped_text(daemon);
  finding.cost = "its callers wait until the call times out";
  finding.commands.push_back(go_on_command(daemon));
  return true;
}

// Reports a process of an untrusted user at the daemon's socket, and what to do. Returns whether there is one.
bool is_told_strange(Finding& finding, const Listening& daemon) {
  if (daemon.fault.empty()) return false;
  finding.state = FindingState::missing;
  finding.found = fault_text(daemon);
  finding.note =
      "its user or root can end it; where others may write to the directory, name another: CORELANE_RUNTIME_DIRECTORY";
  return true;
}

Finding with_trouble(Finding finding, const std::string& trouble) {
  finding.state = FindingState::missing;
  finding.cost = trouble;
  finding.commands.push_back("corelane ns status");
  return finding;
}

Finding look_at_nameserver(const HostView& host) {
  Finding finding{.name = "nameserver", .found = "listens at " + host.facts.nameserver.at};
  if (is_told_stopped(finding, host.facts.nameserver)) return finding;
  const NameserverLook& seen = host.facts.naming;
  if (!seen.answers.empty()) finding.found = seen.answers;
  if (!seen.trouble.empty()) return with_trouble(std::move(finding), seen.trouble);
  if (!seen.answers.empty() || (seen.absence.empty() && host.facts.nameserver)) return finding;
  finding.state = FindingState::missing;
  finding.found = seen.absence.empty() ? nobody_at(host.facts.nameserver_places) : seen.absence;
  finding.cost = "names lead nowhere (corbaname:rir:#..., corelane ns)";
  if (is_told_strange(finding, host.facts.nameserver)) return finding;
  if (seen.is_named)
    finding.note =
        "a setting names that one (naming.service, -ORBInitRef or -ORBDefaultInitRef): start it, or take the "
        "setting away for this host's";
  else
    finding.commands.push_back("corelane-nameserver" + host.facts.start_options + " &");
  return finding;
}

Finding look_at_reserved(const HostView& host) {
  Finding finding{.name = "reservation daemon", .found = "listens at " + host.facts.reserved.at + ": corelane cores"};
  if (is_told_stopped(finding, host.facts.reserved) || host.facts.reserved) return finding;
  finding.state = FindingState::missing;
  finding.found = nobody_at(host.facts.reserved_places);
  finding.cost =
      "corelane reserve cannot work without it: no program can have a core for itself. The daemon keeps all other "
      "programs off the cores that it gives, until it ends";
  if (is_told_strange(finding, host.facts.reserved)) return finding;
  finding.commands.push_back(host.start_reserved());
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
