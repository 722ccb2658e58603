// InlineHousekeeper: what is to be done now and then in a process whose tasks run where their jobs arrive: its counter
// page, so that `corelane top` shows it, and its lines in the log about late jobs.
//
// Threads: made, started and destroyed by one; the report is asked on this one's thread, under SCHED_OTHER, and by who
// destroys it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "orb/base/expected.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/lateness_log.h"
#include "orb/dispatch/page_keeper.h"
#include "orb/os/thread.h"
#include "orb/sched/priority.h"

namespace corelane::dispatch {

class InlineHousekeeper {
 public:
  using Ask = std::function<ExecutiveReport()>;

  // `directory`: the runtime directory; empty: no page. `natives`: where the levels of tasks that are real-time begin,
  // which they are if `real_time`. `events` and `ask` are valid until destruction.
  InlineHousekeeper(std::string directory, std::size_t max_tasks, sched::NativeRange natives, bool real_time,
                    const TaskEvents& events, Ask ask);
  InlineHousekeeper(const InlineHousekeeper&) = delete;
  InlineHousekeeper& operator=(const InlineHousekeeper&) = delete;
  ~InlineHousekeeper() { stop(); }

  Expected<void> start(std::size_t stack);
  // Ends the thread; the page stays until destruction. Idempotent; not by two at once.
  void stop() noexcept;

 private:
  void run() noexcept;
  std::string label_of(TaskId task) const;

  // Constant.
  const sched::NativeRange natives_;
  const Standing standing_;
  const Ask ask_;

  // Owner: the thread, then who destroys it.
  PageKeeper page_;
  LatenessLog lateness_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;  // guarded by mutex_
  os::Thread thread_;
};

}  // namespace corelane::dispatch
