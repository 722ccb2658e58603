#include "examples/pendulum/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <system_error>
#include <utility>

extern char** environ;

namespace corelane::pendulum {
namespace {

[[noreturn]] void fail(const char* what, int code) { throw std::system_error(code, std::generic_category(), what); }

struct Pipe {
  int read = -1;
  int write = -1;
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2", errno);
    read = ends[0];
    write = ends[1];
  }
};

void close_quietly(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments) {
  static const bool ignored = [] {
    return ::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  }();  // write_line() sees EPIPE instead
  (void)ignored;
  Pipe input, output;
  std::vector<char*> argv;
  std::string self = "/proc/self/exe";
  argv.push_back(self.data());
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.write, STDOUT_FILENO);
  const int code = ::posix_spawn(&pid_, self.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(input.read);
  ::close(output.write);
  in_ = input.write;
  out_ = output.read;
  if (code != 0) fail("posix_spawn", code);
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      buffer_(std::move(other.buffer_)) {}

Child::~Child() {
  close_quietly(in_);
  close_quietly(out_);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::optional<std::string> Child::read_line(Duration patience) {
  const int milliseconds = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(patience).count());
  for (;;) {  // one turn a read; ends at a newline, at the end of the pipe or when nothing comes
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    pollfd ready{.fd = out_, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, milliseconds) <= 0) return std::nullopt;
    char block[4096];
    const ssize_t got = ::read(out_, block, sizeof block);
    if (got <= 0) return std::nullopt;
    buffer_.append(block, static_cast<std::size_t>(got));
  }
}

void Child::write_line(const std::string& line) noexcept {
  const std::string text = line + "\n";
  [[maybe_unused]] const ssize_t written = ::write(in_, text.data(), text.size());
}

bool Child::wait() {
  close_quietly(in_);
  int status = -1;
  if (pid_ > 0) ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace corelane::pendulum
