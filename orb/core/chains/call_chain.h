// ChainedCall is a call within the process that runs on another thread while its caller waits. The callee may call back
// a task that waits in this chain of calls. Such a call-back runs on the thread that waits, as part of that task's job.
// The reason: a task runs one job at a time. As a job of its own, the call-back would wait for the job that waits for
// it. wire_chain.h extends this to calls between processes, and runs its call-backs through this class.
//
// Threads: the caller makes the object and waits for it. The callee's thread works inside a Scope of it, and ends it
// with done(). Only one thread of a chain runs at a time. After a thread's first call, nothing here allocates.
//
// The folder orb/core/chains lets a call that comes back to a waiting caller run on the thread that waits.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "orb/base/ids.h"
#include "orb/os/wait/wait.h"

namespace corelane::giop {
struct ChainContext;
}

namespace corelane::core {

// Marks, until its destruction, that the calling thread serves a request that is nested in these waits. The waits are
// those of other processes and of this one.
class ServedChain {
 public:
  explicit ServedChain(const giop::ChainContext* waits) noexcept : before_(std::exchange(served_, waits)) {}
  ~ServedChain() { served_ = before_; }
  ServedChain(const ServedChain&) = delete;
  ServedChain& operator=(const ServedChain&) = delete;

  // Returns the calling thread's waits; null if its work is nested in none.
  static const giop::ChainContext* current() noexcept { return served_; }

 private:
  static inline constinit thread_local const giop::ChainContext* served_ = nullptr;

  const giop::ChainContext* const before_;
};

// CallBack is the work of a call-back.
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

  // Blocks the caller until done(), and runs call-backs meanwhile. The thread's job is suspended while no call-back
  // runs.
  void wait() noexcept;
  // Ends the call. The callee calls it last, because the object may be gone when it returns.
  void done() noexcept;

  // Marks, until its destruction, that the calling thread works for the call.
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

  // Runs `work` as part of the job that the task runs now. It runs on the calling thread if that runs the job,
  // otherwise on the thread that waits in this thread's chain. Returns false, without running `work`, if there is no
  // such job.
  static bool call_back(TaskId task, CallBack& work) noexcept;

  // Returns the call that the calling thread works for; null if there is none.
  static ChainedCall* current() noexcept;
  // Returns whether a job of the task waits for this call, or for a call that this call is a part of.
  bool is_within(TaskId task) noexcept { return of_task(task, this) != nullptr; }

 private:
  struct Posted {
    CallBack& work;
    ChainedCall& answer;
  };

  // Returns the innermost call, from `call` outwards, that a job of the task waits for; null if there is none.
  static ChainedCall* of_task(TaskId task, ChainedCall* call) noexcept;

  // Constant.
  const std::shared_ptr<os::Parker> parker_;  // the caller's
  const TaskId task_;                         // the task whose job the caller is in
  ChainedCall* const outer_;                  // the call that the caller works for
  const giop::ChainContext* const waits_;     // other processes' waits that the caller works for

  // Shared.
  std::atomic<Posted*> posted_{nullptr};
  std::atomic<bool> done_{false};
};

}  // namespace corelane::core
