// Tests `corelane scale report`.
#include "services/corelane/scale/scale_report.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/services/corelane/trace/recording.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace scale_report_test {
namespace {

struct Shown {
  int status;
  std::string out, err;
};

// Two profiles in files.
class Profiles {
 public:
  Profiles(const std::string& one, const std::string& many) {
    options.one = place_ / "one.csv";
    options.many = place_ / "many.csv";
    std::ofstream(options.one) << one;
    std::ofstream(options.many) << many;
  }

  Shown report() const {
    std::ostringstream out, err;
    const int status = scale_report(options, out, err);
    return {status, out.str(), err.str()};
  }

  ScaleReportOptions options{};

 private:
  const TempDirectory place_{};
};

const std::string one_core = "time,function\n10,poll\n15,lock<a, b>\n20,read\n25,write\n";
const std::string many_cores = "time,function\n10,poll\n20,lock<a, b>\n30,read\n40,write\n";

}  // namespace

TEST_CASE("a report names the functions that lose most first") {
  Profiles profiles(one_core, many_cores);
  const Shown shown = profiles.report();
  CHECK(shown.status == 0);
  CHECK(shown.err.empty());
  CHECK_THAT(shown.out, Contains("            15    50.0 %               25               40  write\n"
                                 "            10    33.3 %               20               30  read\n"
                                 "             5    16.7 %               15               20  lock<a, b>\n"
                                 "             0     0.0 %               10               10  poll\n"));
}

TEST_CASE("a report counts time for each unit of work") {
  Profiles profiles("time,function\n100,f\n", "time,function\n600,f\n");
  profiles.options.work_one = 10;
  profiles.options.work_many = 20;
  profiles.options.format = CurveFormat::json;
  const auto json = nlohmann::json::parse(profiles.report().out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["function"] == "f");
  CHECK(json[0]["one"] == 10.0);
  CHECK(json[0]["many"] == 30.0);
  CHECK(json[0]["value"] == 20.0);
  CHECK(json[0]["weight"] == 1.0);
}

TEST_CASE("a report shows the first functions, and says how many there are") {
  Profiles profiles(one_core, many_cores);
  profiles.options.most = 1;
  CHECK_THAT(profiles.report().out, Contains("write\nand 3 functions more; --most 0 shows all\n"));
  profiles.options.most = 0;
  CHECK_THAT(profiles.report().out, Contains("poll\n") && !Contains("more"));
  profiles.options.format = CurveFormat::csv;
  CHECK_THAT(profiles.report().out, Contains("value,weight,one,many,function\n15,0.5,25,40,write\n"));
}

TEST_CASE("a report compares the stages of jobs in two traces") {
  const TempDirectory place;
  ScaleReportOptions options;
  for (const auto used : {30us, 50us}) {
    corelane::testing::Recording recording;
    recording.admit(1us, 5, 1, "Plant/step");
    const corelane::Time at{1ms};
    recording.scheduler(1ms,
                        corelane::sched::Arrived{.at = at, .job = corelane::JobId{1}, .task = corelane::TaskId{5}});
    recording.start(1ms, 5, 1, 1);
    recording.finish(2ms, 5, 1, used);
    (used == 30us ? options.one : options.many) = recording.save(place / std::to_string(used.count()));
  }
  std::ostringstream out, err;
  CHECK(scale_report(options, out, err) == 0);
  CHECK(err.str().empty());
  CHECK_THAT(out.str(), Contains("        20000   100.0 %            30000            50000  Plant/step: executes\n"));
  std::ofstream(options.many) << "CORELANE and nothing else";
  CHECK(scale_report(options, out, err) == 2);
  CHECK_THAT(err.str(), Contains("corelane scale report: " + options.many + ": "));
}

TEST_CASE("a profile that cannot be read is refused with the reason") {
  Profiles profiles(one_core, "time,symbol\n1,f\n");
  CHECK(profiles.report().status == 2);
  CHECK_THAT(profiles.report().err, Contains("no column is named function; there are time, symbol"));
  profiles.options.one = "/nowhere/one.csv";
  CHECK_THAT(profiles.report().err, Contains("/nowhere/one.csv"));
}

TEST_CASE("a report refuses work and times that are no amounts") {
  Profiles profiles(one_core, many_cores);
  for (const double work : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 0.0}) {
    profiles.options.work_one = work;
    CHECK(profiles.report().status == 2);
    CHECK_THAT(profiles.report().err, Contains("need a number above 0"));
  }
  const Shown negative = Profiles(one_core, "time,function\n-5,poll\n").report();
  CHECK(negative.status == 2);
  CHECK_THAT(negative.err, Contains("many.csv:2: the time -5 is outside 0 to 1e30"));
}

TEST_CASE("a report shows no bytes that are not UTF-8") {
  const Shown shown = Profiles(one_core, "time,function\n5,\xff\xfe\x1b\xc3\xa9\n").report();
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, Contains("  ???\xc3\xa9\n"));
}

}  // namespace scale_report_test
