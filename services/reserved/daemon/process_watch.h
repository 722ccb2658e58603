// ProcessWatch: calls when processes end (os::ProcessWatch), and ticks.
// Threads: one of its own, which calls back. watch() and keep_only() from any thread, also from within a call-back.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/process_watch.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

class ProcessWatch {
 public:
  struct Calls {
    std::function<void(const Process&)> ended;
    std::function<Duration()> tick;  // returns after how long it wants to be called again
  };
  // std::system_error when the system gives no descriptors.
  ProcessWatch() = default;
  ~ProcessWatch() { stop(); }
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Begins to call. Once.
  void start(Calls calls);
  // No call after it returned.
  void stop();
  // One call of ended() for each process, when it has ended, or soon where it has already. A fault: it is not watched,
  // and why.
  Expected<void, std::string> watch(const Process& process);
  // The next tick comes at once.
  void hurry();
  // Ends the watch over all others.
  void keep_only(const std::vector<Process>& needed) { processes_.keep_only(needed); }

 private:
  void run();

  os::ProcessWatch processes_;
  Calls calls_;  // constant after start()
  std::atomic<bool> stopping_{false};
  // Thread: any sets it, that of the watch takes it.
  std::atomic<bool> hurried_{false};
  std::thread thread_;
};

}  // namespace corelane::reserved
