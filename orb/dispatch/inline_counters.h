// InlineCounters: keeps the counter page of a process whose tasks run where their jobs arrive, so that `corelane top`
// shows it. There is no housekeeper in that mode, so it has a thread of its own.
//
// Threads: made and destroyed by one; the report is asked on this one's thread, which inherits the maker's priority.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "orb/dispatch/executive.h"

namespace corelane::dispatch {

class InlineCounters {
 public:
  using Ask = std::function<ExecutiveReport()>;

  // `directory`: the runtime directory; empty: no page and no thread. `ask` is valid until destruction.
  InlineCounters(std::string directory, std::size_t max_tasks, Ask ask);
  InlineCounters(const InlineCounters&) = delete;
  InlineCounters& operator=(const InlineCounters&) = delete;
  ~InlineCounters();

 private:
  void run();

  // Constant.
  const std::string directory_;
  const std::size_t max_tasks_;
  const Ask ask_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace corelane::dispatch
