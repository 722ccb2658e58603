#include "orb/os/files/directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "tests/support/system/temp_directory.h"

using namespace corelane;
using Catch::Matchers::Contains;

TEST_CASE("a directory is made and found again") {
  const testing::TempDirectory place;
  CHECK(os::make_directory(place / "new"));
  CHECK(os::make_directory(place / "new"));
  CHECK(std::filesystem::is_directory(place / "new"));
}

TEST_CASE("a directory whose parent is not there is not made and the reason names it") {
  const testing::TempDirectory place;
  const auto made = os::make_directory(place / "slip/new");
  REQUIRE_FALSE(made);
  CHECK_THAT(made.error(), Contains("slip/new cannot be made: No such file or directory"));
  CHECK(place.entries() == 0);
}

TEST_CASE("a file that stands in a directory's place is named") {
  const testing::TempDirectory place;
  std::ofstream(place / "plain") << "x";
  std::filesystem::create_directory_symlink(place.path(), place / "link");
  REQUIRE(mkfifo((place / "fifo").c_str(), 0600) == 0);
  CHECK_THAT(os::make_directory(place / "plain").error(), Contains("is a plain file, no directory"));
  CHECK_THAT(os::make_directory(place / "link").error(), Contains("is a symbolic link, no directory"));
  CHECK_THAT(os::make_directory(place / "fifo").error(), Contains("is a fifo, no directory"));
}

TEST_CASE("a stranger's directory is refused by its owner's number") {
  if (geteuid() != 0) {
    std::cout << "SKIPPED: only root can give a directory away\n";
    return;
  }
  const testing::TempDirectory place;
  REQUIRE(mkdir((place / "theirs").c_str(), 0777) == 0);
  REQUIRE(chown((place / "theirs").c_str(), 12345, 12345) == 0);
  CHECK_THAT(os::make_directory(place / "theirs").error(),
             Contains("belongs to user 12345") && Contains("as root, remove it"));
}

TEST_CASE("why a path is not this user's to write is said with the owner and what to do") {
  if (geteuid() != 0) {
    std::cout << "SKIPPED: only root can give a directory away\n";
    return;
  }
  const testing::TempDirectory place;
  REQUIRE(mkdir((place / "theirs").c_str(), 0700) == 0);
  std::ofstream(place / "theirs/file") << "x";
  for (const char* name : {"theirs", "theirs/file"})
    REQUIRE(chown((place / std::string(name)).c_str(), 12345, 12345) == 0);
  CHECK(os::ownership_text(place / "theirs/new") == "");  // root may write there
  CHECK_THAT(os::ownership_text(place / "theirs/file"),
             Contains("theirs/file belongs to user 12345, and this is user "));
  REQUIRE(mkdir((place / "own").c_str(), 0700) == 0);
  CHECK(os::ownership_text(place / "own/new") == "");
  REQUIRE(chmod((place / "own").c_str(), 0500) == 0);
  CHECK(os::ownership_text(place / "own/new/er") == "; chmod u+rwx " + place / "own");
}
