#include "orb/os/machine/core_list.h"

#include <catch2/catch.hpp>

using namespace corelane;

TEST_CASE("lists of cores are read as the kernel writes them") {
  const auto read_again = [](const char* text) { return os::core_list_text(os::parse_core_list(text).value()); };
  CHECK(read_again("0-3,6\n") == "0-3,6");
  CHECK(read_again("5,1-2,2") == "1-2,5");
  CHECK(read_again("0,8191") == "0,8191");
  CHECK(read_again("\n") == "");
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,", ",1", "1 2", "8192", "1-99999999999"})
    CHECK_FALSE(os::parse_core_list(bad));
}
