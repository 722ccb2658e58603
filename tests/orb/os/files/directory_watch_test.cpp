// What a DirectoryWatch notices.
#include "orb/os/files/directory_watch.h"

#include <poll.h>
#include <sys/resource.h>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/system/captured_errors.h"
#include "tests/support/system/temp_directory.h"

namespace directory_watch_test {

using corelane::os::DirectoryWatch;

namespace {

struct Watched {
  const corelane::testing::TempDirectory above;
  const std::array<std::string, 2> directories{above / "one", above / "two"};
  const std::string file = directories[1] + "/file";
  DirectoryWatch watch;

  Watched() {
    for (const std::string& each : directories) std::filesystem::create_directory(each);
    std::ofstream(file) << "x";
    watch = DirectoryWatch(directories);
    REQUIRE(watch);
    REQUIRE_FALSE(watch.take());
  }
  bool is_readable() const {
    pollfd entry{.fd = watch.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&entry, 1, 0) == 1;
  }
};

// Takes all descriptors that this process may still open.
class NoDescriptors {
 public:
  NoDescriptors() {
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE("a watch notices what happens in its directories, once") {
  Watched at;
  SECTION("a file is made") { std::ofstream(at.directories[0] + "/new") << "y"; }
  SECTION("a file is written") { std::ofstream(at.file) << "y"; }
  SECTION("a file is renamed") { std::filesystem::rename(at.file, at.file + ".old"); }
  SECTION("a file is removed") { std::filesystem::remove(at.file); }
  CHECK(at.is_readable());
  CHECK(at.watch.take());
  CHECK(at.watch);
  CHECK_FALSE(at.is_readable());
  CHECK_FALSE(at.watch.take());
}

TEST_CASE("a watch does not notice readers, or a file that is written and stays open") {
  Watched at;
  std::ifstream(at.file).get();
  std::ofstream open(at.file, std::ios::app);
  open << "y" << std::flush;
  CHECK_FALSE(at.watch.take());
}

TEST_CASE("a watch notices a new file when it is closed, not when it is made") {
  Watched at;
  std::ofstream made(at.directories[0] + "/new");
  CHECK_FALSE(at.watch.take());
  made.close();
  CHECK(at.watch.take());
}

TEST_CASE("a watch does not notice that a directory or a link is made") {
  Watched at;
  std::filesystem::create_directory(at.directories[0] + "/below");
  std::filesystem::create_symlink(at.file, at.directories[0] + "/link");
  CHECK_FALSE(at.watch.take());
}

TEST_CASE("a watch ends when one of its directories is removed or renamed") {
  Watched at;
  SECTION("removed") { std::filesystem::remove_all(at.directories[0]); }
  SECTION("renamed") { std::filesystem::rename(at.directories[0], at.above / "other"); }
  CHECK(at.watch.take());
  CHECK_FALSE(at.watch);
}

TEST_CASE("a watch of a directory that is not there watches nothing") {
  const corelane::testing::TempDirectory above;
  const std::array<std::string, 2> directories{above / ".", above / "missing"};
  DirectoryWatch watch(directories);
  CHECK_FALSE(watch);
  CHECK(watch.descriptor() == -1);
  CHECK_FALSE(watch.take());
}

TEST_CASE("the log says once that nothing can be watched, and what to do") {
  const corelane::testing::TempDirectory above;
  const std::array<std::string, 1> directories{above.path()};
  const corelane::testing::CapturedErrors errors;
  {
    const NoDescriptors none;
    CHECK_FALSE(DirectoryWatch(directories));
    CHECK_FALSE(DirectoryWatch(directories));
  }
  CHECK(errors.times("raise fs.inotify.max_user_instances") == 1);
  CHECK(DirectoryWatch(directories));
}

}  // namespace directory_watch_test
