// Unaccepted lists the channels that were sent to a process and not received yet, with the user that asked for each. A
// descriptor in flight counts against a limit of the system that all processes of the sender's user share (unix(7),
// ETOOMANYREFS). Without a limit of its own, a process that receives nothing could block channels for all others.
//
// Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>

#include "orb/os/fd.h"

namespace corelane::nameserver {

class Unaccepted {
 public:
  // Notes that a packet with a descriptor was sent on behalf of `asker`.
  void add(uid_t asker) { askers_.push_back(asker); }
  // Forgets what has been received. `socket` must be the one over which all were sent, in this order.
  void look(const os::Fd& socket);

  std::size_t size() const noexcept { return askers_.size(); }
  std::size_t of(uid_t asker) const;

 private:
  std::deque<uid_t> askers_;  // oldest first
};

}  // namespace corelane::nameserver
