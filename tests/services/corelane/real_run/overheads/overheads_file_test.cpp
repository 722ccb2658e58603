#include "services/corelane/real_run/overheads/overheads_file.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>

using namespace corelane;
using namespace corelane::tool;

namespace overheads_file_test {

const std::string row = "[[overhead]]\nscenario = \"rejected\"\n";

std::string fault_in(const std::string& text) {
  const auto file = parse_overheads(text, "costs.toml");
  return file ? "none" : file.error().text;
}

TEST_CASE("a file names scenarios, and what was published for them") {
  const auto file = parse_overheads("name = \"Costs\"\nsamples = 7\nsource = \"somewhere\"\n" + row +
                                        "published = { min = 39, mean = 50, max = 107 }\n"
                                        "[[overhead]]\nscenario = \"bare-hops\"\n",
                                    "costs.toml");
  REQUIRE(file);
  CHECK(file->name == "Costs");
  CHECK(file->samples == 7);
  CHECK(file->source == "somewhere");
  REQUIRE(file->rows.size() == 2);
  CHECK(file->rows[0].scenario->name == "rejected");
  REQUIRE(file->rows[0].published);
  CHECK(file->rows[0].published->min == 39);
  CHECK(file->rows[0].published->mean == 50);
  CHECK(file->rows[0].published->max == 107);
  CHECK(file->rows[1].scenario->name == "bare-hops");
  CHECK(!file->rows[1].published);
}

TEST_CASE("a file that says only which scenarios to measure takes 1000 samples") {
  const auto file = parse_overheads(row, "costs.toml");
  REQUIRE(file);
  CHECK(file->samples == 1000);
}

TEST_CASE("only an overheads file is taken for one") {
  CHECK(is_overheads_file(row));
  CHECK(!is_overheads_file("[generate]\ntasks = 3\n"));
  CHECK(!is_overheads_file("[[overhead"));
}

TEST_CASE("the experiment of the repository has the five published scenarios, a hand-off, and a migration") {
  std::stringstream text;
  text << std::ifstream(CORELANE_SOURCE "/bench/eval/mc-orb-overheads.toml").rdbuf();
  const auto file = parse_overheads(text.str(), "mc-orb-overheads.toml");
  REQUIRE(file);
  REQUIRE(file->rows.size() == 7);
  CHECK(file->rows[5].scenario->name == "job-on-other-core");
  CHECK(file->rows[6].scenario->name == "job-migrates");
  const std::int64_t means[] = {55, 58, 64, 235, 50};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK(file->rows[i].scenario->title.starts_with(std::to_string(i + 1)));
    REQUIRE(file->rows[i].published);
    CHECK(file->rows[i].published->mean == means[i]);
  }
}

// Error paths.

TEST_CASE("a fault says where it is, and what is expected") {
  struct Case {
    std::string text, place, hint;
  };
  const Case c = GENERATE(Case{"samples = 7\n", "costs.toml:1:", "[[overhead]]"},
                          Case{"overhead = 7\n", "costs.toml:1:12: ", "[[overhead]]"},
                          Case{"sample = 7\n" + row, "costs.toml:1:1: ", "samples"},
                          Case{"samples = 0\n" + row, "costs.toml:1:11: ", "a whole number from 1 to 1000000; found 0"},
                          Case{"name = 7\n" + row, "costs.toml:1:8: ", "expected a text; found 7"},
                          Case{"[[overhead]]\nscenario = \"reject\"\n", "costs.toml:1:", "rejected"},
                          Case{"[[overhead]]\n", "costs.toml:1:", "expected one of new-task-on-managers-core"},
                          Case{row + "publish = 7\n", "costs.toml:3:1: ", "published"},
                          Case{row + "published = 7\n", "costs.toml:3:13: ", "min = 1, mean = 2, max = 3"},
                          Case{row + "published = { min = 1, max = 3 }\n", "costs.toml:3:13: ", "mean is missing"},
                          Case{row + "published = { min = -1, mean = 2, max = 3 }\n", "costs.toml:3:21: ", "found -1"},
                          Case{"[[overhead\n", "costs.toml:1:", ""});
  INFO(c.text);
  CHECK_THAT(fault_in(c.text), Catch::StartsWith(c.place) && Catch::Contains(c.hint));
}

}  // namespace overheads_file_test
