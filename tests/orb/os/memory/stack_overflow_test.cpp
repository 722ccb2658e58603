// Tests what a process says, and how it ends, when one of its threads overflows its stack.
#include "orb/os/memory/stack_overflow.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <iostream>
#include <string>

#include "orb/os/fd.h"
#include "orb/os/thread.h"
#include "tests/support/peers/fork_alone.h"

namespace stack_overflow_test {

using namespace corelane;

namespace {

bool can_run() {
  if (!os::reports_stack_overflow) std::cout << "SKIPPED: sanitizers report overflows themselves\n";
  return os::reports_stack_overflow;
}

// How a child ended, and what it wrote to standard error.
struct End {
  int status = 0;
  std::string said;

  bool by(int signal) const { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
  bool with(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
};

// Runs `work` in a child, without the handler of the test program.
End end_of(const std::function<void()>& work) {
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  os::Fd read(ends[0]), write(ends[1]);
  const pid_t child = testing::fork_alone();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::signal(SIGSEGV, SIG_DFL);
    ::dup2(write.get(), STDERR_FILENO);
    work();
    ::_exit(0);
  }
  write = {};
  End end;
  char buffer[256];
  // Bound: the child's lines.
  for (ssize_t size = 0; (size = ::read(read.get(), buffer, sizeof buffer)) > 0;)
    end.said.append(buffer, static_cast<std::size_t>(size));
  while (::waitpid(child, &end.status, 0) < 0 && errno == EINTR) continue;
  return end;
}

os::ThreadOptions options(bool is_lazy, std::string_view setting = "pool.stack") {
  return {.name = "cl-deep", .stack = 256 * 1024, .lazy_stack = is_lazy, .stack_setting = setting};
}

void run(os::ThreadOptions options, std::function<void()> work) {
  auto thread = os::start_thread(std::move(options), std::move(work));
  if (thread) thread->join();
}

// Makes nested frames of that many bytes each until there is no more room.
template <std::size_t frame>
[[gnu::noinline]] int descend(int depth) {
  volatile char room[frame];
  room[0] = static_cast<char>(depth);
  return depth < 0 ? room[0] : descend<frame>(depth + 1) + room[0];
}

const std::string line =
    "corelane: the stack of thread cl-deep (256 KiB) overflowed: let the servant put less on it, or set pool.stack to "
    "more bytes\n";

}  // namespace

TEST_CASE("a thread whose stack overflows is named, with the setting, and the process ends by SIGSEGV") {
  if (!can_run()) return;
  const bool is_lazy = GENERATE(false, true);
  SECTION("by many small frames") {
    const End end = end_of([&] { run(options(is_lazy), [] { descend<64>(0); }); });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said == line);
  }
  SECTION("by frames that are larger than a page") {
    const End end = end_of([&] { run(options(is_lazy), [] { descend<80'000>(0); }); });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said == line);
  }
  SECTION("by one frame that is larger than the stack") {
    const End end = end_of([&] { run(options(is_lazy), [] { descend<900'000>(0); }); });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said == line);
  }
}

TEST_CASE("a thread that uses nearly all of its stack is left alone") {
  const bool is_lazy = GENERATE(false, true);
  // In a child, too, so that this process gets no handler that affects other tests.
  const End end = end_of([&] {
    run(options(is_lazy), [] {
      volatile char room[200'000];
      for (std::size_t i = 0; i < sizeof room; i += 4096) room[i] = 1;
      _exit(room[4096] + 6);
    });
  });
  CHECK(end.with(7));
  CHECK(end.said.empty());
}

TEST_CASE("the handler that a program had before hears of an overflow, too, and of all else") {
  if (!can_run()) return;
  const bool with_information = GENERATE(false, true);
  const auto install = [&] {
    struct sigaction theirs {};
    if (with_information) {
      theirs.sa_flags = SA_SIGINFO;
      theirs.sa_sigaction = [](int, siginfo_t*, void*) { ::_exit(42); };
    } else {
      theirs.sa_handler = [](int) { ::_exit(42); };
    }
    sigaction(SIGSEGV, &theirs, nullptr);
  };
  const End overflow = end_of([&] { install(), run(options(false), [] { descend<64>(0); }); });
  CHECK(overflow.with(42));
  CHECK(overflow.said == line);
  const End other = end_of([&] { install(), run(options(false), [] { *static_cast<volatile int*>(nullptr) = 1; }); });
  CHECK(other.with(42));
  CHECK(other.said.empty());
}

TEST_CASE("other faults end the process as ever, without a word") {
  if (!can_run()) return;
  SECTION("a fault that is no overflow") {
    const End end = end_of([] { run(options(false), [] { *static_cast<volatile int*>(nullptr) = 1; }); });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said.empty());
  }
  SECTION("a signal that somebody sends") {
    const End end = end_of([] { run(options(false), [] { ::kill(::getpid(), SIGSEGV), ::pause(); }); });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said.empty());
  }
  SECTION("such a signal where the program ignores it") {
    const End end = end_of([] {
      ::signal(SIGSEGV, SIG_IGN);
      run(options(false), [] { ::raise(SIGSEGV); });
    });
    CHECK(end.with(0));
  }
  SECTION("an overflow of a thread without a setting") {
    const End end = end_of([] { run(options(false, {}), [] { descend<64>(0); }); });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said.empty());
  }
  SECTION("an overflow after the thread with a report has ended") {
    const End end = end_of([] {
      run(options(false), [] {});
      run(options(false, {}), [] { descend<64>(0); });
    });
    CHECK(end.by(SIGSEGV));
    CHECK(end.said.empty());
  }
}

TEST_CASE("an overflow is reported even if standard error has no reader") {
  if (!can_run()) return;
  const End end = end_of([] {
    int ends[2] = {-1, -1};
    if (::pipe(ends) != 0) ::_exit(1);
    ::close(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::signal(SIGPIPE, SIG_DFL);
    run(options(false), [] { descend<64>(0); });
  });
  CHECK(end.by(SIGSEGV));
}

}  // namespace stack_overflow_test
