// IdleWatch tells a core's pool when the core itself is idle. A core scheduler knows only some of the jobs that keep
// the core busy. Others are still unread in a connection of their task's thread, or are in a server's queue.
//
// Threads: any, without the pool's lock. Does not block.
#pragma once

namespace corelane::dispatch {

class IdleWatch {
 public:
  virtual ~IdleWatch() = default;
  // Called when an early job waits and the core scheduler has no other job to run. The watch must call
  // CorePool::start_early() once the core is idle.
  virtual void look() noexcept = 0;
};

}  // namespace corelane::dispatch
