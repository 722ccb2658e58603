// SocketPath is the exclusive right to a file-system path for a listening Unix socket. It owns the socket's file there.
//
// A lock file beside the socket (path + ".lock", locked by its open file description) shows that a server lives. The
// kernel drops the lock with the process, also after kill -9. The holder of the lock may remove a socket at which no
// server listens. It never displaces a live server, even one that does not use lock files. It never removes a file that
// is not a socket, or a lock file with content: our lock files are empty. Destruction, or the end of the process,
// removes both files, if they are still the ones that it made (OwnFile). Threads: any but real-time ones.
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

// The most bytes of a Unix socket's path: what sockaddr_un holds besides the final NUL.
inline constexpr std::size_t longest_unix_path = sizeof(sockaddr_un::sun_path) - 1;

struct UnixAddress {
  sockaddr_un native{};
  socklen_t length = 0;
  const sockaddr* generic() const noexcept { return reinterpret_cast<const sockaddr*>(&native); }
};

// Returns the address of a socket's file, or of an abstract name, which begins with "@". Nothing if the text is neither
// or too long.
std::optional<UnixAddress> unix_address(const std::string& path) noexcept;

// Why a path cannot be claimed, for a program and for the person who configured it.
struct PathRefusal {
  Error error;  // COMM_FAILURE address_in_use, BAD_PARAM bad_address or system_refused, NO_RESOURCES no_descriptor
  std::string path;
  std::string why;  // cause and remedy
};

class SocketPath {
 public:
  // Claims `path`, which is absolute and at most longest_unix_path bytes. Removes a socket that an ended server left
  // there.
  static Expected<SocketPath, PathRefusal> claim(std::string path);
  // Claims a free path of the form <directory>/<process>.<random number>.sock, which no other process ever has. Makes
  // the directory if necessary, and removes what dead servers left in it.
  static Expected<SocketPath, PathRefusal> choose(const std::string& directory);

  // Returns a listening, non-blocking socket at the path; removes its file again if that fails. `mode` says who may
  // connect; `type` is SOCK_STREAM or SOCK_SEQPACKET. Call it once.
  Expected<Fd, PathRefusal> listen(mode_t mode, int type = SOCK_STREAM);
  const std::string& path() const noexcept { return path_; }

 private:
  SocketPath(std::string path, OwnFile lock) : path_(std::move(path)), lock_(std::move(lock)) {}

  std::string path_;
  OwnFile lock_;
  std::optional<OwnFile> bound_;  // the socket's file, made by listen(); removed before the lock
};

}  // namespace corelane::os
