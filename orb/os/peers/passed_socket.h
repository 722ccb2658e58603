// Takes listening sockets that systemd has opened and passed (socket activation, sd_listen_fds(3)). systemd starts the
// service when a client connects. Clients that connect while the service restarts wait for it. Threads: any.
#pragma once

#include <string>

#include "orb/os/fd.h"

namespace corelane::os {

// Returns the passed socket that listens at `path` (SOCK_STREAM); none if there is none or it was already taken. The
// socket does not block, and children do not inherit it. Its file belongs to systemd and stays.
Fd take_passed_socket(const std::string& path);

}  // namespace corelane::os
