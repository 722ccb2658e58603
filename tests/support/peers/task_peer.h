// TaskPeer is a run of corelane-task-peer; task_peer.cpp says which orders it obeys.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orb/os/machine/cpu_mask.h"
#include "orb/os/process/child_process.h"

namespace corelane::testing {

// Returns the first core that this process may use.
inline CoreId first_core() {
  std::int16_t core = 0;
  while (!os::process_affinity().contains(CoreId{core})) ++core;  // bound: this process runs somewhere
  return CoreId{core};
}

class TaskPeer {
 public:
  explicit TaskPeer(std::vector<std::string> words, os::ChildOptions options = {})
      : process_(command(std::move(words)), options), said(process_.read_line().value_or("")) {}

  // Gives an order, and returns the line of the answer. Returns "" if the process has ended.
  std::string ask(const std::string& order) {
    process_.write_line(order);
    return process_.read_line().value_or("");
  }
  pid_t pid() const { return process_.pid(); }
  os::ExitStatus end() {
    process_.end_input();
    return process_.wait().value();
  }

 private:
  static std::vector<std::string> command(std::vector<std::string> words) {
    words.insert(words.begin(), os::program_beside("corelane-task-peer"));
    words.insert(words.end(), {"-ORBLogLevel", "off"});
    return words;
  }
  os::ChildProcess process_;

 public:
  const std::string said;  // its first line: a reference, or whether its task was admitted
};

// A peer that serves, and the command line of a client with a task there.
struct TaskServer : TaskPeer {
  explicit TaskServer(std::vector<std::string> options, os::ChildOptions child = {})
      : TaskPeer(serving(std::move(options)), child) {}
  // Returns the command line of a client, with times in ms.
  std::vector<std::string> client(int period, int deadline, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> words{"client", said, std::to_string(period), std::to_string(deadline)};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

 private:
  static std::vector<std::string> serving(std::vector<std::string> options) {
    options.insert(options.begin(), "serve");
    return options;
  }
};

}  // namespace corelane::testing
