// ChildProcess: another program that a tool, the demo or a test runs, with pipes to its standard input and from its
// standard output. Standard error stays that of this process unless told otherwise.
//
// The program does not outlive its handle: it is killed with it, and so is whatever it started (its process group). Nor
// does it outlive the thread that started it (PR_SET_PDEATHSIG), so start children on a thread that lasts.
//
// Threads: one at a time. Not in a process with real-time threads: fork() makes their memory fault again. What the
// system refuses is a std::system_error here, since the callers are programs that can only stop and say so.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/fd.h"

namespace corelane::os {

// How a program ended.
struct ExitStatus {
  int code = 0;    // what it returned
  int signal = 0;  // what killed it; 0: nothing did

  bool ok() const noexcept { return code == 0 && signal == 0; }
  std::string text() const;  // "exit status 2", "killed by signal 9 (Killed)"
};

struct ChildOptions {
  CoreId core = no_core;      // bound to this hardware thread; no_core: where its parent may run
  bool joins_errors = false;  // its standard error goes into its output
};

class ChildProcess {
 public:
  // Searches PATH for a name without '/'. std::system_error when the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command, ChildOptions options = {});
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        input_(std::move(other.input_)),
        output_(std::move(other.output_)),
        buffer_(std::move(other.buffer_)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const noexcept { return pid_; }  // -1 once it was waited for

  // Its next line, without the newline. Nothing at the end of its output, and nothing at `deadline`.
  std::optional<std::string> read_line(Time deadline = never);
  // All that it writes from now on, until it closes its output. Nothing at `deadline`.
  std::optional<std::string> read_all(Time deadline = never);

  // The line and a newline. That the program has ended shows in read_line(). Blocks while the pipe is full.
  void write_line(std::string_view line) noexcept;
  void end_input() noexcept { input_.reset(); }

  // Waits for its end, then also kills what it left running. Nothing at `deadline`. Call at most once after its end.
  std::optional<ExitStatus> wait(Time deadline = never) noexcept;

 private:
  enum class Filled : std::uint8_t { more, end, late };
  Filled fill(Time deadline);
  bool ended(Time deadline) const noexcept;

  pid_t pid_ = -1;
  Fd input_;   // the program's standard input
  Fd output_;  // the program's standard output
  std::string buffer_;
};

// The path of a program that is installed, or was built, beside the one that runs.
std::string program_beside(const std::string& name);

}  // namespace corelane::os
