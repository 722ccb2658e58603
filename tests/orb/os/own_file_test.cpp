// Tests what is left of the files of a process that ends without removing them.
#include "orb/os/own_file.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>

#include "orb/os/socket_path.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;

namespace {

os::OwnFile make(const std::string& path) {
  return {path, os::Fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600))};
}

// Runs a function at the end of the process, after everything that was set up since the start of main().
struct AtEnd {
  std::function<void()> run;
  ~AtEnd() {
    if (run) run();
  }
};
AtEnd at_end;

// Runs `body` in a child that ends by exit(). Static pointers keep the objects that `body` leaves behind. exit() does
// not destroy these objects, and the leak check of the sanitizer, which runs first, still finds them reachable.
template <typename Body>
void in_child_that_exits(Body body) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    body();
    std::exit(0);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

}  // namespace

TEST_CASE("a file goes with its owner, wherever that was moved to") {
  const testing::TempDirectory directory;
  {
    os::OwnFile first = make(directory / "a");
    const os::OwnFile second = std::move(first);
    CHECK(second.is_there());
    CHECK(second.path() == directory / "a");
  }
  CHECK(directory.entries() == 0);
}

TEST_CASE("a file that another one has taken the path of stays") {
  const testing::TempDirectory directory;
  {
    const os::OwnFile first = make(directory / "a");
    std::filesystem::remove(directory / "a");
    (void)os::Fd(open((directory / "a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    CHECK_FALSE(first.is_there());
  }
  CHECK(directory.entries() == 1);
}

TEST_CASE("a process that exits leaves neither its own files nor those of its sockets") {
  const testing::TempDirectory directory;
  in_child_that_exits([&] {
    [[maybe_unused]] static auto* const file = new os::OwnFile(make(directory / "a"));
    static auto* const socket = new auto(os::SocketPath::claim(directory / "b.sock"));
    static auto* const listening = new auto((*socket)->listen(0600));
    if (!*listening || directory.entries() != 3) std::_Exit(1);
  });
  CHECK(directory.entries() == 0);
}

TEST_CASE("a file that is made after the end of the process has removed the others does not stay") {
  const testing::TempDirectory directory;
  CHECK_FALSE(os::OwnFile::are_gone());
  in_child_that_exits([&] {
    [[maybe_unused]] static auto* const file = new os::OwnFile(make(directory / "a"));
    if (os::OwnFile::are_gone()) std::_Exit(1);
    at_end.run = [&] {
      if (!os::OwnFile::are_gone()) std::_Exit(2);
      [[maybe_unused]] static auto* const late = new os::OwnFile(make(directory / "late"));
      if (late->is_there()) std::_Exit(3);
    };
  });
  CHECK(directory.entries() == 0);
}

TEST_CASE("a child that exits leaves its parent's files alone") {
  const testing::TempDirectory directory;
  const os::OwnFile mine = make(directory / "a");
  in_child_that_exits([] {});
  CHECK(mine.is_there());
  in_child_that_exits([&] { [[maybe_unused]] static auto* const file = new os::OwnFile(make(directory / "b")); });
  CHECK(mine.is_there());
  CHECK(directory.entries() == 1);
}
