// Tests a child process that runs another program: its pipes, its end, and that nothing of it is left.
#include "orb/os/process/child_process.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "orb/os/clock.h"
#include "orb/os/machine/cpu_mask.h"

using namespace corelane;
using namespace corelane::os;

namespace {

ChildProcess shell(const std::string& script, ChildOptions options = {}) {
  return ChildProcess({"/bin/sh", "-c", script}, options);
}

}  // namespace

TEST_CASE("a program answers line by line") {
  ChildProcess echo = shell("while read line; do echo \"<$line>\"; done");
  for (const std::string word : {"one", "two"}) {
    echo.write_line(word);
    CHECK(echo.read_line().value() == "<" + word + ">");
  }
  echo.end_input();
  CHECK_FALSE(echo.read_line());
  CHECK(echo.wait()->ok());
}

TEST_CASE("all output comes at once, the last line with or without its newline") {
  CHECK(shell("echo a; printf b").read_all().value() == "a\nb");
  ChildProcess lines = shell("echo a; echo; printf b");
  CHECK(lines.read_line().value() == "a");
  CHECK(lines.read_line().value().empty());
  CHECK(lines.read_line().value() == "b");
  CHECK_FALSE(lines.read_line());
}

TEST_CASE("a function runs in a copy of this process, and its output comes back") {
  int calls = 0;
  ChildProcess child = ChildProcess::running([&] {
    ++calls;
    (void)::write(STDOUT_FILENO, "done", 4);
  });
  CHECK(child.read_all().value() == "done");
  CHECK(child.wait()->ok());
  CHECK(calls == 0);
}

TEST_CASE("a function that throws, or never ends, ends with its process") {
  ChildProcess thrower = ChildProcess::running([] { throw 1; });
  CHECK(thrower.wait()->code == 1);
  pid_t pid = 0;
  {
    ChildProcess sleeper = ChildProcess::running([] {
      for (;;) ::pause();
    });
    pid = sleeper.pid();
    CHECK_FALSE(sleeper.read_all(now() + std::chrono::milliseconds{1}));
  }
  CHECK(::kill(pid, 0) == -1);
  CHECK(errno == ESRCH);
}

TEST_CASE("a function may crash, and the status says so") {
  CHECK(ChildProcess::running([] { std::abort(); }).wait()->signal == SIGABRT);
}

TEST_CASE("standard error joins the output where it is told to") {
  CHECK(shell("echo out; echo err >&2", {.joins_errors = true}).read_all().value() == "out\nerr\n");
}

TEST_CASE("a program runs on the core that it was given") {
  const CoreId core = [] {
    CoreId first{0};
    while (!process_affinity().contains(first)) ++first.value;
    return first;
  }();
  ChildProcess child = shell("grep Cpus_allowed_list /proc/self/status", {.core = core});
  CHECK_THAT(child.read_line().value(), Catch::EndsWith("\t" + std::to_string(core.value)));
}

TEST_CASE("a program's end is told as a text") {
  CHECK(shell("exit 3").wait()->text() == "exit status 3");
  CHECK(shell("kill -TERM $$").wait()->text() == "killed by signal 15 (Terminated)");
  CHECK(ExitStatus{}.ok());
  CHECK_FALSE(ExitStatus{.code = 1}.ok());
  CHECK_FALSE(ExitStatus{.signal = SIGKILL}.ok());
}

// Edges.

TEST_CASE("a deadline ends every wait for a program that says nothing and stays") {
  ChildProcess child = shell("read forever");
  const Time soon = now() + std::chrono::milliseconds{5};
  CHECK_FALSE(child.read_line(soon));
  CHECK_FALSE(child.read_all(soon));
  CHECK_FALSE(child.wait(soon));
  child.end_input();
  CHECK(child.wait(now() + std::chrono::hours{1}));
}

TEST_CASE("a deadline ends the wait for the output of a program that never stops writing") {
  ChildProcess child({"yes"});
  CHECK_FALSE(child.read_all(now() + std::chrono::milliseconds{5}));
  CHECK(child.read_line().value() == "y");  // what came before the deadline is kept
}

TEST_CASE("a program is gone with its handle, and so is what it started") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);  // inherited: its other end closes with the last process that has it
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  { CHECK(shell("sleep 1000 & echo started; wait").read_line().value() == "started"); }
  write_end.reset();
  char byte;
  CHECK(read(read_end.get(), &byte, 1) == 0);
}

TEST_CASE("processes that a program leaves running are gone once the program was waited for") {
  ChildProcess child = shell("sleep 1000 & echo started");
  CHECK(child.read_line().value() == "started");
  CHECK(child.wait()->ok());
  CHECK(child.read_all().value().empty());  // ends when no process has its output any more
}

TEST_CASE("a handle that was moved from owns no program") {
  ChildProcess first = shell("cat");
  ChildProcess second = std::move(first);
  second.write_line("still here");
  CHECK(second.read_line().value() == "still here");
}

// Error paths.

TEST_CASE("a program that is not there is an error that names it") {
  CHECK_THROWS_WITH(ChildProcess({"/nowhere/program"}), Catch::Contains("/nowhere/program: No such file"));
  CHECK_THROWS_AS(ChildProcess({"no-such-program-in-the-path"}), std::system_error);
}

TEST_CASE("a line to a program that has ended is lost and harms no process") {
  ChildProcess child = shell("exit 0");
  CHECK_FALSE(child.read_line());
  child.write_line("anybody there?");
  CHECK(child.wait()->ok());
}
