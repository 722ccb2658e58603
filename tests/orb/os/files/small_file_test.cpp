// Tests how small files replace what is there.
#include "orb/os/files/small_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "orb/os/fd.h"
#include "tests/support/system/temp_directory.h"

namespace small_file_test {

using namespace corelane::os;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string fault_of(const corelane::Expected<void, FileFault>& written) { return written ? "" : written.error().text; }

}  // namespace

TEST_CASE("a state file replaces a link, and never what the link leads to") {
  const TempDirectory place;
  const std::string link = place / "link", target = place / "target";
  std::ofstream(target) << "another user's";
  std::filesystem::create_symlink(target, link);
  CHECK(write_small_file(link, "mine"));
  CHECK_FALSE(std::filesystem::is_symlink(link));
  CHECK(read(link) == "mine");
  CHECK(read(target) == "another user's");
}

TEST_CASE("a state file never replaces a pipe or a folder") {
  const TempDirectory place;
  const std::string pipe = place / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(fault_of(write_small_file(pipe, "text")), Contains("is no plain file and is not replaced"));
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK_THAT(fault_of(write_small_file(place.path(), "text")), Contains("is a folder"));
  const std::string link = place / "link";  // as /dev/stdout
  std::filesystem::create_symlink(pipe, link);
  CHECK_THAT(fault_of(write_small_file(link, "text")), Contains("is no plain file and is not replaced"));
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("an output follows links and keeps the mode of the file") {
  const TempDirectory place;
  const std::string second = place / "second", first = place / "first", target = place / "target";
  std::ofstream(target) << "old";
  REQUIRE(::chmod(target.c_str(), 0640) == 0);
  std::filesystem::create_symlink("first", second);
  std::filesystem::create_symlink(target, first);
  CHECK(write_output_file(second, "new"));
  CHECK(std::filesystem::is_symlink(second));
  CHECK(std::filesystem::is_symlink(first));
  CHECK(read(target) == "new");
  struct stat status {};
  REQUIRE(::stat(target.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0640);
}

TEST_CASE("an output makes the target of a link, and refuses links in a circle") {
  const TempDirectory place;
  std::filesystem::create_symlink("target", place / "link");
  CHECK(write_output_file(place / "link", "new"));
  CHECK(read(place / "target") == "new");
  std::filesystem::create_symlink("b", place / "a");
  std::filesystem::create_symlink("a", place / "b");
  CHECK_THAT(fault_of(write_output_file(place / "a", "new")), Contains("is a link that leads to no file"));
  CHECK(std::filesystem::is_symlink(place / "a"));
}

TEST_CASE("an output is written straight to a pipe") {
  const TempDirectory place;
  const std::string pipe = place / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  CHECK(write_output_file(pipe, "text"));
  char text[5] = {};
  CHECK(::read(reader.get(), text, 4) == 4);
  CHECK(text == std::string("text"));
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a full device is a fault of an output, and stays a device") {
  const TempDirectory place;
  const std::string device = place / "full";  // as /dev/full
  constexpr unsigned memory_devices = 1, full = 7;
  if (::mknod(device.c_str(), S_IFCHR | 0600, makedev(memory_devices, full)) != 0) return;  // only root may
  if (const Fd file(::open(device.c_str(), O_WRONLY)); !file) return;  // the file system allows no devices
  CHECK_THAT(fault_of(write_output_file(device, "text")), Contains("cannot be written: No space left on device"));
  CHECK(std::filesystem::is_character_file(device));
  CHECK_THAT(fault_of(write_small_file(device, "text")), Contains("is no plain file"));
  CHECK(std::filesystem::is_character_file(device));
}

}  // namespace small_file_test
