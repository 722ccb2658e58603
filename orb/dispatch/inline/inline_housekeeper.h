// InlineHousekeeper does the periodic work of a process whose tasks run where their jobs arrive (InlineTasks). It
// writes the counter page, so that `corelane top` shows the process, and logs late jobs.
//
// Threads: made, started and destroyed by one. `ask` is called on this object's thread, under SCHED_OTHER, and on the
// thread that destroys it.
#pragma once

#include <functional>
#include <string>

#include "orb/base/agent.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/telemetry/counter_page_writer.h"
#include "orb/dispatch/telemetry/lateness_log.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/os/wait/wait.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class InlineHousekeeper final : public Agent {
 public:
  using Ask = std::function<ExecutiveReport()>;

  // `directory`: the runtime directory; empty: no page. `real_time`: the tasks run under SCHED_FIFO, at levels within
  // `natives`. `events` and `ask` must be valid until destruction.
  InlineHousekeeper(std::string directory, std::size_t max_tasks, sched::NativeRange natives, bool real_time,
                    const TaskEvents& events, Ask ask);
  InlineHousekeeper(const InlineHousekeeper&) = delete;
  InlineHousekeeper& operator=(const InlineHousekeeper&) = delete;
  ~InlineHousekeeper() override { stop(); }

  Expected<void> start(std::size_t stack);
  // Ends the thread; the page stays until destruction. Idempotent, but not for two threads at once.
  void stop() noexcept;

  bool step(Time now) noexcept override;
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }

 private:
  std::string label_of(TaskId task) const;

  // Constant.
  const sched::NativeRange natives_;
  const PromiseConditions conditions_;
  const Ask ask_;

  // Owner: the thread, then the one that destroys this object.
  CounterPageWriter page_;
  LatenessLog lateness_;
  Time wake_at_{};

  os::Parker parker_;
  os::AgentThread<InlineHousekeeper> thread_{*this};
};

}  // namespace corelane::dispatch
