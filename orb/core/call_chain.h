// ChainedCall: a call within the process that runs on another thread while its caller waits; and the way back. What the
// callee calls of a task that waits in its chain runs on the thread that waits there, as a part of that task's job:
// the task runs one job at a time, so a job of its own would wait for the one that waits for it. Calls across processes
// have no such way back.
//
// Threads: made and waited for by the caller; the callee's thread works inside a Scope of it, and ends it by done().
// Only one thread of a chain runs at a time. Nothing here allocates after the first call of a thread.
#pragma once

#include <atomic>
#include <memory>

#include "orb/base/ids.h"
#include "orb/os/wait.h"

namespace corelane::core {

// What is called back.
class CallBack {
 public:
  virtual ~CallBack() = default;
  virtual void run() noexcept = 0;
};

class ChainedCall {
 public:
  ChainedCall();
  ChainedCall(const ChainedCall&) = delete;
  ChainedCall& operator=(const ChainedCall&) = delete;

  // The caller: until done(). Runs what calls back meanwhile; the job of the thread is suspended while nothing does.
  void wait() noexcept;
  // The callee, last: this may be gone when it returns.
  void done() noexcept;

  // The calling thread works for the call.
  class Scope {
   public:
    explicit Scope(ChainedCall& call) noexcept;
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ChainedCall* const before_;
  };

  // Runs `work` as a part of the job in which the task is: on the calling thread if it is that job's, or on the one
  // that waits in this thread's chain. False: there is none, and nothing ran.
  static bool call_back(TaskId task, CallBack& work) noexcept;

 private:
  struct Posted {
    CallBack& work;
    ChainedCall& answer;
  };

  // Constant.
  const std::shared_ptr<os::Parker> parker_;  // the caller's
  const TaskId task_;                         // whose job the caller is in
  ChainedCall* const outer_;                  // for which the caller works

  // Shared.
  std::atomic<Posted*> posted_{nullptr};
  std::atomic<bool> done_{false};
};

}  // namespace corelane::core
