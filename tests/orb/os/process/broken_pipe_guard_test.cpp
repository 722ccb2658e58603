// Tests writes to a pipe or socket that has no reader.
#include "orb/os/process/broken_pipe_guard.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <string>

#include "orb/os/fd.h"
#include "orb/os/log.h"
#include "orb/os/process/child_process.h"
#include "orb/os/process/standard_descriptors.h"
#include "tests/support/peers/fork_alone.h"

using namespace corelane;
using os::BrokenPipeGuard;

namespace broken_pipe_test {

enum class Kind { pipe, stream, packets };

// Returns an end to write to, whose other end is closed.
os::Fd unread(Kind kind) {
  int ends[2] = {-1, -1};
  if (kind == Kind::pipe) (void)!::pipe(ends);
  if (kind != Kind::pipe) (void)!::socketpair(AF_UNIX, kind == Kind::stream ? SOCK_STREAM : SOCK_SEQPACKET, 0, ends);
  os::Fd read(ends[0]), write(ends[1]);
  return write;
}

bool is_pending() {
  sigset_t pending;
  return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void block() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

bool is_blocked() {
  sigset_t now;
  return pthread_sigmask(SIG_BLOCK, nullptr, &now) == 0 && sigismember(&now, SIGPIPE) == 1;
}

bool fails_with_epipe(const os::Fd& fd) { return ::write(fd.get(), "x", 1) == -1 && errno == EPIPE; }

// Runs `work` in a child with the default action of SIGPIPE. Returns how the child ended: "exit status 0" after true.
std::string end_of(const std::function<bool()>& work) {
  const pid_t child = testing::fork_alone();
  if (child == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  os::ExitStatus ended;
  if (WIFSIGNALED(status)) ended.signal = WTERMSIG(status);
  if (WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended.text();
}

}  // namespace broken_pipe_test

using namespace broken_pipe_test;

TEST_CASE("behind the guard a write without a reader fails and ends no process") {
  const Kind kind = GENERATE(Kind::pipe, Kind::stream, Kind::packets);
  CHECK(end_of([kind] {
          const os::Fd fd = unread(kind);
          const BrokenPipeGuard guard, inner;
          return fails_with_epipe(fd) && fails_with_epipe(fd);
        }) == "exit status 0");
  if (kind == Kind::packets) return;  // these raise no signal
  CHECK(end_of([kind] { return fails_with_epipe(unread(kind)); }) == "killed by signal 13 (Broken pipe)");
}

TEST_CASE("the guard leaves the signal as it was") {
  CHECK(end_of([] {
          { const BrokenPipeGuard guard; }
          return !is_blocked();
        }) == "exit status 0");
  CHECK(end_of([] {  // blocked by the program: the guard leaves none pending
          block();
          {
            const BrokenPipeGuard guard;
            (void)fails_with_epipe(unread(Kind::pipe));
          }
          return is_blocked() && !is_pending();
        }) == "exit status 0");
  CHECK(end_of([] {  // pending before: it still is
          block();
          ::raise(SIGPIPE);
          {
            const BrokenPipeGuard guard;
            (void)fails_with_epipe(unread(Kind::pipe));
          }
          return is_pending();
        }) == "exit status 0");
  CHECK(end_of([] {
          const BrokenPipeGuard guard;
          return fails_with_epipe(unread(Kind::pipe)) && errno == EPIPE;
        }) == "exit status 0");
}

TEST_CASE("a line of the log without a reader is lost and ends no process") {
  const Kind kind = GENERATE(Kind::pipe, Kind::stream);
  CHECK(end_of([kind] {
          const os::Fd fd = unread(kind);
          ::dup2(fd.get(), STDERR_FILENO);
          for (int i = 0; i < 3; ++i) {
            os::log::info("a line");
            os::log::error("with\na control character");
          }
          return !is_blocked();
        }) == "exit status 0");
}

TEST_CASE("a daemon outlives the readers of what it writes, and what it starts does not inherit that") {
  CHECK(end_of([] {
          os::outlive_readers();
          return fails_with_epipe(unread(Kind::pipe));
        }) == "exit status 0");
  CHECK(end_of([] {
          os::outlive_readers();
          os::ChildProcess program({"/bin/sh", "-c", "kill -s PIPE $$"});
          return program.wait()->signal == SIGPIPE;
        }) == "exit status 0");
  CHECK(end_of([] {  // the program has set an action of its own
          struct sigaction action {};
          action.sa_handler = [](int) { _exit(0); };
          ::sigaction(SIGPIPE, &action, nullptr);
          os::outlive_readers();
          (void)fails_with_epipe(unread(Kind::pipe));
          return false;
        }) == "exit status 0");
}
