// InlineCounters: keeps the counter page of a process whose tasks run where their jobs arrive, so that `corelane top`
// shows it. There is no housekeeper in that mode, so it has a thread of its own.
//
// Threads: made, started and destroyed by one; the report is asked on this one's thread, under SCHED_OTHER.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

#include "orb/base/expected.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/page_keeper.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class InlineCounters {
 public:
  using Ask = std::function<ExecutiveReport()>;

  // `directory`: the runtime directory; empty: no page and no thread. `ask` is valid until destruction.
  InlineCounters(std::string directory, std::size_t max_tasks, Ask ask);
  InlineCounters(const InlineCounters&) = delete;
  InlineCounters& operator=(const InlineCounters&) = delete;
  ~InlineCounters();

  Expected<void> start(std::size_t stack);

 private:
  void run() noexcept;

  const Ask ask_;    // constant
  PageKeeper page_;  // owner: the thread

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;  // guarded by mutex_
  os::Thread thread_;
};

}  // namespace corelane::dispatch
