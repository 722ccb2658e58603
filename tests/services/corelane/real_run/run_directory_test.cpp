#include "services/corelane/real_run/run_directory.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/system/temp_directory.h"

using namespace corelane::testing;
using corelane::tool::RunDirectory;

TEST_CASE("the directory of a run is removed with what it has") {
  const TempDirectory parent;
  std::string path;
  {
    const RunDirectory directory(parent.path());
    path = directory.path();
    CHECK(std::filesystem::is_directory(path));
    CHECK(parent.entries() == 1);
    std::ofstream(path + "/file") << "content";
    std::filesystem::create_directory(path + "/folder");
  }
  CHECK(!std::filesystem::exists(path));
  CHECK(parent.entries() == 0);
}

TEST_CASE("each run has a directory of its own") {
  const TempDirectory parent;
  const RunDirectory first(parent.path()), second(parent.path());
  CHECK(first.path() != second.path());
}

// Error paths.

TEST_CASE("a directory that cannot be made is an error that names its parent") {
  const TempDirectory parent;
  CHECK_THROWS_WITH(RunDirectory(parent / "missing"), Catch::Contains("missing") && Catch::Contains("set TMPDIR"));
}
