// Tests what is known of an output file before it is written.
#include "services/corelane/output/output_file.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/system/temp_directory.h"

namespace output_file_test {

using corelane::testing::TempDirectory;
using corelane::tool::fault_of_output_file;

TEST_CASE("nothing is known against a new file, an earlier one, a device or a link to a file that is not there") {
  const TempDirectory place;
  const std::string earlier = place / "earlier";
  std::ofstream(earlier) << "text";
  std::filesystem::create_symlink("/nowhere/target", place / "link");
  for (const std::string& path : {place / "new", earlier, place / "link", std::string("/dev/null")}) {
    CAPTURE(path);
    CHECK(fault_of_output_file(path) == "");
  }
  CHECK_FALSE(std::filesystem::exists(place / "new"));
}

TEST_CASE("a folder, and a file whose directory is not there or is a file, cannot be written") {
  const TempDirectory place;
  std::ofstream(place / "file") << "text";
  const std::string remedy = "; name a file in a directory that exists and that you may write to";
  CHECK(fault_of_output_file(place.path()) == place.path() + " is a folder; name a file");
  CHECK(fault_of_output_file(place / "none/a") ==
        (place / "none/a") + " cannot be written: No such file or directory" + remedy);
  CHECK(fault_of_output_file(place / "file/a") == (place / "file/a") + " cannot be written: Not a directory" + remedy);
}

}  // namespace output_file_test
