// Reopener reopens the own connections of an ORB's tasks, if they were lost or could not be opened at first. It is an
// agent with a thread of its own, under SCHED_OTHER, so that no call waits for it. TaskBinding says when an attempt is
// due.
//
// Threads: any; close(): one at a time.
#pragma once

#include <memory>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/mutex.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/os/wait/wait.h"

namespace corelane::core {

class TaskBinding;

class Reopener final : public Agent {
 public:
  Reopener() = default;
  Reopener(const Reopener&) = delete;
  Reopener& operator=(const Reopener&) = delete;
  ~Reopener() override { close(); }

  // Reopens the binding's connection as long as the binding lives. The first call starts the thread; if that fails it
  // returns NO_RESOURCES no_thread and does not watch the binding. BAD_INV_ORDER orb_destroyed after close(). Not for
  // real-time threads.
  Expected<void> watch(const std::shared_ptr<TaskBinding>& binding);
  // Wakes the thread, because a binding has lost its connection. Real-time threads may call it.
  void wake() noexcept { parker_.unpark(); }
  // Ends the thread and waits for it. Call it after the connections were closed, which ends the current attempt.
  // Idempotent; one call at a time.
  void close() noexcept;

  bool step(Time now) noexcept override;
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }

 private:
  std::vector<std::shared_ptr<TaskBinding>> watched();

  os::Parker parker_;  // shared
  Time wake_at_{};     // owner: the thread

  os::Mutex mutex_;
  std::vector<std::weak_ptr<TaskBinding>> bindings_ CORELANE_GUARDED_BY(mutex_);
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;

  os::AgentThread<Reopener> thread_{*this};  // started with mutex_ held, unless it is closed_
};

}  // namespace corelane::core
