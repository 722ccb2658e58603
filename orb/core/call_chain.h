// ChainedCall: a call within the process that runs on another thread while its caller waits; and the way back. What the
// callee calls of a task that waits in its chain runs on the thread that waits there, as a part of that task's job:
// the task runs one job at a time, so a job of its own would wait for the one that waits for it. Calls across processes
// have the way back of wire_chain.h, which ends in this one.
//
// Threads: made and waited for by the caller; the callee's thread works inside a Scope of it, and ends it by done().
// Only one thread of a chain runs at a time. Nothing here allocates after the first call of a thread.
#pragma once

#include <atomic>
#include <memory>

#include "orb/base/ids.h"
#include "orb/os/wait.h"

namespace corelane::giop {
struct ChainContext;
}

namespace corelane::core {

// The calling thread serves a request that is nested in these waits of other processes and of this one, until
// destruction.
class ServedChain {
 public:
  explicit ServedChain(const giop::ChainContext* waits) noexcept;
  ~ServedChain();
  ServedChain(const ServedChain&) = delete;
  ServedChain& operator=(const ServedChain&) = delete;

  // Of the calling thread; null: it is nested in none.
  static const giop::ChainContext* current() noexcept;

 private:
  const giop::ChainContext* const before_;
};

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
    const ServedChain served_;
  };

  // Runs `work` as a part of the job in which the task is: on the calling thread if it is that job's, or on the one
  // that waits in this thread's chain. False: there is none, and nothing ran.
  static bool call_back(TaskId task, CallBack& work) noexcept;

  // For which the calling thread works; null: for none.
  static ChainedCall* current() noexcept;
  // Whether a job of the task waits for it, or for a call that it is a part of.
  bool is_within(TaskId task) noexcept { return of_task(task, this) != nullptr; }

 private:
  struct Posted {
    CallBack& work;
    ChainedCall& answer;
  };

  // The innermost call, from this one outwards, for which a job of the task waits; null: there is none.
  static ChainedCall* of_task(TaskId task, ChainedCall* call) noexcept;

  // Constant.
  const std::shared_ptr<os::Parker> parker_;  // the caller's
  const TaskId task_;                         // whose job the caller is in
  ChainedCall* const outer_;                  // for which the caller works
  const giop::ChainContext* const waits_;     // of other processes, for which it does

  // Shared.
  std::atomic<Posted*> posted_{nullptr};
  std::atomic<bool> done_{false};
};

}  // namespace corelane::core
