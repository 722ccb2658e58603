// How many sockets this process has open, and how many of them wait for this process since their peer has ended them.
// Threads: any; others must not open or close any meanwhile for the number to mean something.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace corelane::testing {

inline std::vector<int> open_sockets() {
  std::vector<int> found;
  std::error_code gone;  // the directory's own descriptor, and those that others close
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    if (std::filesystem::read_symlink(entry, gone).string().starts_with("socket:"))
      found.push_back(std::atoi(entry.path().filename().c_str()));
  return found;
}

// Over TCP.
inline std::size_t sockets_in_close_wait() {
  std::size_t count = 0;
  for (const int fd : open_sockets()) {
    tcp_info info{};
    socklen_t size = sizeof info;
    count += getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_CLOSE_WAIT;
  }
  return count;
}

}  // namespace corelane::testing
