// wait_for_socket() waits until a socket is ready, a deadline has passed, or the wait is stopped.
// Thread: any; no state.
#pragma once

#include "orb/base/time.h"

namespace corelane::nameserver {

enum class SocketWait : unsigned char { ready, too_late, stopped };

// `events` are those of poll(); errors of the socket count as ready. `stop` is readable when the wait must end.
SocketWait wait_for_socket(int socket, short events, int stop, Time deadline);

}  // namespace corelane::nameserver
