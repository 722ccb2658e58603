// PeerWatch tells which process is at the other end, and whether it still lives. It keeps the socket over which the
// channel was set up for as long as the channel lives. The kernel hangs the socket up when the peer's last descriptor
// of it is closed, at the latest when the peer's process ends, however it ends. If a forked child of the peer still
// holds the socket, a pidfd reports the end of the process.
// Threads: any; constant after construction.
#pragma once

#include <cstdint>

#include "orb/os/fd.h"
#include "orb/os/peers/passed_descriptors.h"

namespace corelane::channel {

// The process that called connect() or listen(), as the kernel reports it.
struct Peer {
  std::int32_t process = 0;  // its number in the pid namespace of this process; 0: it is not visible from here
  std::uint32_t user = 0;
  std::uint32_t group = 0;

  friend bool operator==(const Peer&, const Peer&) = default;
};

// The process that a peer claims to be.
struct ProcessClaim {
  std::int32_t number = 0;        // in its own pid namespace
  std::uint64_t start_ticks = 0;  // counted in its own time namespace; 0: unknown
};

class PeerWatch {
 public:
  PeerWatch() = default;
  // From now on the kernel refuses descriptors on the socket (Linux 6.16).
  // The credentials are those of the process that called listen(). That may be a parent, whose life says nothing about
  // the peer. So the process is watched only if it is the claimed one, as far as its namespace is visible from here.
  // Reads /proc.
  PeerWatch(os::PeerSocket socket, const ProcessClaim& claim);

  // One system call.
  bool is_gone() const noexcept;
  const Peer& peer() const noexcept { return peer_; }
  int socket() const noexcept { return socket_.get(); }
  // Returns a descriptor that is readable once the process has ended; -1: it is not visible.
  int process_descriptor() const noexcept { return process_.get(); }
  // Returns whether there is a pidfd. There is none on an old kernel, for a peer whose pid namespace is not visible
  // from here, and for an inherited listener. Then only the socket reports the peer's end.
  bool sees_process() const noexcept { return bool(process_); }

 private:
  os::PeerSocket socket_;
  os::Fd process_;
  Peer peer_;
};

// Returns the peer at the other end of a Unix socket.
Peer peer_of(const os::Fd& socket) noexcept;

}  // namespace corelane::channel
