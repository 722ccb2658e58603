// What systemd is told (sd_notify(3)), by its protocol: a datagram to the socket that NOTIFY_SOCKET names. Without one
// nothing happens.
// Threads: any.
#pragma once

#include <string>

#include "orb/base/time.h"

namespace corelane::reserved {

// "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=...". False: nobody was told.
bool notify_manager(const std::string& state);
// How often systemd wants to hear WATCHDOG=1 (WATCHDOG_USEC); zero: not at all.
Duration watchdog_period();

}  // namespace corelane::reserved
