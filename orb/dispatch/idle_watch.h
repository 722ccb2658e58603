// IdleWatch: who tells a core's pool when the core itself is idle. A lane knows of the jobs that it was told of; one
// that lies in a connection which its task's thread has not read yet, or in a server's queue, keeps the core busy all
// the same.
//
// Threads: any, without the pool's lock. Does not block.
#pragma once

namespace corelane::dispatch {

class IdleWatch {
 public:
  virtual ~IdleWatch() = default;
  // An early job waits, and nothing else of the lane. CorePool::start_early() is to be called once the core is idle.
  virtual void look() noexcept = 0;
};

}  // namespace corelane::dispatch
