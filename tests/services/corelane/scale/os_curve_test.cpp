// Tests which cores benchmarks use, and that each benchmark does what its name says.
#include "services/corelane/scale/os_curve.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

namespace os_curve_test {
namespace {

OsMeasurement short_measurement() {
  OsMeasurement measurement;
  measurement.cores = benchmark_order(os::Topology::detect().value().cores());
  measurement.counts = {1};
  measurement.time = 1ms;
  return measurement;
}

}  // namespace

TEST_CASE("the first cores are those of different physical cores") {
  const auto topology = os::Topology::synthetic("core:2 pu:2");
  REQUIRE(topology);
  REQUIRE(topology->cores().size() == 4);
  const auto& cores = topology->cores();
  const std::vector<CoreId> order = benchmark_order(cores);
  REQUIRE(order.size() == 4);
  CHECK(order[0] == cores[0].core);
  CHECK(order[1] == cores[2].core);
  CHECK(order[2] == cores[1].core);
  CHECK(order[3] == cores[3].core);
}

TEST_CASE("few numbers of cores are all measured, and many in steps") {
  CHECK(usual_counts(1) == std::vector<int>{1});
  CHECK(usual_counts(3) == std::vector<int>{1, 2, 3});
  CHECK(usual_counts(8).size() == 8);
  CHECK(usual_counts(10) == std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const auto many = usual_counts(128);
  CHECK(many.size() <= 25);
  CHECK(many[7] == 8);
  CHECK(many.back() == 128);
}

TEST_CASE("the spread of rounds is from the lowest to the highest one, and from 10 rounds on without the ends") {
  const auto spread = spread_of({3, 1, 2});
  REQUIRE(spread);
  CHECK(spread->low == 1);
  CHECK(spread->high == 3);
  CHECK(spread_of({9, 2, 3, 4, 5, 6, 7, 8, 1})->low == 1);
  const auto of_ten = spread_of({10, 9, 2, 3, 4, 5, 6, 7, 8, 1});
  REQUIRE(of_ten);
  CHECK(of_ten->low == 2);
  CHECK(of_ten->high == 9);
  CHECK_FALSE(spread_of({1}));
  CHECK_FALSE(spread_of({}));
}

TEST_CASE("a fall of 6 percent is a collapse only if the rounds show it") {
  OsCurve curve;
  curve.points = {{.cores = 1, .throughput = 100, .spread = {}}, {.cores = 2, .throughput = 94, .spread = {}}};
  CHECK_FALSE(collapse_of(curve));
  CHECK(collapse_text(curve) ==
        "throughput is highest at 1 core and then falls, but one round shows no spread; measure again with --rounds 3 "
        "or more");
  curve.points[0].spread = scale::Spread{.low = 93, .high = 101};
  curve.points[1].spread = scale::Spread{.low = 92, .high = 93};
  CHECK_FALSE(collapse_of(curve));
  CHECK(collapse_text(curve) ==
        "throughput is highest at 1 core and then falls, but not beyond the spread of the rounds; measure again with "
        "more --rounds or --seconds");
  curve.points[1].spread = scale::Spread{.low = 92, .high = 92.9};
  CHECK(collapse_of(curve) == 1);
  CHECK(collapse_text(curve) == "throughput collapses at 1 core");
  curve.points[1].throughput = 95;
  CHECK(collapse_text(curve) == "throughput does not collapse");
}

TEST_CASE("each benchmark of the kernel's services runs") {
  const OsInputs inputs(1 << 20);
  for (const OsBenchmark& benchmark : os_benchmarks()) {
    CAPTURE(std::string(benchmark.name));
    const auto curve = measure_curve(benchmark, inputs, short_measurement());
    REQUIRE(curve);
    REQUIRE(curve->points.size() == 1);
    CHECK(curve->points[0].cores == 1);
    CHECK(curve->points[0].throughput > 0);
    CHECK(throughputs_of(*curve)[0].throughput == curve->points[0].throughput);
  }
}

TEST_CASE("a benchmark that fails says why") {
  const OsInputs no_file(0);
  const OsBenchmark mapping = [] {
    for (const OsBenchmark& benchmark : os_benchmarks())
      if (benchmark.needs_file) return benchmark;
    throw std::logic_error("no benchmark needs the file");
  }();
  const auto curve = measure_curve(mapping, no_file, short_measurement());
  REQUIRE_FALSE(curve);
  CHECK_THAT(curve.error(), Catch::Contains("failed: mmap: "));
}

}  // namespace os_curve_test
