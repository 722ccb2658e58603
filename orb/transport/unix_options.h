// UnixOptions says how a process listens at Unix sockets, and which servers it trusts at those that it calls.
// Threads: values.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace corelane::transport {

struct UnixOptions {
  // Where the transport chooses paths for listening endpoints that have none. The directory is made when first needed.
  std::string directory{};
  mode_t mode = 0600;  // of a listening socket: users that may write to it may connect
  // Well-known paths of servers. A server at such a path is called only if root, this user or a trusted user runs it.
  // Otherwise the error is not_trusted.
  std::vector<std::string> guarded{};
  std::vector<uid_t> trusted{};
};

}  // namespace corelane::transport
