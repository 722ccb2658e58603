// ProcessWatch: tells when processes end (pidfd), and ticks.
// Threads: one of its own, which calls back. watch() from any thread, also from within a call-back.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "orb/base/expected.h"
#include "orb/os/fd.h"
#include "services/reserved/accounts/model.h"

namespace corelane::reserved {

class ProcessWatch {
 public:
  struct Calls {
    std::function<void(const Process&)> ended;
    std::function<void()> tick;  // about once in `period`
    Duration period;
  };
  // std::system_error when the system gives no descriptors.
  ProcessWatch();
  ~ProcessWatch();
  ProcessWatch(const ProcessWatch&) = delete;
  ProcessWatch& operator=(const ProcessWatch&) = delete;

  // Begins to call. Once.
  void start(Calls calls);
  // No call after it returned.
  void stop();
  // One call of ended() for each process, when it has ended, or soon where it has already. A fault: it is not watched,
  // and why.
  Expected<void, std::string> watch(const Process& process);
  // Ends the watch over all others.
  void keep_only(const std::vector<Process>& needed);

 private:
  void run();
  std::vector<Process> take_ended();
  void wake() noexcept;
  Expected<void, std::string> add(const Process& process);

  const os::Fd epoll_, bell_;
  Calls calls_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::map<int, Process> watched_;  // by pidfd
  std::vector<Process> gone_;       // ended before they could be watched
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace corelane::reserved
