// PeerWatch: who is at the other end, and whether it still lives. It keeps the socket over which the channel was set up
// for as long as the channel lives: the kernel hangs it up when the peer's last descriptor of it goes, at the latest
// when the peer's process ends, however it ends. A pidfd says the same where a forked child of the peer still holds the
// socket.
// Threads: any; constant after construction.
#pragma once

#include <cstdint>

#include "orb/os/fd.h"
#include "orb/os/passed_descriptors.h"

namespace corelane::channel {

// As the kernel says: whoever called connect() or listen().
struct Peer {
  std::int32_t process = 0;  // as this process's namespace numbers it; 0: not to be seen from here
  std::uint32_t user = 0;
  std::uint32_t group = 0;

  friend bool operator==(const Peer&, const Peer&) = default;
};

// Whom a peer says it is.
struct ProcessClaim {
  std::int32_t number = 0;        // in its own namespace of processes
  std::uint64_t start_ticks = 0;  // as its own time namespace counts them; 0: unknown
};

class PeerWatch {
 public:
  PeerWatch() = default;
  // From here on the kernel refuses descriptors on the socket (Linux 6.16). The credentials are those of whoever called
  // listen(), and may be of a parent whose life says nothing: the process is watched only if it is the claimed one, as
  // far as its namespace is seen from here. Reads /proc.
  PeerWatch(os::PeerSocket socket, const ProcessClaim& claim);

  // One system call.
  bool is_gone() const noexcept;
  const Peer& peer() const noexcept { return peer_; }
  int socket() const noexcept { return socket_.get(); }
  int process_descriptor() const noexcept { return process_.get(); }  // readable once it has ended; -1: not seen
  // Without a pidfd (an old kernel, a peer whose namespace of processes is not seen from here, an inherited listener)
  // only the socket tells.
  bool sees_process() const noexcept { return bool(process_); }

 private:
  os::PeerSocket socket_;
  os::Fd process_;
  Peer peer_;
};

// Of whoever is at the other end of a Unix socket.
Peer peer_of(const os::Fd& socket) noexcept;

}  // namespace corelane::channel
