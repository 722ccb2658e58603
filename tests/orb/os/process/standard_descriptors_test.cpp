#include "orb/os/process/standard_descriptors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

namespace {

bool is_null_device(int descriptor) {
  struct stat here {
  }, null{};
  return fstat(descriptor, &here) == 0 && stat("/dev/null", &null) == 0 && here.st_rdev == null.st_rdev;
}

// Returns whether the descriptor refuses to read or write, so that nothing is lost silently.
bool is_of_no_use(int descriptor) {
  char byte = 0;
  const ssize_t done = descriptor == STDIN_FILENO ? read(descriptor, &byte, 1) : write(descriptor, &byte, 1);
  return done == -1 && errno == EBADF;
}

// Closes these descriptors in a child. Returns whether each is /dev/null then, and the next file gets another number.
bool holds(std::initializer_list<int> closed) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int descriptor : closed) close(descriptor);
    corelane::os::hold_standard_descriptors();
    bool held = open("/", O_RDONLY | O_DIRECTORY) > STDERR_FILENO;
    for (const int descriptor : closed) held = held && is_null_device(descriptor) && is_of_no_use(descriptor);
    _exit(held ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("closed standard descriptors are held, so that no file gets their numbers") {
  CHECK(holds({0, 1, 2}));
  CHECK(holds({1}));
  CHECK(holds({0, 2}));
}

TEST_CASE("open standard descriptors stay what they are") {
  struct stat before {
  }, after{};
  REQUIRE(fstat(STDOUT_FILENO, &before) == 0);
  corelane::os::hold_standard_descriptors();
  REQUIRE(fstat(STDOUT_FILENO, &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(before.st_dev == after.st_dev);
}
