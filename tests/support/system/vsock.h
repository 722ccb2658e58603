// why_no_vsock() tells whether a test can use vsock within this machine.
#pragma once

#include <linux/vm_sockets.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "orb/os/fd.h"

namespace corelane::testing {

// Returns why there is no loopback, CID 1; nothing: there is one.
inline std::optional<std::string> why_no_vsock() {
  const os::Fd probe(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!probe) return std::string("this kernel has no vsock: ") + std::strerror(errno);
  sockaddr_vm address{};
  address.svm_family = AF_VSOCK;
  address.svm_cid = VMADDR_CID_LOCAL;
  address.svm_port = VMADDR_PORT_ANY;
  if (bind(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return std::nullopt;
  return std::string("this kernel has no loopback of vsock (module vsock_loopback): ") + std::strerror(errno);
}

}  // namespace corelane::testing
