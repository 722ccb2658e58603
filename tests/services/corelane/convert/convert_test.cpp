#include "services/corelane/convert/convert.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/support/system/temp_directory.h"

namespace convert_test {

using namespace corelane::tool;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

struct Converted {
  int status;
  std::string out, err;
};

Converted run(const ConvertOptions& options) {
  std::ostringstream out, err;
  const int status = convert(options, out, err);
  return {status, out.str(), err.str()};
}

std::string example(const char* name) { return std::string(CORELANE_SOURCE "/examples/scenarios/") + name; }

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a file of another program becomes a scenario on the standard output") {
  const Converted rt_app = run({.input = example("audio.json")});
  CHECK(rt_app.status == 0);
  CHECK_THAT(rt_app.out,
             Contains("label = \"mixer\"\nperiod = \"5ms\"\nbudget = \"1ms\"\nuses = { \"buffer\" = \"300us\" }\n") &&
                 Contains("label = \"decoder-2\"\n"));
  CHECK_THAT(rt_app.err, Contains("corelane convert: note: the \"priority\" of 2 tasks is left out\n"));
  CHECK_THAT(
      run({.input = example("cruise.xml")}).out,
      Contains("[platform]\ncores = 2\n") && Contains("label = \"speed\"\nperiod = \"10ms\"\nbudget = \"3ms\"\n"));
  CHECK_THAT(run({.input = example("jobs.csv")}).out, Contains("label = \"task-2\"\nperiod = \"30ms\"\n"));
}

TEST_CASE("the ending of the output chooses its format") {
  const TempDirectory place;
  for (const char* const ending : {".json", ".xml", ".toml", ".csv"}) {
    const std::string path = place / (std::string("out") + ending);
    CHECK(run({.input = example("cruise.xml"), .output = path}).status == 0);
    const Converted back = run({.input = path});
    CHECK(back.status == 0);
    CHECK_THAT(back.out, Contains("period = \"20ms\"\nbudget = \"6500us\"\n"));
  }
}

TEST_CASE("the set of a sweep is chosen by its number") {
  const Converted first = run({.input = example("acceptance.toml")});
  const Converted last = run({.input = example("acceptance.toml"), .set = 80});
  CHECK_THAT(first.out, Contains("label = \"drawn-8\"\n"));
  CHECK(first.out != last.out);
  const Converted beyond = run({.input = example("acceptance.toml"), .set = 81});
  CHECK(beyond.status == 2);
  CHECK_THAT(beyond.err, Contains("it has 80 sets of tasks; there is no set 81"));
}

TEST_CASE("a strict conversion that would leave something out writes nothing") {
  const TempDirectory place;
  const std::string path = place / "out.xml";
  const Converted converted = run({.input = example("plant.toml"), .output = path, .strict = true});
  CHECK(converted.status == 1);
  CHECK_THAT(converted.err, Contains("note: the jitter of 3 tasks is left out\n"));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a wrong input, an unknown format or an unwritable output has exit status 2 and a message") {
  const Converted unknown = run({.input = example("plant.toml"), .output = "x.txt"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("say --to toml, rt-app, simso or jobs"));
  CHECK(run({.input = "/nowhere/x.toml"}).status == 2);
  const Converted unwritable = run({.input = example("plant.toml"), .output = "/nowhere/x.toml"});
  CHECK(unwritable.status == 2);
  CHECK_THAT(unwritable.err, Contains("/nowhere/x.toml: it cannot be written"));
}

TEST_CASE("the page about other formats shows what the command prints") {
  const std::string page = read(CORELANE_SOURCE "/docs/formats.md");
  CHECK_THAT(page, Contains("build/bin/corelane convert examples/scenarios/cruise.xml\n"));
  CHECK_THAT(page, Contains(run({.input = example("cruise.xml")}).out));
}

}  // namespace convert_test
