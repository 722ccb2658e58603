// NodeProcess is a process of a real run, with its messages (node_messages.h). Every wait ends when the run is to stop,
// when the process ends, or when it takes too long.
//
// Threads: one, which lasts as long as the process; see os::ChildProcess. The functions raise Stopped, or
// std::runtime_error with a sentence that names the process.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/real_run/node_messages.h"

namespace corelane::tool {

// Is raised when a run is to stop.
struct Stopped {};

class NodeProcess {
 public:
  // `name`: for messages, such as "the server". `is_to_stop` may be empty, and must outlive the process.
  NodeProcess(std::string name, const std::vector<std::string>& command, const std::function<bool()>& is_to_stop);

  void write(std::string_view line) noexcept { process_.write_line(line); }
  void end_input() noexcept { process_.end_input(); }

  // Returns the next message of the process. `most`: how long it may take. `needed`: also raises std::runtime_error if
  // this process ends meanwhile; null: no other process matters.
  template <typename Message>
  Message expect(Duration most, NodeProcess* needed = nullptr) {
    const std::string line = line_of_output(most, needed);
    auto message = message_of<Message>(line);
    if (!message)
      throw std::runtime_error(name_ + " wrote a line that is no answer (" + message.error().text +
                               "): " + line.substr(0, longest_shown));
    return *std::move(message);
  }

  // Waits until the process has ended, for `most` at most. The destructor kills one that has not.
  void await_end(Duration most);

 private:
  static constexpr std::size_t longest_shown = 100;  // bytes of a line that a message shows

  std::string line_of_output(Duration most, NodeProcess* needed);
  bool has_ended();
  void check_stop() const;
  [[noreturn]] void throw_end() const;

  const std::string name_;
  const std::function<bool()>& is_to_stop_;
  os::ChildProcess process_;
  std::optional<os::ExitStatus> end_{};
};

// Returns the command line of a process: the program, its role and its options.
std::vector<std::string> node_command(const std::string& program, const std::string& role,
                                      const std::vector<std::string>& orb_options = {});

}  // namespace corelane::tool
