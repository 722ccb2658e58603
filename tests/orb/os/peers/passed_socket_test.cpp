// Tests sockets that systemd passes on. This process plays systemd for a child.
#include "orb/os/peers/passed_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "orb/os/socket_path.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

// Returns what a child with the socket as descriptor 4 finds: one character for each path, '+' if it takes a socket.
std::string found_in_child(const os::Fd& passed, const std::string& pid, const std::vector<std::string>& paths,
                           const char* count = "2") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    const int out = fcntl(ends[1], F_DUPFD, 10);
    dup2(fcntl(passed.get(), F_DUPFD, 10), 4);
    close(3);
    setenv("LISTEN_FDS", count, 1);
    setenv("LISTEN_PID", pid == "own" ? std::to_string(getpid()).c_str() : pid.c_str(), 1);
    for (const std::string& path : paths) {
      const os::Fd found = os::take_passed_socket(path);
      const bool good = found && (fcntl(found.get(), F_GETFD) & FD_CLOEXEC) != 0;
      (void)!write(out, good ? "+" : "-", 1);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text(8, ' ');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(read(ends[0], text.data(), paths.size()), 0)));
  for (ssize_t more = 1; more > 0 && text.size() < paths.size();) {
    char letter = 0;
    more = read(ends[0], &letter, 1);
    if (more > 0) text += letter;
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return text;
}

}  // namespace

TEST_CASE("a socket that systemd passed is found by its path, once") {
  const TempDirectory place;
  const std::string path = place / "own.sock";
  const os::Fd passed = listening_socket(path);
  CHECK(found_in_child(passed, "own", {place / "other.sock", path, path}) == "-+-");
}

TEST_CASE("a number of passed sockets that cannot be is searched no further than there may be some") {
  const TempDirectory place;
  const std::string path = place / "own.sock";
  const os::Fd passed = listening_socket(path);
  CHECK(found_in_child(passed, "own", {place / "other.sock", path}, "2147483647") == "-+");
}

TEST_CASE("a socket that systemd passed to another process is left alone") {
  const TempDirectory place;
  const os::Fd passed = listening_socket(place / "own.sock");
  CHECK(found_in_child(passed, "1", {place / "own.sock"}) == "-");
  CHECK(found_in_child(passed, "x", {place / "own.sock"}) == "-");
}
