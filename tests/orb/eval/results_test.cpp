#include "orb/eval/results.h"

#include <catch2/catch.hpp>

#include "orb/base/registry.h"
#include "orb/eval/plan.h"

namespace results_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

const ResultsOrigin origin{.experiment = "two, cores",
                           .scenario = "00ff",
                           .mode = "virtual",
                           .machine = "2 cores",
                           .kernel = "6.1",
                           .version = "1.0",
                           .seed = 7};
constexpr std::size_t cells = 4;
const SweptValues swept{{"generate.utilization", "1.5"}};

SetResult some_result() {
  return {.cell = 3,
          .set = 41,
          .dispatcher = "mc-orb*",
          .policies = {.allocation = "worst-fit", .test = "none", .order = "decreasing-utilization"},
          .tasks = 8,
          .admitted = 7,
          .utilization = {1'500'000},
          .admitted_utilization = {1'250'001},
          .jobs = 300,
          .misses = 2,
          .host_misses = 1,
          .late_tasks = 1,
          .overruns = 4,
          .worst_of_deadline = {1'020'000},
          .worst_of_bound = {},
          .trace_hash = 0xfedc'ba98'7654'3210};
}

std::string file_of(const std::string& lines) { return results_header(swept) + lines; }

std::string fault_of_file(const std::string& text) {
  const auto parsed = parse_results(text, origin, cells);
  return parsed ? "" : parsed.error().text;
}

}  // namespace

TEST_CASE("a result is read back as it was written") {
  const std::string line = results_line(origin, swept, some_result());
  CHECK(line ==
        "\"two, cores\",00ff,virtual,2 "
        "cores,6.1,1.0,7,3,1.5,41,mc-orb*,worst-fit,none,decreasing-utilization,8,7,1.5,1.250001,300,2,1,1,4,1.02,,"
        "fedcba9876543210\n");
  const auto parsed = parse_results(file_of(line + line), origin, cells);
  REQUIRE(parsed);
  CHECK(parsed->results == std::vector<SetResult>{some_result(), some_result()});
  CHECK(parsed->whole_lines == file_of(line + line).size());
}

TEST_CASE("a line that was cut is left out") {
  const std::string line = results_line(origin, swept, some_result());
  const std::string text = file_of(line + line);
  for (const std::size_t cut : {std::size_t{1}, line.size() / 2, line.size() - 1}) {
    const auto parsed = parse_results(text.substr(0, text.size() - cut), origin, cells);
    REQUIRE(parsed);
    CHECK(parsed->results.size() == 1);
    CHECK(parsed->whole_lines == text.size() - line.size());
  }
}

TEST_CASE("an empty file, and one with half a header, have no results") {
  CHECK(parse_results("", origin, cells)->whole_lines == 0);
  CHECK(parse_results("experiment,scen", origin, cells)->whole_lines == 0);
}

TEST_CASE("a header that a loss of power has filled with zero bytes is begun anew") {
  using namespace std::string_literals;
  CHECK(parse_results("\0\0\0\0"s, origin, cells)->whole_lines == 0);
  CHECK(parse_results("experiment,scen\0\0"s, origin, cells)->whole_lines == 0);
  const std::string header = results_header(swept);
  CHECK(parse_results(header.substr(0, header.size() - 1), origin, cells)->whole_lines == 0);
}

TEST_CASE("a file of something else is no table of results, also if it has no line end") {
  using namespace std::string_literals;
  for (const std::string& text : {"my notes"s, "experiment,notes"s, "{\"a\": 1}"s, "experiment\0notes"s, "\0notes"s})
    CHECK(fault_of_file(text) == "it is no table of results; move it away, or name another file with --output");
}

TEST_CASE("results of another mode are left out") {
  ResultsOrigin real = origin;
  real.mode = "real";
  const auto parsed = parse_results(file_of(results_line(real, swept, some_result())), origin, cells);
  REQUIRE(parsed);
  CHECK(parsed->results.empty());
}

TEST_CASE("a file that is no table, or belongs to another scenario, is refused") {
  ResultsOrigin other = origin;
  other.scenario = "00fe";
  CHECK_THAT(fault_of_file(file_of(results_line(other, swept, some_result()))), Catch::Contains("another scenario"));
  CHECK_THAT(fault_of_file("a,b\n1,2\n"),
             Catch::EndsWith("no column experiment; move it away, or name another file with --output"));
  CHECK_THAT(fault_of_file(file_of("1,2\n")), Catch::StartsWith("line 2 is no result"));
  std::string line = results_line(origin, swept, some_result());
  line.replace(line.find(",300,"), 5, ",x00,");
  CHECK_THAT(fault_of_file(file_of(line)), Catch::StartsWith("line 2 is no result"));
}

TEST_CASE("a line with values that no run gives is refused, and named") {
  const auto fault_of = [](auto&& change) {
    SetResult changed = some_result();
    change(changed);
    const std::string good = results_line(origin, swept, some_result());
    return fault_of_file(file_of(good + results_line(origin, swept, changed)));
  };
  using Catch::StartsWith;
  CHECK(fault_of([](SetResult&) {}).empty());
  CHECK_THAT(fault_of([](SetResult& r) { r.misses = 301; }), StartsWith("line 3 has more misses than jobs; remove it"));
  CHECK_THAT(fault_of([](SetResult& r) { r.admitted = 9; }), StartsWith("line 3 has more admitted tasks than tasks"));
  CHECK_THAT(fault_of([](SetResult& r) { r.late_tasks = 8; }), StartsWith("line 3 has more late tasks than admitted"));
  CHECK_THAT(fault_of([](SetResult& r) { r.tasks = 1'000'001; }), StartsWith("line 3 has more than 1000000 tasks"));
  CHECK_THAT(fault_of([](SetResult& r) { r.set = -1; }), StartsWith("line 3 has set -1, which is out of range"));
  CHECK_THAT(fault_of([](SetResult& r) { r.cell = 4; }), StartsWith("line 3 has cell 4, which this experiment does"));
  CHECK_THAT(fault_of([](SetResult& r) { r.dispatcher = "x"; }), StartsWith("line 3 has an unknown dispatcher"));
  ResultsOrigin other = origin;
  other.seed = 8;
  CHECK_THAT(fault_of_file(file_of(results_line(other, swept, some_result()))),
             StartsWith("line 2 has another seed than the scenario"));
  std::string line = results_line(origin, swept, some_result());
  line.replace(line.find(",1.02,"), 6, ",-1.02,");
  CHECK_THAT(fault_of_file(file_of(line)), StartsWith("line 2 is no result"));
}

TEST_CASE("the largest quotient of a bound is read back, and control characters are not written") {
  ResultsOrigin named = origin;
  named.experiment = "a\x1b[31m";
  SetResult bounded = some_result();
  bounded.worst_of_bound = Fraction{900'000};
  const std::string line = results_line(named, swept, bounded);
  CHECK_THAT(line, Catch::StartsWith("a?[31m,") && Catch::Contains(",1.02,0.9,"));
  const auto parsed = parse_results(file_of(line), origin, cells);
  REQUIRE(parsed);
  CHECK(parsed->results == std::vector<SetResult>{bounded});
}

TEST_CASE("the fingerprint of a text changes with it") {
  CHECK(fingerprint("") == "cbf29ce484222325");
  CHECK(fingerprint("a") == "af63dc4c8601ec8c");  // FNV-1a, 64 bits
  CHECK(fingerprint("b") != fingerprint("a"));
}

TEST_CASE("a run is summed up over its admitted tasks") {
  const Task task{.label = "t", .contract = {.period = 10ms, .deadline = 8ms, .budget = 2ms}};
  const RunRequest request{.tasks = {task, task, task},
                           .cores = numbered_cores(1),
                           .dispatcher = find_named(dispatchers(), "mc-orb"),
                           .length = 1s};
  RunOutcome outcome;
  outcome.tasks = {
      {.label = "a", .admitted = true, .bound = 8ms, .jobs = 10, .misses = 0, .worst = 6ms},
      {.label = "b", .admitted = true, .bound = 7ms, .jobs = 20, .misses = 3, .overruns = 1, .worst = 10ms},
      {.label = "c"}};
  outcome.misses = {{.task = 1, .cause = MissCause::host}, {.task = 1, .cause = MissCause::scheduling}};
  const SetResult result = summed_up(request, outcome);
  CHECK(result.dispatcher == "mc-orb");
  CHECK(result.tasks == 3);
  CHECK(result.admitted == 2);
  CHECK(result.utilization.millionths == 600'000);
  CHECK(result.admitted_utilization.millionths == 400'000);
  CHECK(result.jobs == 30);
  CHECK(result.misses == 3);
  CHECK(result.host_misses == 1);
  CHECK(result.late_tasks == 1);
  CHECK(result.overruns == 1);
  CHECK(result.worst_of_deadline.millionths == 1'250'000);
  CHECK(result.worst_of_bound == Fraction{1'428'572});  // 10 / 7, rounded up
}

}  // namespace results_test
