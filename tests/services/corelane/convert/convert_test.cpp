#include "services/corelane/convert/convert.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "orb/os/fd.h"
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
  CHECK_THAT(unwritable.err, Contains("/nowhere/x.toml.new cannot be written: No such file or directory"));
}

TEST_CASE("a conversion never overwrites its input") {
  const TempDirectory place;
  const std::string input = place / "in.toml", link = place / "link.toml";
  std::filesystem::copy_file(example("plant.toml"), input);
  std::filesystem::create_symlink(input, link);
  for (const std::string& output : {input, link}) {
    const Converted converted = run({.input = input, .output = output});
    CHECK(converted.status == 2);
    CHECK_THAT(converted.err, Contains("this file is the input, and would be overwritten; name another"));
  }
  CHECK(read(input) == read(example("plant.toml")));
  CHECK(std::filesystem::is_symlink(link));
}

TEST_CASE("a conversion writes to the target of a link and to a pipe") {
  const TempDirectory place;
  const std::string link = place / "link.toml", target = place / "target.toml", pipe = place / "pipe";
  std::ofstream(target) << "old";
  std::filesystem::create_symlink("target.toml", link);
  CHECK(run({.input = example("cruise.xml"), .output = link}).status == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK_THAT(read(target), Contains("[[task]]"));

  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const corelane::os::Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK));
  CHECK(run({.input = example("cruise.xml"), .output = pipe, .format = "toml"}).status == 0);
  char text[9] = {};
  CHECK(::read(reader.get(), text, 8) == 8);
  CHECK(text == std::string("[platfor"));
  CHECK(std::filesystem::is_fifo(pipe));
}

TEST_CASE("a conversion refuses a folder as its output") {
  const TempDirectory place;
  const Converted converted = run({.input = example("cruise.xml"), .output = place.path(), .format = "toml"});
  CHECK(converted.status == 2);
  CHECK_THAT(converted.err, Contains("is a folder; name a file"));
}

TEST_CASE("the checks of TOML are not made for other formats") {
  const TempDirectory place;
  const std::string input = place / "long.xml", toml = place / "deep.toml";
  std::string text = "\xef\xbb\xbf" + read(example("cruise.xml"));
  std::ranges::replace(text, '\n', ' ');
  std::ofstream(input) << text << "<!--" << std::string(2000, '.') << "-->";
  CHECK_THAT(run({.input = input}).out, Contains("label = \"radar\"\n"));
  std::ofstream(toml) << "a" << std::string(2000, '.') << "b = 1\n";
  CHECK_THAT(run({.input = toml}).err, Contains("more than 1000 dots in a line"));
}

TEST_CASE("a jobs file of several MiB is read again") {
  const TempDirectory place;
  const std::string input = place / "two.toml", output = place / "two.csv";
  std::ofstream(input) << "[[task]]\nlabel = \"a\"\nperiod = \"1ms\"\nbudget = \"1us\"\n[[task]]\nlabel = \"b\"\n"
                          "period = \"40s\"\nbudget = \"1ms\"\n";
  CHECK(run({.input = input, .output = output}).status == 0);
  CHECK(std::filesystem::file_size(output) > 1024 * 1024);
  CHECK_THAT(run({.input = output}).out, Contains("period = \"1ms\"\n") && Contains("period = \"40s\"\n"));
}

TEST_CASE("TOML that corelane could not read again is not written") {
  const TempDirectory place;
  const std::string input = place / "many.toml", output = place / "listed.toml";
  std::ofstream(input) << "[[task]]\nlabel = \"a\"\ncount = 20000\nperiod = \"1s\"\nbudget = \"1us\"\n";
  const Converted converted = run({.input = input, .output = output});
  CHECK(converted.status == 2);
  CHECK_THAT(converted.err, Contains("but corelane reads at most 1048576 bytes of the format toml"));
  CHECK_FALSE(std::filesystem::exists(output));
}

TEST_CASE("drawn tasks that run for their budget lose nothing and are written without noise") {
  const TempDirectory place;
  const Converted xml = run({.input = example("acceptance.toml"), .format = "simso"});
  CHECK_THAT(xml.err, !Contains("execution time"));
  const Converted toml = run({.input = example("acceptance.toml")});
  CHECK_THAT(toml.out, !Contains("gap") && !Contains("execution_min"));
}

TEST_CASE("the page about other formats shows what the command prints") {
  const std::string page = read(CORELANE_SOURCE "/docs/formats.md");
  CHECK_THAT(page, Contains("build/bin/corelane convert examples/scenarios/cruise.xml\n"));
  CHECK_THAT(page, Contains(run({.input = example("cruise.xml")}).out));
}

}  // namespace convert_test
