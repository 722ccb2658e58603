// What ends the wait at a DirectoryBell.
#include "orb/os/wait/directory_bell.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/system/temp_directory.h"

using corelane::os::DirectoryBell;

TEST_CASE("a resting bell wakes for its directory, until the events are taken, and for unpark()") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory.path();
  DirectoryBell bell;
  REQUIRE(bell.watch({&path, 1}));
  bell.set_resting(true);
  std::ofstream(directory / "new") << "x";
  bell.park(corelane::never);  // would block
  bell.park(corelane::never);
  CHECK(bell.take_events());
  CHECK_FALSE(bell.take_events());
  bell.unpark();
  bell.park(corelane::never);
}

TEST_CASE("a bell that does not rest, or whose directory has gone, wakes for unpark()") {
  const corelane::testing::TempDirectory directory;
  const std::string path = directory / "run";
  std::filesystem::create_directory(path);
  DirectoryBell bell;
  REQUIRE(bell.watch({&path, 1}));
  bell.set_resting(GENERATE(false, true));
  std::filesystem::remove(path);
  CHECK(bell.take_events());
  CHECK_FALSE(bell.watches());
  CHECK_FALSE(bell.watch({&path, 1}));
  bell.unpark();
  bell.park(corelane::never);
}
