// Unaccepted: the channels that were sent to somebody who has not received them yet, and who asked for each. While a
// descriptor is under way it counts against a limit of the system that all processes of the sender's user share
// (unix(7), ETOOMANYREFS), so that whoever receives nothing could stop channels for everybody.
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
  // A packet with a descriptor was sent, for `asker`.
  void add(uid_t asker) { askers_.push_back(asker); }
  // Forgets what has been received. `socket`: that over which all were sent, in this order.
  void look(const os::Fd& socket);

  std::size_t size() const noexcept { return askers_.size(); }
  std::size_t of(uid_t asker) const;

 private:
  std::deque<uid_t> askers_;  // oldest first
};

}  // namespace corelane::nameserver
