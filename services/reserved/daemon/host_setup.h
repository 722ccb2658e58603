// What the daemon works with on this host: its hierarchies, its backend, its journal. Chosen once, at start.
// Threads: one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orb/core/settings.h"
#include "orb/os/topology.h"
#include "services/reserved/backends/backend.h"

namespace corelane::reserved {

class HostSetup {
 public:
  // Locks the journal in the directory. The text of a fault says how to mend it.
  static Done<std::unique_ptr<HostSetup>> open(const core::ReservedSettings& settings, const std::string& directory);

  // Puts back what is in the journal; what could not be is in the text.
  std::vector<std::string> put_back();

  // Backends that the settings allow, the best first, and which of the host's cores each has.
  struct Candidate {
    std::unique_ptr<Backend> backend;
    std::vector<os::CoreInfo> cores;
  };
  std::vector<Candidate> candidates(const std::vector<os::CoreInfo>& cores);

  const Host& host() const noexcept { return host_; }
  // "/proc/irq", or "" where interrupts are to be left alone.
  std::string interrupts() const { return settings_.interrupts && settings_.processes == 0 ? "/proc/irq" : ""; }

 private:
  HostSetup(core::ReservedSettings settings, Journal journal);

  const core::ReservedSettings settings_;
  const Mounts mounts_;
  MountedGroups cpuset_, cpu_, unified_, memory_, blkio_, resctrl_, disks_{"/sys/block"};
  HostProcesses processes_;
  Journal journal_;
  Host host_;
};

}  // namespace corelane::reserved
