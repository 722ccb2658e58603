// SocketPath: the right to one path of the file system for a listening Unix socket, and the socket's file there.
//
// A lock file beside the socket (path + ".lock", locked by its open file description) says that a server lives; the
// kernel drops the lock with the process, also after kill -9. Whoever holds it may remove a socket that nobody listens
// at any more. A live server is never displaced, nor one that knows nothing of the lock file, nor a file that is no
// socket, nor a file in the lock's place that says something: our locks are empty. Destruction, or the end of the
// process, removes both files, as far as they are those that were made (OwnFile). Threads: any but real-time ones.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <string>

#include "orb/base/expected.h"
#include "orb/os/fd.h"
#include "orb/os/own_file.h"

namespace corelane::os {

// Bytes of a Unix socket's path at most: what sockaddr_un holds beside the final NUL.
inline constexpr std::size_t longest_unix_path = sizeof(sockaddr_un::sun_path) - 1;

struct UnixAddress {
  sockaddr_un native{};
  socklen_t length = 0;
  const sockaddr* generic() const noexcept { return reinterpret_cast<const sockaddr*>(&native); }
};

// Of a socket's file, or of an abstract name, which begins with "@". Nothing when it is neither, or too long.
std::optional<UnixAddress> unix_address(const std::string& path) noexcept;

// Why a path is not to be had, for a program and for whoever configured it.
struct PathRefusal {
  Error error;  // COMM_FAILURE address_in_use, BAD_PARAM bad_address or system_refused, NO_RESOURCES no_descriptor
  std::string path;
  std::string why;  // cause and remedy
};

class SocketPath {
 public:
  // `path` is absolute and at most longest_unix_path bytes. What is left at it of a server that ended goes.
  static Expected<SocketPath, PathRefusal> claim(std::string path);
  // A free path of the form <directory>/<process>.<random number>.sock, which no other process ever has. Makes the
  // directory if need be; clears away what dead servers left in it.
  static Expected<SocketPath, PathRefusal> choose(const std::string& directory);

  // A listening socket at the path, whose file is gone again when that fails. It does not block; `mode` says who may
  // connect, `type` is SOCK_STREAM or SOCK_SEQPACKET. Once.
  Expected<Fd, PathRefusal> listen(mode_t mode, int type = SOCK_STREAM);
  const std::string& path() const noexcept { return path_; }

 private:
  SocketPath(std::string path, OwnFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  OwnFile lock_;
  std::optional<OwnFile> bound_;  // what listen() made: not the socket but its file, which goes before the lock
};

}  // namespace corelane::os
