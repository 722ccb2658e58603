#include "services/corelane/reproductions/reproduction_file.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

namespace reproduction_file_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;
using namespace std::chrono_literals;

const std::string entry = "[[reproduction]]\nexperiment = \"replenishment\"\n";

std::string fault_in(const std::string& text) {
  const auto file = parse_reproductions(text, "quest.toml");
  return file ? "none" : file.error().text;
}

std::string text_of_file(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(CORELANE_SOURCE "/bench/eval/" + name).rdbuf();
  return text.str();
}

TEST_CASE("a file names experiments, and what was published for their rows") {
  const auto file = parse_reproductions("name = \"Quest\"\nsource = \"somewhere\"\n" + entry +
                                            "published = { \"POSIX' rule\" = [\"27\"] }\n"
                                            "[[reproduction]]\nexperiment = \"server-counts\"\nlength = \"3s\"\n",
                                        "quest.toml");
  REQUIRE(file);
  CHECK(file->name == "Quest");
  CHECK(file->source == "somewhere");
  REQUIRE(file->entries.size() == 2);
  CHECK(file->entries[0].experiment->name == "replenishment");
  CHECK(file->entries[0].published == ExperimentValues{{"27"}, {""}});
  CHECK(file->entries[1].length == 3s);
}

TEST_CASE("an experiment has its own length unless the file gives another one") {
  const auto file = parse_reproductions("[[reproduction]]\nexperiment = \"io-on-behalf\"\n", "quest.toml");
  REQUIRE(file);
  CHECK(file->entries[0].length == 4s);
}

TEST_CASE("the name of each experiment is known once") {
  for (const Experiment* const experiment : experiments()) {
    const auto file =
        parse_reproductions("[[reproduction]]\nexperiment = \"" + std::string(experiment->name) + "\"\n", "all.toml");
    REQUIRE(file);
    CHECK(file->entries[0].experiment == experiment);
  }
}

TEST_CASE("the files of bench/eval are reproduction files, and others are not") {
  for (const std::string name : {"quest.toml", "time-sensitive-linux.toml"}) {
    INFO(name);
    CHECK(is_reproduction_file(text_of_file(name)));
    CHECK(parse_reproductions(text_of_file(name), name));
  }
  CHECK(!is_reproduction_file(text_of_file("mc-orb-overheads.toml")));
  CHECK(!is_reproduction_file(text_of_file("mc-orb-misses.toml")));
}

// Error paths.

TEST_CASE("a fault names its place, and what is expected") {
  struct Case {
    std::string text, place, hint;
  };
  const auto c = GENERATE(
      Case{"reproduction = 7\n", "quest.toml:1:16: ", "expected tables [[reproduction]]"},
      Case{"nam = \"x\"\n" + entry, "quest.toml:1:1: ", "name"},
      Case{"name = 7\n" + entry, "quest.toml:1:8: ", "expected a text; found 7"},
      Case{"[[reproduction]]\nexperiment = \"replenish\"\n", "quest.toml:1:", "replenishment"},
      Case{"[[reproduction]]\n", "quest.toml:1:", "expected one of timer-interrupts"},
      Case{entry + "lenght = \"1s\"\n", "quest.toml:3:1: ", "length"},
      Case{entry + "length = \"1s\"\n", "quest.toml:3:10: ", "fixed length; leave it out"},
      Case{"[[reproduction]]\nexperiment = \"io-servers\"\nlength = 4\n", "quest.toml:3:10: ", "from 10ms to 1h"},
      Case{"[[reproduction]]\nexperiment = \"io-servers\"\nlength = \"1ms\"\n", "quest.toml:3:10: ", "from 10ms"},
      Case{entry + "published = 7\n", "quest.toml:3:13: ", "values for each row"},
      Case{entry + "published = { \"rule\" = [\"27\"] }\n", "quest.toml:3:15: ", "corrected rule"},
      Case{entry + "published = { \"corrected rule\" = [\"27\", \"1\"] }\n", "quest.toml:3:", "expected 1 texts"},
      Case{entry + "published = { \"corrected rule\" = [27] }\n", "quest.toml:3:", "expected a text; found 27"},
      Case{"[[reproduction\n", "quest.toml:1:", ""});
  INFO(c.text);
  CHECK_THAT(fault_in(c.text), Catch::StartsWith(c.place) && Catch::Contains(c.hint));
}

}  // namespace reproduction_file_test
