// Listener: where channels are set up: a Unix socket (SOCK_SEQPACKET) at a path, or at an abstract name "@name", which
// leaves no file but is open to everybody who shares the network namespace (the access list still holds).
//
// Threads: one accepts at a time; not a real-time one. The path is this process's until the listener goes
// (orb/os/socket_path.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/channel.h"
#include "orb/os/descriptor_limit.h"
#include "orb/os/fd.h"
#include "orb/os/socket_path.h"

namespace corelane::channel {

class Listener {
 public:
  // address: the path is longer than 107 bytes, taken, or not to be written. The file is for this user alone unless the
  // access list names others.
  static Expected<Listener, SetupFault> listen(const std::string& path, const Options& options);
  // Over a listening socket of that kind that does not block and that somebody else made at the path, and removes.
  static Listener over(os::Fd socket, const std::string& path, const Options& options);
  Listener(Listener&& other) noexcept;
  ~Listener();

  // The next whose channel is set up, or why one was not; he is told too. Handshakes go on side by side, also from one
  // call to the next: one who says nothing holds up nobody, and is given up after Options::handshake. While no
  // descriptor is left, and Options::room_maker makes no room, newcomers are told so and turned away (`denied`);
  // handshakes go on, and end. Whom the access list does not let in is turned away when he connects, before anybody
  // makes room for him. Faults of handshakes say whose they were.
  Expected<Channel, SetupFault> accept(Time deadline);
  // The connection alone, for accept_over() elsewhere.
  Expected<os::Fd, SetupFault> accept_socket(Time deadline);

  const std::string& path() const noexcept { return path_; }
  // Nobody connects any more, and accept() ends with `stopped`. Thread: any; idempotent.
  void stop() noexcept;

  // Readable when somebody connects. Constant.
  int descriptor() const noexcept { return socket_.get(); }

  // Side by side. For one more the oldest goes of the user who has most of them: one user alone cannot keep others out.
  static constexpr std::size_t most_handshakes = 64;

 private:
  struct Pending;

  Listener(std::string path, const Options& options);
  static Expected<Listener, SetupFault> listen_at_file(const std::string& path, const Options& options);
  Time earliest(Time deadline) const noexcept;
  Expected<void, SetupFault> take_newcomer();
  Expected<void, SetupFault> take_in(os::PeerSocket newcomer);
  Expected<os::PeerSocket, SetupFault> accept_newcomer();
  Expected<os::PeerSocket, SetupFault> accept_by_spare(int lack);
  Expected<os::PeerSocket, SetupFault> accept_waiting();
  Expected<void, SetupFault> place_for(const os::Fd& newcomer, int lack);
  std::optional<Expected<Channel, SetupFault>> advance(std::size_t index);
  std::optional<SetupFault> give_up_late();
  SetupFault give_up_oldest();

  std::string path_;
  Options options_;
  os::Fd socket_;
  std::optional<os::SocketPath> file_;  // goes before its socket
  // Owner: who accepts.
  os::SpareDescriptor spare_;
  std::vector<Pending> pending_;
};

// A socket that is connected to the listener at the path. Blocks until `deadline` while its queue is full.
Expected<os::Fd, SetupFault> connect_socket(const std::string& path, Time deadline);

}  // namespace corelane::channel
