// Tests `corelane scale locksim`: its tables, its fits and its complaints.
#include "services/corelane/scale/locksim.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "orb/scale/lock_model.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace locksim_test {
namespace {

struct Shown {
  int status;
  std::string out, err;
};

Shown run(const LocksimOptions& options) {
  std::ostringstream out, err;
  const int status = locksim(options, out, err);
  return {status, out.str(), err.str()};
}

LocksimOptions collapsing(CurveFormat format = CurveFormat::table) {
  LocksimOptions options;
  options.outside = 10us;
  options.section = 400ns;
  options.hand_over = 100ns;
  options.format = format;
  return options;
}

// Writes exact throughput of 1 to `most` cores into the file.
void write_curve(const std::string& path, int most) {
  std::ofstream file(path);
  file << "benchmark,cores,throughput\n";
  for (int cores = 1; cores <= most; ++cores)
    file << "made," << cores << ","
         << corelane::scale::solve({.outside = 10e-6, .section = .4e-6, .hand_over = .1e-6}, cores).throughput << "\n";
}

}  // namespace

TEST_CASE("locksim shows the points of a model and where it collapses") {
  LocksimOptions options = collapsing();
  options.cores = {1, 8, 16, 24, 48};
  const Shown shown = run(options);
  CHECK(shown.status == 0);
  CHECK(shown.err.empty());
  CHECK_THAT(shown.out, Contains("T_ncs 10.0us, T_cs 400ns, hand-over 100ns; up to 48 cores throughput collapses at 18 "
                                 "cores\n"));
  CHECK_THAT(shown.out, Contains("    1        95694      1.00      0.96     0.0 %\n"));
  for (const char* outside : {" 7.48 ", " 13.34 ", " 8.98 ", " 3.84 "}) CHECK_THAT(shown.out, Contains(outside));
}

TEST_CASE("locksim says that a lock does not collapse") {
  LocksimOptions options = collapsing();
  options.hand_over = 0ns;
  CHECK_THAT(run(options).out, Contains("up to 32 cores throughput collapses nowhere\n"));
}

TEST_CASE("locksim shows the simulation beside the solution") {
  LocksimOptions options = collapsing(CurveFormat::json);
  options.cores = {4};
  options.times = corelane::scale::SectionTimes::exponential;
  const auto point = nlohmann::json::parse(run(options).out)["points"][0];
  CHECK(point["simulated"].get<double>() == Approx(point["throughput"].get<double>()).epsilon(.02));
  CHECK(point["half_width"].get<double>() > 0);
}

TEST_CASE("locksim writes CSV that it can fit again") {
  const TempDirectory place;
  LocksimOptions options = collapsing(CurveFormat::csv);
  std::ofstream(place / "curve.csv") << run(options).out;
  LocksimOptions fit;
  fit.fit = place / "curve.csv";
  fit.format = CurveFormat::json;
  const auto result = nlohmann::json::parse(run(fit).out);
  CHECK(result["testable"] == true);
  CHECK(result["highest_fitted"] == 16);
  CHECK(result["model"]["outside_s"].get<double>() == Approx(10e-6).epsilon(.05));
  CHECK(result["mean_error"].get<double>() < .05);
}

TEST_CASE("locksim shows what it predicts of the upper half") {
  const TempDirectory place;
  write_curve(place / "curve.csv", 32);
  LocksimOptions fit;
  fit.fit = place / "curve.csv";
  fit.benchmark = "made";
  const Shown shown = run(fit);
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, Contains("fitted to the measurements with up to 16 cores: T_ncs "));
  CHECK_THAT(shown.out, Contains("cores   measured/s  predicted/s    error\n   17 "));
  CHECK_THAT(shown.out, Contains("throughput collapses at 18 cores as measured, and at 1"));
}

TEST_CASE("locksim does not test a prediction on fewer than 8 cores") {
  const TempDirectory place;
  write_curve(place / "curve.csv", 2);
  LocksimOptions fit;
  fit.fit = place / "curve.csv";
  const Shown shown = run(fit);
  CHECK(shown.status == 1);
  CHECK(shown.out.empty());
  CHECK(
      shown.err ==
      "corelane scale locksim: not testable: a prediction needs measurements with up to 8 cores or more; these have at "
      "most 2\n");
  fit.format = CurveFormat::json;
  CHECK(nlohmann::json::parse(run(fit).out)["testable"] == false);
}

TEST_CASE("locksim says which input is missing or wrong") {
  LocksimOptions options;
  CHECK(run(options).status == 2);
  CHECK_THAT(run(options).err, Contains("give --tncs and --tcs, or measured throughput with --fit FILE"));
  options.outside = 10us;
  CHECK_THAT(run(options).err, Contains("--tncs and --tcs belong together; give both"));
  options.section = 0ns;
  CHECK_THAT(run(options).err, Contains("(T_cs) is not above 0"));
  LocksimOptions fit;
  fit.fit = "/nowhere/curve.csv";
  CHECK(run(fit).status == 2);
  CHECK_THAT(run(fit).err, Contains("/nowhere/curve.csv"));
}

TEST_CASE("locksim refuses times, cores and work beyond its bounds") {
  LocksimOptions options = collapsing();
  options.outside = corelane::Duration::max();
  CHECK(run(options).status == 2);
  CHECK_THAT(run(options).err, Contains("is too long; the most is 1 h"));
  options = collapsing();
  options.cores = {1, 1025};
  CHECK_THAT(run(options).err, Contains("1025 cores are too many; the most is 1024"));
  options.cores.assign(129, 1);
  options.times = corelane::scale::SectionTimes::constant;
  CHECK_THAT(run(options).err, Contains("129 numbers of cores are too many to simulate"));
}

TEST_CASE("locksim fits neither throughputs beyond its range nor endless files") {
  const TempDirectory place;
  LocksimOptions options;
  options.fit = place / "curve.csv";
  for (const char* const throughput : {"1e-308", "1e308", "nan", "inf"}) {
    std::ofstream(options.fit) << "cores,throughput\n1,100\n2," << throughput << "\n";
    CHECK(run(options).status == 2);
  }
  std::ofstream(options.fit) << "cores,throughput\n1,100\n1025,100\n";
  CHECK_THAT(run(options).err, Contains("a row has 1025 cores; the most is 1024"));
  std::ofstream file(options.fit);
  file << "cores,throughput\n";
  for (int row = 0; row < 4097; ++row) file << "1,100\n";
  file.close();
  CHECK_THAT(run(options).err, Contains("4097 rows with 4097 cores together are too many for a fit"));
}

}  // namespace locksim_test
