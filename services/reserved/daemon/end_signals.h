// EndSignals stops the daemon's ORB on SIGTERM, SIGINT and SIGHUP (the terminal was closed), so that run() returns and
// the host is restored. The signals stay blocked as long as the process lives. A signal that comes during the start
// waits until the ORB runs. More signals change nothing while the host is being restored.
//
// Threads: one waits for the signals. One thread makes and destroys the object.
#pragma once

#include <memory>
#include <thread>

#include "orb/core/orb.h"
#include "orb/os/fd.h"

namespace corelane::reserved {

// Blocks these signals for the calling thread and all threads that it starts, so call it while there is only one
// thread. Signals that the process ignores (nohup) stay ignored. Also blocks SIGPIPE: the daemon goes on when nothing
// reads its log any more.
void block_end_signals();

class EndSignals {
 public:
  // Receives the blocked signals. Raises NO_RESOURCES if the system gives no file descriptor or no thread.
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
