// The settings of the reservation daemon; see docs/reservation.md and orb/base/settings/setting.h.
// Threads: values, and a constant table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/settings/setting.h"
#include "orb/channel/access.h"

namespace corelane::reserved {

struct DaemonSettings {
  enum class Backend : std::uint8_t { automatic, cgroup_v2, cgroup_v1, affinity };
  Backend backend = Backend::automatic;
  std::string root;           // the control group below which the daemon works; empty: the hierarchy's root
  int processes = 0;          // a process id: only it and its descendants may be moved; 0: all may
  std::vector<CoreId> keep;   // cores that are never reserved; empty: the first physical core
  channel::Access users;      // the users who may reserve, besides root and the daemon's user
  bool interrupts = true;     // whether the daemon moves interrupts off reserved cores
  unsigned memory_rest = 10;  // percent of the host's memory that cannot be reserved
};

SettingsOf<DaemonSettings> daemon_settings();

}  // namespace corelane::reserved
