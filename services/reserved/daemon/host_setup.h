// HostSetup holds what the daemon uses on this host: the control-group hierarchies, the process table and the journal.
// It proposes backends. Everything is chosen once, at start.
// Threads: one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/os/machine/topology.h"
#include "services/reserved/backends/backend.h"
#include "services/reserved/daemon/settings.h"

namespace corelane::reserved {

class HostSetup {
 public:
  // Locks the journal in the directory. An error's text says how to fix it.
  static Done<std::unique_ptr<HostSetup>> open(const DaemonSettings& settings, const std::string& directory);

  // Undoes the changes that are in the journal. Returns a text for each one that could not be undone.
  std::vector<std::string> put_back();

  // A backend that the settings allow, and the cores of the host that it can use. candidates() lists the best first.
  struct Candidate {
    std::unique_ptr<Backend> backend;
    std::vector<os::CoreInfo> cores;
  };
  std::vector<Candidate> candidates(const std::vector<os::CoreInfo>& cores);

  const Host& host() const noexcept { return host_; }
  // Returns "/proc/irq", or "" if the daemon must leave interrupts alone.
  std::string interrupts() const { return settings_.interrupts && settings_.processes == 0 ? "/proc/irq" : ""; }

 private:
  HostSetup(DaemonSettings settings, Journal journal);

  const DaemonSettings settings_;
  const Mounts mounts_;
  MountedGroups cpuset_, cpu_, unified_, memory_, blkio_, resctrl_, disks_{"/sys/block"};
  HostProcesses processes_;
  Journal journal_;
  Host host_;
};

}  // namespace corelane::reserved
