// Listener: where channels are set up: a Unix socket (SOCK_SEQPACKET) at a path, or at an abstract name "@name", which
// leaves no file but is open to everybody who shares the network namespace (the access list still holds).
//
// Threads: one accepts at a time; not a real-time one. The path is this process's until the listener goes, by a lock on
// a file beside it ("<path>.lock"); a killed process's socket is taken over.
#pragma once

#include <string>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/channel/channel.h"
#include "orb/os/fd.h"

namespace corelane::channel {

class Listener {
 public:
  // address: the path is longer than 107 bytes, taken, or not to be written. The file is for this user alone unless the
  // access list names others.
  static Expected<Listener, SetupFault> listen(const std::string& path, const Options& options);
  Listener(Listener&& other) noexcept = default;
  ~Listener();

  // The next who connects and is welcome, or why he was not; he is told too. One who says nothing holds up the others
  // for handshake_time at most.
  Expected<Channel, SetupFault> accept(Time deadline);
  // The connection alone, for accept_over() elsewhere.
  Expected<os::Fd, SetupFault> accept_socket(Time deadline);

  const std::string& path() const noexcept { return path_; }
  // Readable when somebody connects. Constant.
  int descriptor() const noexcept { return socket_.get(); }

  static constexpr std::chrono::seconds handshake_time{2};

 private:
  Listener(std::string path, const Options& options) : path_(std::move(path)), options_(options) {}

  std::string path_;
  Options options_;
  os::Fd lock_, file_, socket_;
};

// A socket that is connected to the listener at the path. Blocks until `deadline` while its queue is full.
Expected<os::Fd, SetupFault> connect_socket(const std::string& path, Time deadline);

}  // namespace corelane::channel
