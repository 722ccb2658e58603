// HostView identifies the host and the file system of a process. From it a client can tell whether it can reach a
// server through Unix sockets and channels.
// Threads: values; of_process() reads /proc at its first call.
#pragma once

#include <cstdint>
#include <string>

namespace corelane::transport {

struct HostView {
  std::string boot_id;                // of the kernel
  std::uint64_t mount_namespace = 0;  // processes with equal values see the same files
  std::string name{};                 // of the host; omniORB compares only this

  static const HostView& of_process();
};

// Says whether a server can be reached through a Unix socket, and if not, why.
enum class SameHost : std::uint8_t { yes, no_socket_named, other_host, other_namespace };

}  // namespace corelane::transport
