#include "orb/eval/experiment/csv.h"

#include <catch2/catch.hpp>

namespace csv_test {

using namespace corelane::eval;
using Fields = std::vector<std::string>;

TEST_CASE("fields with commas and quotes are quoted, and read back") {
  const Fields fields{"a", "", "b,c", "say \"no\"", "\""};
  const std::string line = csv_line(fields);
  CHECK(line == "a,,\"b,c\",\"say \"\"no\"\"\",\"\"\"\"\n");
  CHECK(csv_fields(line.substr(0, line.size() - 1)) == fields);
}

TEST_CASE("an end of a line in a field becomes a blank") { CHECK(csv_line({"a\nb\r"}) == "a b \n"); }

TEST_CASE("an empty line is one empty field, and a carriage return at its end is ignored") {
  CHECK(csv_fields("") == Fields{""});
  CHECK(csv_fields("a,b\r") == Fields{"a", "b"});
}

}  // namespace csv_test
