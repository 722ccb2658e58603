// corelane-reserved as a function: run_daemon() runs it from its settings to its end.
// Threads: run_daemon() on the program's main thread.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"
#include "services/reserved/daemon/settings.h"

namespace corelane::reserved {

inline constexpr const char* reference_file = "reserved.ior";  // in the runtime directory
// Key of the servant's object. It makes references stay valid after a restart.
inline constexpr const char* well_known_key = "CorelaneReserved";

// Returns what is wrong with the settings on this host; "" if nothing is. Reads which processes and cores exist.
std::string fault_of(const DaemonSettings& settings);

// Serves until SIGTERM, SIGINT or SIGHUP. The caller has blocked these signals (block_end_signals()). Restores the host
// however it ends. `words` are the -ORB options from which `settings` was read; the daemon's ORB gets them. An error's
// text says how to fix it. Raises what ORB_init raises, and NO_RESOURCES if the system gives no thread or no file
// descriptor.
Expected<void, std::string> run_daemon(const std::vector<std::string>& words, core::Settings settings);

}  // namespace corelane::reserved
