#include "orb/os/process/descriptor_limit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

using namespace corelane::os;

namespace {

bool is_one_left(const Fd& any) { return static_cast<bool>(Fd(fcntl(any.get(), F_DUPFD_CLOEXEC, 0))); }

// Runs in a child process that may have 20 descriptors. Returns 0 if all is as expected.
int with_few_descriptors() {
  const rlimit few{.rlim_cur = 20, .rlim_max = 20};
  setrlimit(RLIMIT_NOFILE, &few);
  const Fd any(open("/dev/null", O_RDONLY | O_CLOEXEC));
  SpareDescriptor spare, another;
  spare.hold(any);
  std::vector<Fd> all;
  while (is_one_left(any)) all.emplace_back(fcntl(any.get(), F_DUPFD_CLOEXEC, 0));
  another.hold(any);  // no descriptor is left for it
  if (another.give_up()) return 1;
  spare.hold(any);  // it has one already
  if (is_one_left(any)) return 2;
  if (!spare.give_up() || !is_one_left(any)) return 3;
  if (spare.give_up()) return 4;
  spare.hold(any);
  if (is_one_left(any)) return 5;
  return out_of_descriptors(EMFILE).find("may have 20 (RLIMIT_NOFILE)") == std::string::npos ? 6 : 0;
}

}  // namespace

TEST_CASE("a spare descriptor is held where there is one, and given up once") {
  const pid_t child = fork();
  if (child == 0) _exit(with_few_descriptors());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("the error says which limit of descriptors was reached and how to raise it") {
  CHECK(is_out_of_descriptors(EMFILE));
  CHECK(is_out_of_descriptors(ENFILE));
  CHECK_FALSE(is_out_of_descriptors(ENOMEM));
  CHECK_THAT(out_of_descriptors(EMFILE), Catch::Contains("RLIMIT_NOFILE") && Catch::Contains("ulimit -n"));
  CHECK_THAT(out_of_descriptors(ENFILE), Catch::Contains("this host") && Catch::Contains("sysctl -w fs.file-max"));
}
