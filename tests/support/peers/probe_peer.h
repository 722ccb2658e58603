// ProbePeer is a run of corelane-probe-peer. Survivor counts what the process that outlives it holds.
#pragma once

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "orb/os/process/child_process.h"
#include "tests/support/peers/forked_peer.h"
#include "tests/support/peers/stop_process.h"

namespace corelane::testing {

// Returns whether the process has not ended yet. It does not take the notice that wait() needs.
inline bool is_alive(const os::ChildProcess& process) {
  siginfo_t ended{};
  const auto id = static_cast<id_t>(process.pid());
  return waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0;
}

class ProbePeer {
 public:
  explicit ProbePeer(std::vector<std::string> words) : process_(command(std::move(words))) {}

  // Returns the first line of a peer that serves. It is empty if the peer does not start.
  std::string reference() { return process_.read_line().value_or(""); }
  void kill_now() { kill(process_.pid(), SIGKILL); }
  pid_t pid() const { return process_.pid(); }
  bool lives() const { return is_alive(process_); }
  os::ExitStatus end() { return process_.wait().value(); }

 private:
  static std::vector<std::string> command(std::vector<std::string> words) {
    words.insert(words.begin(), os::program_beside("corelane-probe-peer"));
    words.insert(words.end(), {"-ORBLogLevel", "off"});
    return words;
  }
  os::ChildProcess process_;
};

// Counts what a process holds that its peers could leave behind.
struct Survivor : Holdings {
  std::size_t threads = 0;

  Survivor() {
    const std::filesystem::directory_iterator begin("/proc/self/task");
    threads = static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
  }
  bool is_within(const Survivor& other) const {
    return descriptors <= other.descriptors && mappings <= other.mappings && threads <= other.threads;
  }
};

// Waits until this process holds no more than before, because it notices a dead peer a little later. If something
// leaked, it waits forever, which is then the failure. An extra thread of the best-effort pool ends after ten seconds.
// A look takes long and keeps a core busy, which other tests need meanwhile. So it looks more and more rarely.
inline void wait_until_within(const Survivor& before) {
  using std::chrono::milliseconds;
  for (milliseconds pause{5}; !Survivor().is_within(before); pause = std::min(2 * pause, milliseconds{100}))
    std::this_thread::sleep_for(pause);  // sleep: there is no event to wait for
}

}  // namespace corelane::testing
