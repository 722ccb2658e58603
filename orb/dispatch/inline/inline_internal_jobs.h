// InlineInternalJobs runs a process's internal work, such as writing to the log, in the mode `leader-followers`. It has
// its own thread under SCHED_OTHER, because every other thread may serve a task.
//
// Threads: submit() any, real-time ones too; step() the thread's, or a test's.
#pragma once

#include <cstddef>

#include "orb/base/agent.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/os/wait/wait.h"

namespace corelane::dispatch {

class InlineInternalJobs final : public Agent {
 public:
  ~InlineInternalJobs() override { stop(); }

  // Queues the job. Takes it if the result is Pushed::done.
  Pushed submit(JobPtr& job) noexcept;
  // Runs the oldest job. Returns false if there is none.
  bool step(Time now) noexcept override;
  Time wake_at() const noexcept { return never; }
  os::Parker& parker() noexcept { return parker_; }

  Expected<void> start(std::size_t stack);
  // Ends the thread; waiting jobs fail. Idempotent.
  void stop() noexcept;

 private:
  static constexpr std::size_t capacity = 64;  // such jobs are few: a server has one

  // Shared.
  RequestQueue queue_{capacity};
  os::Parker parker_;

  os::AgentThread<InlineInternalJobs> thread_{*this};
};

}  // namespace corelane::dispatch
