// Sends messages to systemd, as sd_notify(3) does: a datagram to the socket that NOTIFY_SOCKET names. Does nothing if
// the variable is not set.
// Threads: any.
#pragma once

#include <string>

#include "orb/base/time.h"

namespace corelane::reserved {

// Sends a state such as "READY=1", "STOPPING=1", "WATCHDOG=1" or "STATUS=...". Returns false if it was not sent.
bool notify_manager(const std::string& state);
// Returns how often systemd expects WATCHDOG=1 (WATCHDOG_USEC); zero: never.
Duration watchdog_period();

}  // namespace corelane::reserved
