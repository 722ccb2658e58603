// Listening sockets that systemd opened and passed on (socket activation, sd_listen_fds(3)): the service is started
// when somebody connects, and those who connect while it starts anew wait for it. Threads: any.
#pragma once

#include <string>

#include "orb/os/fd.h"

namespace corelane::os {

// The one that listens at that path (SOCK_STREAM); none where none was passed, or it was taken already. It does not
// block, and is not passed on again. Its file is systemd's: it stays.
Fd take_passed_socket(const std::string& path);

}  // namespace corelane::os
