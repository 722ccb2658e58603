// Daemon: corelane-reserved, from its settings to its end.
// Threads: run() on the program's main thread.
#pragma once

#include <string>
#include <vector>

#include "orb/base/expected.h"

namespace corelane::reserved {

inline constexpr const char* reference_file = "reserved.ior";      // in the runtime directory
inline constexpr const char* well_known_key = "CorelaneReserved";  // of the object: references outlive the program

// Serves until SIGTERM or SIGINT. Puts the host back as it was found. The text of a fault says how to mend it. `words`:
// those of the command line behind the program's name, -ORB options alone.
Expected<void, std::string> run_daemon(std::vector<std::string> words);

}  // namespace corelane::reserved
