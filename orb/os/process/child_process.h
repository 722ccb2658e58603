// ChildProcess runs another program, or a function of this one, with pipes to its standard input and from its standard
// output. Tools, the demo and tests use it. The program shares this process's standard error unless the options say
// otherwise.
//
// The program does not outlive its handle: the destructor kills it and its process group. The program does not outlive
// the thread that started it either (PR_SET_PDEATHSIG). So start children on a thread that lasts.
//
// Threads: one at a time. Do not use it in a process with real-time threads: fork() makes their memory fault again.
// Refusals of the system are reported as std::system_error, because the callers are programs that can only print it and
// stop.
#pragma once

#include <sys/types.h>

#include <functional>
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
  int code = 0;    // the exit status
  int signal = 0;  // the signal that killed it; 0: none

  bool ok() const noexcept { return code == 0 && signal == 0; }
  std::string text() const;  // "exit status 2", "killed by signal 9 (Killed)"
};

struct ChildOptions {
  CoreId core = no_core;      // binds it to this hardware thread; no_core: it runs where its parent may run
  bool joins_errors = false;  // its standard error goes into its output
};

class ChildProcess {
 public:
  // Searches PATH for a name without '/'. Throws std::system_error if the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command, ChildOptions options = {});
  // Runs the function in a copy of this process. The copy ends with it: with status 1 if it throws. Use it where a
  // function may run without end, or use up the stack. No other thread may hold a lock that the function needs. The
  // copy keeps all descriptors of this process, so pipes and sockets that this process closes stay open until the copy
  // ends.
  static ChildProcess running(const std::function<void()>& work);
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        input_(std::move(other.input_)),
        output_(std::move(other.output_)),
        buffer_(std::move(other.buffer_)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;

  pid_t pid() const noexcept { return pid_; }  // -1 after wait()

  // Returns the next line of output, without the newline. Returns nothing at the end of the output and at `deadline`.
  std::optional<std::string> read_line(Time deadline = never);
  // Returns all output from now until the program closes it. Returns nothing at `deadline`; the output so far then
  // belongs to the next call.
  std::optional<std::string> read_all(Time deadline = never);

  // Writes the line and a newline. If the program has ended, read_line() shows it. Blocks while the pipe is full.
  void write_line(std::string_view line) noexcept;
  void end_input() noexcept { input_.reset(); }

  // Waits until the program ends, then kills what is left of its process group. Returns nothing at `deadline`. After it
  // has returned a status, do not call it again.
  std::optional<ExitStatus> wait(Time deadline = never) noexcept;

 private:
  ChildProcess() = default;

  void start(char* const* arguments, const std::function<void()>* work, const std::string& name, ChildOptions options);
  enum class Filled : std::uint8_t { more, end, late };
  Filled fill(Time deadline);
  bool ended(Time deadline) const noexcept;

  pid_t pid_ = -1;
  Fd input_;   // the program's standard input
  Fd output_;  // the program's standard output
  std::string buffer_;
};

// Returns the path of a program that is installed, or was built, in the same directory as the running program.
std::string program_beside(const std::string& name);

}  // namespace corelane::os
