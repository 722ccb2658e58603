#include "bench/latency/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace latency {
namespace {

constexpr int patience_ms = 120'000;  // longer than any run between two bytes of output

[[noreturn]] void run(std::vector<std::string> arguments, int core, int out) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::sched_setaffinity(0, sizeof cores, &cores) != 0) ::_exit(126);
  ::dup2(out, STDOUT_FILENO);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments, int core) : name_(arguments.at(0)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  pid_ = ::fork();
  if (pid_ == 0) run(arguments, core, ends[1]);
  const int fault = errno;
  ::close(ends[1]);
  out_ = ends[0];
  if (pid_ < 0) {
    ::close(out_);
    throw std::system_error(fault, std::generic_category(), "fork");
  }
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  ::close(out_);
}

std::string Child::read_line() {
  for (;;) {
    if (const auto end = buffer_.find('\n'); end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return line;
    }
    if (!fill()) throw std::runtime_error(name_ + " ended without saying where it listens");
  }
}

std::vector<std::uint64_t> Child::read_samples() {
  while (fill()) {
  }
  if (const int status = wait(); status != 0)
    throw std::runtime_error(name_ + " failed with status " + std::to_string(status));
  std::vector<std::uint64_t> samples(buffer_.size() / sizeof(std::uint64_t));
  std::memcpy(samples.data(), buffer_.data(), samples.size() * sizeof(std::uint64_t));
  return samples;
}

bool Child::fill() {
  pollfd ready{.fd = out_, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, patience_ms) <= 0) throw std::runtime_error(name_ + " says nothing");
  char chunk[65536];
  const ssize_t size = ::read(out_, chunk, sizeof chunk);
  if (size > 0) buffer_.append(chunk, static_cast<std::size_t>(size));
  return size > 0;
}

int Child::wait() noexcept {
  int status = 0;
  const pid_t pid = std::exchange(pid_, -1);
  if (pid < 0 || ::waitpid(pid, &status, 0) != pid) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace latency
