// Listener accepts connections at an address and sets up channels with them. The address is a Unix socket
// (SOCK_SEQPACKET) at a path, or at an abstract name "@name". An abstract name leaves no file, but every process in the
// network namespace can connect to it. The access list applies there, too.
//
// Threads: one accepts at a time; not a real-time one. This process holds the path until the listener is destroyed
// (orb/os/socket_path.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/channel.h"
#include "orb/os/fd.h"
#include "orb/os/process/descriptor_limit.h"
#include "orb/os/socket_path.h"

namespace corelane::channel {

class Listener {
 public:
  // address: the path is longer than 107 bytes, taken, or not writable. The file is for this user alone unless the
  // access list names others.
  static Expected<Listener, SetupFault> listen(const std::string& path, const Options& options);
  // Makes a listener of a listening, non-blocking socket of that kind. The caller has made it at the path, and removes
  // it.
  static Listener over(os::Fd socket, const std::string& path, const Options& options);
  Listener(Listener&& other) noexcept;
  ~Listener();

  // Returns the next channel that is set up, or the fault of one that was not. The peer is told of that fault, too.
  // Handshakes run side by side, also across calls. A silent peer delays no other, and is given up after
  // Options::handshake.
  // While no descriptor is left, and Options::free_descriptors frees none, new connections are refused with `denied`.
  // The peers are told so. Handshakes in progress continue and end. A peer that is not on the access list is refused
  // when it connects, before room is made for it. Faults of handshakes name the peer.
  Expected<Channel, SetupFault> accept(Time deadline);
  // Returns the connection alone, for accept_over() elsewhere.
  Expected<os::Fd, SetupFault> accept_socket(Time deadline);

  const std::string& path() const noexcept { return path_; }
  // Stops the listener: from now on nobody can connect, and accept() ends with `stopped`. Thread: any; idempotent.
  void stop() noexcept;

  // Returns a descriptor that is readable when a peer connects. Constant.
  int descriptor() const noexcept { return socket_.get(); }

  // The most handshakes that run side by side. For one more, the user who has most of them loses the oldest one. So one
  // user alone cannot keep others out.
  static constexpr std::size_t most_handshakes = 64;

 private:
  struct Pending;

  Listener(std::string path, const Options& options);
  static Expected<Listener, SetupFault> listen_at_file(const std::string& path, const Options& options);
  Time earliest(Time deadline) const noexcept;
  Expected<void, SetupFault> take_connection();
  Expected<void, SetupFault> take_in(os::PeerSocket incoming);
  Expected<os::PeerSocket, SetupFault> accept_connection();
  Expected<os::PeerSocket, SetupFault> accept_by_spare(int lack);
  Expected<os::PeerSocket, SetupFault> accept_waiting();
  Expected<void, SetupFault> place_for(const os::Fd& incoming, int lack);
  std::optional<Expected<Channel, SetupFault>> advance(std::size_t index);
  std::optional<SetupFault> give_up_late();
  SetupFault give_up_oldest();

  std::string path_;
  Options options_;
  os::Fd socket_;
  std::optional<os::SocketPath> file_;  // destroyed before its socket
  // Owner: the thread that accepts.
  os::SpareDescriptor spare_;
  std::vector<Pending> pending_;
};

// Returns a socket that is connected to the listener at the path. Blocks until `deadline` while the listener's queue is
// full.
Expected<os::Fd, SetupFault> connect_socket(const std::string& path, Time deadline);

}  // namespace corelane::channel
