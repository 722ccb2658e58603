// Tests `corelane scale os`: its tables, its page and its complaints.
#include "services/corelane/scale/scale_os.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "services/corelane/scale/throughput_file.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace scale_os_test {
namespace {

struct Shown {
  int status;
  std::string out, err;
};

Shown run(const ScaleOsOptions& options) {
  std::ostringstream out, err;
  const int status = scale_os(options, out, err);
  return {status, out.str(), err.str()};
}

ScaleOsOptions of_dup(CurveFormat format = CurveFormat::table) {
  ScaleOsOptions options;
  options.only = {"dup"};
  options.cores = {1};
  options.time = 1ms;
  options.rounds = 1;
  options.format = format;
  return options;
}

}  // namespace

TEST_CASE("scale os shows a table for each benchmark") {
  ScaleOsOptions options = of_dup();
  options.only = {"dup", "socket"};
  const Shown shown = run(options);
  CHECK(shown.status == 0);
  CHECK(shown.err.empty());
  CHECK_THAT(shown.out, Contains("dup: a descriptor of a file that all processes share is duplicated and closed\n"
                                 "cores      units/s  speed-up  serial share  kernel/unit\n    1 "));
  CHECK_THAT(shown.out, Contains("      1.00             - "));
  CHECK_THAT(shown.out, Contains("socket: ") && Contains("throughput does not collapse\n"));
}

TEST_CASE("scale os writes CSV that locksim reads") {
  const auto points = throughputs_in(run(of_dup(CurveFormat::csv)).out, "os.csv", "dup");
  REQUIRE(points);
  REQUIRE(points->size() == 1);
  CHECK(points->front().cores == 1);
  CHECK(points->front().throughput > 0);
}

TEST_CASE("scale os writes JSON") {
  const auto json = nlohmann::json::parse(run(of_dup(CurveFormat::json)).out);
  REQUIRE(json["benchmarks"].size() == 1);
  const auto& curve = json["benchmarks"][0];
  CHECK(curve["name"] == "dup");
  CHECK(curve["collapse"].is_null());
  CHECK(curve["points"][0]["cores"] == 1);
  CHECK(curve["points"][0]["speed_up"] == 1.0);
  CHECK(curve["points"][0]["throughput"].get<double>() > 0);
}

TEST_CASE("scale os writes the spread of the rounds to JSON") {
  ScaleOsOptions options = of_dup(CurveFormat::json);
  CHECK_FALSE(nlohmann::json::parse(run(options).out)["benchmarks"][0]["points"][0].contains("spread"));
  options.rounds = 2;
  const auto point = nlohmann::json::parse(run(options).out)["benchmarks"][0]["points"][0];
  REQUIRE(point["spread"].size() == 2);
  CHECK(point["spread"][0].get<double>() <= point["throughput"].get<double>());
  CHECK(point["spread"][1].get<double>() >= point["throughput"].get<double>());
}

TEST_CASE("scale os writes a page with the curves") {
  const TempDirectory place;
  ScaleOsOptions options = of_dup();
  options.html = place / "os.html";
  CHECK(run(options).status == 0);
  std::ifstream file(options.html);
  CHECK_THAT(std::string(std::istreambuf_iterator<char>(file), {}), Contains("<h2>dup</h2>"));
  options.html = "/nowhere/os.html";
  const Shown shown = run(options);
  CHECK(shown.status == 1);
  CHECK(shown.err ==
        "corelane scale os: /nowhere/os.html cannot be written: No such file or directory; name a file in a directory "
        "that exists and that you may write to: --html FILE\n");
  CHECK(shown.out.empty());  // nothing was measured
}

TEST_CASE("scale os refuses more cores and more memory than there are") {
  ScaleOsOptions options = of_dup();
  options.cores = {1, 8000};
  CHECK(run(options).status == 2);
  CHECK_THAT(run(options).err, Contains("--cores asks for 8000 cores, but this process may use "));
  options = of_dup();
  options.only = {"mmap"};
  options.file_size = 1ULL << 50;
  const Shown shown = run(options);
  CHECK(shown.status == 2);
  CHECK_THAT(shown.err, Contains("1073741824 MiB") && Contains("give a smaller --file-size"));
}

TEST_CASE("scale os refuses a time that is none") {
  ScaleOsOptions options = of_dup();
  for (const corelane::Duration time : {corelane::Duration::min(), corelane::Duration::max(), corelane::Duration{0}}) {
    options.time = time;
    CHECK(run(options).status == 2);
    CHECK_THAT(run(options).err, Contains("the time of a run is not between 0 and 1 h"));
  }
}

TEST_CASE("scale os writes its page to the target of a link") {
  const TempDirectory place;
  ScaleOsOptions options = of_dup();
  options.html = place / "link.html";
  std::filesystem::create_symlink("page.html", options.html);
  CHECK(run(options).status == 0);
  CHECK(std::filesystem::is_symlink(options.html));
  CHECK(std::filesystem::file_size(place / "page.html") > 0);
}

}  // namespace scale_os_test
