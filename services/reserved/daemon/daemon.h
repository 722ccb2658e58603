// Daemon: corelane-reserved, from its settings to its end.
// Threads: run_daemon() on the program's main thread.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/settings.h"

namespace corelane::reserved {

inline constexpr const char* reference_file = "reserved.ior";      // in the runtime directory
inline constexpr const char* well_known_key = "CorelaneReserved";  // of the object: references outlive the program

// What cannot be meant, whatever the host is doing; "": nothing. Reads which processes and cores there are.
std::string fault_of(const core::ReservedSettings& settings);

// Serves until SIGTERM, SIGINT or SIGHUP; the caller has blocked them (block_end_signals()). Puts the host back as it
// was found, however it ends. The text of a fault says how to mend it. `words`: the -ORB options that `settings` were
// read from, for the daemon's ORB. Raises what ORB_init raises; NO_RESOURCES where the system gives no thread or no
// descriptor.
Expected<void, std::string> run_daemon(const std::vector<std::string>& words, core::Settings settings);

}  // namespace corelane::reserved
