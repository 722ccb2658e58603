// SocketPath: the right to one path of the file system for a listening Unix socket, and the socket's file there.
//
// A lock file beside the socket (path + ".lock", locked by its open file description) says that a server lives; the
// kernel drops the lock with the process, also after kill -9. Whoever holds it may remove a socket that nobody listens
// at any more. A live server is never displaced, nor one that knows nothing of the lock file, nor a file that is no
// socket, nor a file in the lock's place that says something: our locks are empty. Destruction removes both files, as
// far as they are those that were made. Threads: any but real-time ones.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "orb/base/expected.h"
#include "orb/os/fd.h"

namespace corelane::transport {

// Why a path is not to be had, for a program and for whoever configured it.
struct PathRefusal {
  Error error;  // COMM_FAILURE address_in_use, BAD_PARAM bad_address or system_refused, NO_RESOURCES no_descriptor
  std::string path;
  std::string why;  // cause and remedy
};
// As a line of the log: "cannot listen at <kind>:<path>: why".
Error logged(const PathRefusal& refusal, std::string_view kind);

class SocketPath {
 public:
  // `path` is absolute and at most longest_unix_path bytes.
  static Expected<SocketPath, PathRefusal> claim(std::string path);
  // The first free path of the form <directory>/<process>.<number>.sock. Makes the directory if need be; clears away
  // what dead servers left in it.
  static Expected<SocketPath, PathRefusal> choose(const std::string& directory);

  SocketPath(SocketPath&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)), bound_(std::move(other.bound_)) {}
  SocketPath& operator=(SocketPath&&) = delete;
  ~SocketPath();

  // A listening socket at the path that does not block; `mode` says who may connect, `type` is SOCK_STREAM or
  // SOCK_SEQPACKET. Once.
  Expected<os::Fd, PathRefusal> listen(mode_t mode, int type = SOCK_STREAM);
  const std::string& path() const noexcept { return path_; }

 private:
  SocketPath(std::string path, os::Fd lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  os::Fd lock_;
  os::Fd bound_;  // the file that listen() made, not its socket: while it is open its inode is nobody else's
};

}  // namespace corelane::transport
