// EndSignals: SIGTERM, SIGINT and SIGHUP (the terminal was closed) end the daemon's ORB, so that run() returns and the
// host is put back. They are blocked for as long as the process lives: one that comes during the start waits until the
// ORB runs, and further ones change nothing while the host is put back.
//
// Threads: one for the wait; made and destroyed by one thread.
#pragma once

#include <memory>
#include <thread>

#include "orb/core/orb.h"
#include "orb/os/fd.h"

namespace corelane::reserved {

// Blocks these signals, but for those that the process ignores (nohup), for the calling thread and all that it starts:
// to be called while there is one thread. Also SIGPIPE: a log that nobody reads any more is no reason to end.
void block_end_signals();

class EndSignals {
 public:
  // Takes those that were blocked. Raises NO_RESOURCES when the system gives no descriptor or no thread.
  explicit EndSignals(core::Orb& orb);
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals();

 private:
  void wait() const;

  const std::shared_ptr<core::Orb> orb_;
  os::Fd signals_, stop_;
  std::thread waiter_;
};

}  // namespace corelane::reserved
