// Tests the socket path itself. What listeners do with it is tested in tests/orb/transport/unix/unix_test.cpp and
// tests/orb/channel/ends/setup_test.cpp.
#include "orb/os/socket_path.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <string>

#include "tests/support/system/temp_directory.h"

using namespace corelane;

namespace {

// Listens at the path for a moment, while this process may have that many descriptors. Returns whether it listened.
bool listens_with(rlim_t descriptors, const std::string& path) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = descriptors, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &few);
  bool listening = false;
  {
    auto claimed = os::SocketPath::claim(path);
    listening = claimed && claimed->listen(0600);
  }
  setrlimit(RLIMIT_NOFILE, &before);
  return listening;
}

}  // namespace

TEST_CASE("a listener that finds no free descriptor leaves no file behind") {
  const testing::TempDirectory directory;
  const auto lowest = static_cast<rlim_t>(os::Fd(open("/dev/null", O_RDONLY | O_CLOEXEC)).get());
  int listened = 0, failed = 0;
  for (rlim_t more = 0; more < 16; ++more) {
    listens_with(lowest + more, directory / "plant.sock") ? ++listened : ++failed;
    CHECK(directory.entries() == 0);
  }
  CHECK(listened > 0);
  CHECK(failed > 0);
}

TEST_CASE("a socket's path that cannot be one is told what is wrong with it") {
  CHECK(os::SocketPath::claim("run/plant").error().why.find("begin it with /") != std::string::npos);
  const std::string long_path = "/" + std::string(os::longest_unix_path, 'x');
  CHECK(os::SocketPath::claim(long_path).error().why.find("take a shorter directory") != std::string::npos);
}

TEST_CASE("an error about a socket's path in use says how to find the process that uses it") {
  const testing::TempDirectory directory;
  const std::string path = directory / "plant.sock";
  const auto first = os::SocketPath::claim(path);
  REQUIRE(first);
  CHECK(os::SocketPath::claim(path).error().why ==
        "another program listens there (`ss -lxp src " + path + "` shows which); take another path");
  const std::string odd = directory / "a b$(id)";
  const auto second = os::SocketPath::claim(odd);
  REQUIRE(second);
  CHECK(os::SocketPath::claim(odd).error().why == "another program listens there; take another path");
}

TEST_CASE("a Unix socket's address is a file's path or an abstract name") {
  CHECK(os::unix_address("/x"));
  CHECK(os::unix_address("@x"));
  CHECK(os::unix_address("/" + std::string(os::longest_unix_path - 1, 'x')));
  for (const std::string& bad : {std::string(), std::string("x"), std::string("@"),
                                 "/" + std::string(os::longest_unix_path, 'x'), std::string("/a\0b", 4)}) {
    INFO(bad);
    CHECK_FALSE(os::unix_address(bad));
  }
}

TEST_CASE("a process that has the number of an earlier one, in a namespace of its own, gets another path") {
  const testing::TempDirectory directory;
  const auto path_of_first_process = [&]() -> std::string {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t outer = fork();
    if (outer == 0) {
      if (unshare(CLONE_NEWPID) != 0) _exit(2);
      const pid_t inner = fork();
      if (inner == 0) {
        const auto chosen = os::SocketPath::choose(directory.path());
        if (!chosen || write(ends[1], chosen->path().data(), chosen->path().size()) < 0) _exit(1);
        _exit(0);
      }
      int status = 0;
      waitpid(inner, &status, 0);
      _exit(WEXITSTATUS(status));
    }
    close(ends[1]);
    std::string path(256, ' ');
    const ssize_t count = read(ends[0], path.data(), path.size());
    close(ends[0]);
    int status = 0;
    waitpid(outer, &status, 0);
    if (WEXITSTATUS(status) == 2) return "";
    CHECK(WEXITSTATUS(status) == 0);
    path.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return path;
  };
  const std::string earlier = path_of_first_process();
  if (earlier.empty()) {
    std::cout << "SKIPPED: a namespace of processes takes privileges\n";
    return;
  }
  CHECK_THAT(earlier, Catch::Contains("/1."));
  CHECK(path_of_first_process() != earlier);
}
