// wait_for_socket(): until a socket is ready, a deadline has passed or somebody wants the wait to end.
// Thread: any; no state.
#pragma once

#include "orb/base/time.h"

namespace corelane::nameserver {

enum class SocketWait : unsigned char { ready, too_late, stopped };

// `events` as poll() has them; errors of the socket count as ready. `stop` is readable once the wait is to end.
SocketWait wait_for_socket(int socket, short events, int stop, Time deadline);

}  // namespace corelane::nameserver
