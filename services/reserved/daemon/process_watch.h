// ProcessWatch reports the end of processes (os::ProcessWatch), and calls a tick at intervals.
// Threads: makes one, which makes the calls. Any thread may call watch() and keep_only(), also from within a call.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/process/process_watch.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

class ProcessWatch {
 public:
  struct Calls {
    std::function<void(const Process&)> ended;
    std::function<Duration()> tick;  // returns how long to wait before the next tick
  };
  // Throws std::system_error if the system gives no file descriptors.
  ProcessWatch() = default;
  ~ProcessWatch() { stop(); }
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Starts the thread. Call it once.
  void start(Calls calls);
  // Stops the thread. No call is made after stop() returns.
  void stop();
  // Calls ended() once for the process: when it ends, or soon if it has already ended. An error says why the process is
  // not watched.
  Expected<void, std::string> watch(const Process& process);
  // Makes the next tick come at once.
  void hurry();
  // Ends the watch over all processes that are not in `needed`.
  void keep_only(const std::vector<Process>& needed) { processes_.keep_only(needed); }

 private:
  void run();

  os::ProcessWatch processes_;
  Calls calls_;  // constant after start()
  std::atomic<bool> stopping_{false};
  // Thread: any thread sets it, the watch's thread clears it.
  std::atomic<bool> hurried_{false};
  std::thread thread_;
};

}  // namespace corelane::reserved
