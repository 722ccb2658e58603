// Tests reading measured throughput, and what is said about files that have none.
#include "services/corelane/scale/throughput_file.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace corelane::tool;
using corelane::scale::ThroughputPoint;

namespace throughput_file_test {
namespace {

std::vector<ThroughputPoint> points_of(const std::string& text, const std::string& benchmark = "") {
  const auto points = throughputs_in(text, "curve.csv", benchmark);
  CAPTURE(text);
  REQUIRE(points);
  return *points;
}

std::string fault_of_text(const std::string& text, const std::string& benchmark = "") {
  const auto points = throughputs_in(text, "curve.csv", benchmark);
  CAPTURE(text);
  REQUIRE_FALSE(points);
  return points.error();
}

}  // namespace

TEST_CASE("throughputs are read by the names of their columns") {
  const std::vector<ThroughputPoint> expected{{1, 10.5}, {2, 2e3}};
  CHECK(points_of("cores,throughput\n1,10.5\n2,2e3\n") == expected);
  CHECK(points_of("# measured today\n\nthroughput, speed_up ,cores\n10.5,1,1\r\n2000,2,2") == expected);
}

TEST_CASE("a file of several benchmarks needs a choice") {
  const std::string file = "benchmark,cores,throughput\nfork,1,10\ndup,1,20\ndup,2,30\n";
  CHECK(points_of(file, "dup") == std::vector<ThroughputPoint>{{1, 20}, {2, 30}});
  CHECK(points_of("benchmark,cores,throughput\nfork,1,10\n") == std::vector<ThroughputPoint>{{1, 10}});
  CHECK(fault_of_text(file) == "curve.csv: it has several benchmarks; choose one with --benchmark: dup, fork");
  CHECK(fault_of_text(file, "mmap") == "curve.csv: it has no benchmark mmap; there are dup, fork");
  CHECK(fault_of_text("cores,throughput\n1,10\n", "dup") ==
        "curve.csv: it has no column benchmark, so --benchmark chooses nothing; leave it out");
}

TEST_CASE("a file without a column or a row is refused") {
  CHECK(fault_of_text("") == "curve.csv: it has no rows; the first row names the columns, and the others have values");
  CHECK(fault_of_text("cores,throughput\n") ==
        "curve.csv: it has no rows; the first row names the columns, and the others have values");
  CHECK(fault_of_text("cores,speed\n1,2\n") == "curve.csv: no column is named throughput; there are cores, speed");
  CHECK(fault_of_text("cores,throughput\n1,2\n3\n") ==
        "curve.csv:3: 1 columns, but the first row has 2; add what is missing");
}

TEST_CASE("a value that is no number is named with its line") {
  CHECK(fault_of_text("cores,throughput\n1,fast\n") ==
        "curve.csv:2: 'fast' is no number; throughput needs one, such as 12.5");
  CHECK(fault_of_text("cores,throughput\n1,inf\n") ==
        "curve.csv:2: 'inf' is no number; throughput needs one, such as 12.5");
  for (const char* cores : {"0", "1.5", "-1", "1e9"})
    CHECK(fault_of_text(std::string("cores,throughput\n") + cores + ",1\n") ==
          std::string("curve.csv:2: ") + cores + " is no number of cores; write a whole number from 1 on");
}

}  // namespace throughput_file_test
