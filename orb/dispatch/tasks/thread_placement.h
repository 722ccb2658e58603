// ThreadPlacement is where the thread of a task runs, and WorkerThread is that thread.
//
// Threads: a value; WorkerThread says so.
#pragma once

#include "orb/base/ids.h"
#include "orb/os/threads/deadline_class.h"

namespace corelane::dispatch {

// The core and the scheduling class of a worker's thread.
struct ThreadPlacement {
  CoreId core = no_core;
  int native = 0;             // SCHED_FIFO level; 0: SCHED_OTHER
  os::DeadlineShare share{};  // if set, SCHED_DEADLINE instead

  friend constexpr bool operator==(const ThreadPlacement&, const ThreadPlacement&) = default;
};

// WorkerThread is a thread that runs TaskWorker::loop(). Its destructor joins: call the worker's retire() first.
class WorkerThread {
 public:
  virtual ~WorkerThread() = default;
  // Moves the thread. False: not all of it was granted; the thread is as near to the placement as the system allows.
  virtual bool place(ThreadPlacement placement) noexcept = 0;
  virtual bool real_time() const noexcept = 0;
  // Starts a thread that ThreadMaker::take() returned.
  virtual void begin() noexcept {}
  // Binds the thread again to the core of the last place(): the kernel may have unbound it since.
  virtual void rebind() noexcept {}
};

}  // namespace corelane::dispatch
