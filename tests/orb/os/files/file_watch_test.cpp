// Tests what is noticed of a file that other processes touch, rename, remove or rewrite.
#include "orb/os/files/file_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/system/temp_directory.h"

namespace file_watch_test {

using namespace corelane::os;

namespace {

class Watched {
 public:
  Watched() : directory(above / "place"), path(directory + "/file") {
    std::filesystem::create_directory(directory);
    file = open();
    watch = FileWatch(file, directory.c_str());
    REQUIRE(watch.is_quiet());
  }
  Fd open() const { return Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)); }

  const corelane::testing::TempDirectory above;
  const std::string directory, path;
  Fd file;
  FileWatch watch;
};

}  // namespace

TEST_CASE("a watched file that another process touches is not quiet until that is cleared") {
  Watched at;
  const Fd other = at.open();
  CHECK(at.watch.is_quiet());
  REQUIRE(touch_file(other));
  CHECK_FALSE(at.watch.is_quiet());
  at.watch.clear();
  CHECK(at.watch.is_quiet());
}

TEST_CASE("own writes and readers leave a watched file quiet") {
  Watched at;
  REQUIRE(write(at.file.get(), "x", 1) == 1);
  std::ifstream(at.path).get();
  CHECK(at.watch.is_quiet());
}

TEST_CASE("a watched file that was rewritten, renamed, replaced or removed is not quiet") {
  Watched at;
  SECTION("rewritten") { std::ofstream(at.path) << "y"; }
  SECTION("renamed") { std::filesystem::rename(at.path, at.path + ".old"); }
  SECTION("replaced") {
    std::ofstream(at.path + ".new") << "z";
    std::filesystem::rename(at.path + ".new", at.path);
  }
  SECTION("removed") { std::filesystem::remove(at.path); }
  SECTION("its directory renamed") { std::filesystem::rename(at.directory, at.directory + ".old"); }
  CHECK_FALSE(at.watch.is_quiet());
}

TEST_CASE("more than is read at once does not make a watch quiet before all is forgotten") {
  Watched at;
  const Fd other = at.open();
  for (int i = 0; i < 3000; ++i) {
    REQUIRE(touch_file(other));
    at.open().reset();  // so that no two events in a row are the same
  }
  for (int i = 0; i < 100 && !at.watch.is_quiet(); ++i) at.watch.clear();
  CHECK(at.watch.is_quiet());
}

TEST_CASE("a watch of no file never reports that the file is quiet") {
  const FileWatch nothing;
  nothing.clear();
  CHECK_FALSE(nothing.is_quiet());
  const FileWatch no_file(Fd{}, "/tmp");
  CHECK_FALSE(no_file.is_quiet());
}

}  // namespace file_watch_test
