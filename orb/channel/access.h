// Who may be at the other end of a channel.
// Threads: values.
#pragma once

#include <sys/types.h>

#include <vector>

namespace corelane::channel {

// By the credentials that the kernel gives. The user of this process always may.
struct Access {
  std::vector<uid_t> users{};
  std::vector<gid_t> groups{};  // primary ones
  bool anyone = false;

  bool names_others() const noexcept { return anyone || !users.empty() || !groups.empty(); }
  friend bool operator==(const Access&, const Access&) = default;
};

}  // namespace corelane::channel
