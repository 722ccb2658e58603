#include "orb/os/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/machine/cpu_mask.h"
#include "orb/os/machine/host.h"
#include "orb/os/process/broken_pipe_guard.h"

namespace corelane::os {
namespace {

constexpr Duration between_looks = std::chrono::milliseconds{2};

[[noreturn]] void fail(int code, const std::string& what) {
  throw std::system_error(code, std::generic_category(), what);
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail(errno, "pipe");
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  Fd read, write;
};

// What the new process needs to know. It is prepared before fork(), because the new process may not allocate memory.
struct Plan {
  char* const* arguments;  // null: `work` runs instead
  const std::function<void()>* work;
  int input, output, errors, trouble;  // trouble: pipe for the error number if the program cannot start
  const CpuMask* cores;                // null: all
  pid_t parent;
};

// Runs in the new process. If the function crashes, no handler of the parent runs, and no core is dumped.
[[noreturn]] void do_work(const std::function<void()>& work) noexcept {
  for (const int ends : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGINT, SIGTERM}) signal(ends, SIG_DFL);
  prctl(PR_SET_DUMPABLE, 0);
  try {
    work();
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

// Runs in the new process. Makes only async-signal-safe calls, except inside `work`.
[[noreturn]] void become_program(const Plan& plan) noexcept {
  // prctl() does not report a parent that died before it was called, so check the parent afterwards.
  const bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == plan.parent && setpgid(0, 0) == 0 &&
                     (plan.cores == nullptr || sched_setaffinity(0, CpuMask::native_size, plan.cores->native()) == 0) &&
                     dup2(plan.input, STDIN_FILENO) >= 0 && dup2(plan.output, STDOUT_FILENO) >= 0 &&
                     dup2(plan.errors, STDERR_FILENO) >= 0;
  if (ready && plan.arguments == nullptr) {
    close(plan.trouble);  // the parent waits for that
    do_work(*plan.work);
  }
  if (ready) execvp(plan.arguments[0], plan.arguments);
  const int code = errno;
  [[maybe_unused]] const ssize_t told = write(plan.trouble, &code, sizeof code);
  _exit(127);
}

// Returns 0, or the error number that says why the program could not start. Returns when the pipe closes, which exec
// does.
int trouble_of(const Fd& pipe) noexcept {
  int code = 0;
  ssize_t got = 0;
  do got = ::read(pipe.get(), &code, sizeof code);
  while (got < 0 && errno == EINTR);  // bound: signals
  return got == sizeof code ? code : 0;
}

}  // namespace

std::string ExitStatus::text() const {
  if (signal == 0) return "exit status " + std::to_string(code);
  const char* const name = sigdescr_np(signal);
  return "killed by signal " + std::to_string(signal) + " (" + (name != nullptr ? name : "unknown") + ")";
}

ChildProcess::ChildProcess(const std::vector<std::string>& command, ChildOptions options) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  start(arguments.data(), nullptr, command.at(0), options);
}

ChildProcess ChildProcess::running(const std::function<void()>& work) {
  (void)std::fflush(nullptr);  // otherwise the copy may write what waits in this process's streams, too
  ChildProcess child;
  child.start(nullptr, &work, "a function", {});
  return child;
}

void ChildProcess::start(char* const* arguments, const std::function<void()>* work, const std::string& name,
                         ChildOptions options) {
  Pipe input, output, trouble;
  CpuMask cores;
  cores.add(options.core);
  const Plan plan{.arguments = arguments,
                  .work = work,
                  .input = input.read.get(),
                  .output = output.write.get(),
                  .errors = options.joins_errors ? output.write.get() : STDERR_FILENO,
                  .trouble = trouble.write.get(),
                  .cores = options.core == no_core ? nullptr : &cores,
                  .parent = getpid()};
  pid_ = fork();
  if (pid_ == 0) become_program(plan);
  if (pid_ < 0) fail(errno, "no process for " + name + " (" + std::string(minor::text(minor::no_thread)) + ")");
  trouble.write.reset();
  if (const int code = trouble_of(trouble.read); code != 0) {
    waitpid(std::exchange(pid_, -1), nullptr, 0);
    fail(code, "cannot start " + name);
  }
  input_ = std::move(input.write);
  output_ = std::move(output.read);
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  wait();
}

ChildProcess::Filled ChildProcess::fill(Time deadline) {
  pollfd ready{.fd = output_.get(), .events = POLLIN, .revents = 0};
  const timespec patience = to_timespec(left_until(deadline));
  const int found = ppoll(&ready, 1, deadline == never ? nullptr : &patience, nullptr);
  if (found == 0) return Filled::late;
  char block[16384];
  const ssize_t got = found < 0 ? -1 : ::read(output_.get(), block, sizeof block);
  if (got < 0 && errno == EINTR) return Filled::more;
  if (got <= 0) return Filled::end;
  buffer_.append(block, static_cast<std::size_t>(got));
  return Filled::more;
}

std::optional<std::string> ChildProcess::read_line(Time deadline) {
  std::size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {  // bound: the program's output, and the deadline
    const Filled filled = fill(deadline);
    if (filled == Filled::more) continue;
    if (filled == Filled::late || buffer_.empty()) return std::nullopt;
    end = buffer_.size();  // a last line without its newline
    break;
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

std::optional<std::string> ChildProcess::read_all(Time deadline) {
  Filled filled = fill(deadline);
  while (filled == Filled::more && now() < deadline) filled = fill(deadline);  // bound: the output, and the deadline
  if (filled != Filled::end) return std::nullopt;
  return std::exchange(buffer_, {});
}

void ChildProcess::write_line(std::string_view line) noexcept {
  const BrokenPipeGuard quiet;  // the program may have ended; this process must go on
  const std::string text = std::string(line) + '\n';
  std::string_view rest = text;
  while (!rest.empty()) {  // bound: the text
    const ssize_t written = write(input_.get(), rest.data(), rest.size());
    if (written < 0 && errno != EINTR) return;
    rest.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
}

// Leaves the process a zombie, so that its process group can still be named. With a deadline, this function polls. A
// pidfd would notify it, but some containers refuse pidfds.
bool ChildProcess::ended(Time deadline) const noexcept {
  for (;;) {  // bound: the deadline
    siginfo_t info{};
    const int flags = WEXITED | WNOWAIT | (deadline == never ? 0 : WNOHANG);
    const int result = waitid(P_PID, static_cast<id_t>(pid_), &info, flags);
    if (result == 0 && info.si_pid == pid_) return true;
    if (result != 0 && errno != EINTR) return false;
    if (now() >= deadline) return false;
    if (deadline != never) sleep_until(std::min(deadline, now() + between_looks));
  }
}

std::optional<ExitStatus> ChildProcess::wait(Time deadline) noexcept {
  if (pid_ <= 0 || !ended(deadline)) return std::nullopt;
  kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  if (WIFEXITED(status)) return ExitStatus{.code = WEXITSTATUS(status)};
  return ExitStatus{.signal = WTERMSIG(status)};
}

std::string program_beside(const std::string& name) {
  const std::string path = program_path();
  return path.substr(0, path.rfind('/') + 1) + name;
}

}  // namespace corelane::os
