#include "services/corelane/simulate/simulate.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/system/temp_directory.h"

namespace simulate_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

struct Simulated {
  int status;
  std::string out, err;
};

// Runs the command on a file with this text.
Simulated simulate_text(const TempDirectory& place, const std::string& text, SimulateOptions options = {}) {
  options.file = place / "s.toml";
  std::ofstream(options.file) << text;
  std::ostringstream out, err;
  const int status = simulate(options, out, err);
  return {status, out.str(), err.str()};
}

Simulated simulate_text(const std::string& text, const SimulateOptions& options = {}) {
  return simulate_text(TempDirectory(), text, options);
}

constexpr const char* bare_core = "[platform]\ncores = 1\nbudget = \"0us\"\nblocking = \"0us\"\ncapacity = 1\n";
constexpr const char* sensor = "[[task]]\nlabel = \"sensor\"\nperiod = \"10ms\"\nbudget = \"4ms\"\njitter = \"0us\"\n";
constexpr const char* valve = "[[task]]\nlabel = \"valve\"\nperiod = \"50ms\"\nbudget = \"20ms\"\njitter = \"0us\"\n";
constexpr const char* camera = "[[task]]\nlabel = \"camera\"\nperiod = \"50ms\"\nbudget = \"20ms\"\njitter = \"0us\"\n";

std::string two_tasks() { return std::string(bare_core) + sensor + valve; }

}  // namespace

TEST_CASE("a simulation shows the bound, the responses and the misses of each task") {
  const Simulated s = simulate_text(two_tasks());
  CHECK(s.status == 0);
  CHECK(s.err.empty());
  CHECK_THAT(s.out, Contains("2 tasks on 1 core for 1s under mc-orb"));
  CHECK_THAT(s.out,
             Contains("   0      10ms      10ms       4ms    4.00ms    4.00ms    4.00ms      100        0  sensor\n"));
  CHECK_THAT(s.out,
             Contains("   0      50ms      50ms      20ms   36.00ms   36.00ms   36.00ms       20        0  valve\n"));
  CHECK_THAT(s.out, Contains("0 of 120 deadlines are missed.\nTrace "));
}

TEST_CASE("a refused task, or a missed deadline, makes the exit status 1") {
  const Simulated with = simulate_text(two_tasks() + camera);
  CHECK(with.status == 1);
  CHECK_THAT(with.out, Contains("       refused: a deadline would be missed") && Contains("0 of 120 deadlines"));
  const Simulated without = simulate_text(two_tasks() + camera, {.dispatcher = "mc-orb*"});
  CHECK(without.status == 1);
  CHECK_THAT(without.out,
             Contains("The first misses:\n  camera, job 0: released at 0ns, deadline 50.00ms, finished at "));
}

TEST_CASE("the length, the cores and the dispatcher of the command line come before the file's") {
  const Simulated s =
      simulate_text(two_tasks() + camera, {.dispatcher = "leader-followers-pinned", .length = 100ms, .cores = 2});
  CHECK(s.status == 0);
  CHECK_THAT(s.out, Contains("3 tasks on 2 cores for 100ms under leader-followers-pinned"));
  CHECK_THAT(s.out, Contains("0 of 14 deadlines are missed."));
}

TEST_CASE("the dispatcher of the file's policy is the default") {
  CHECK_THAT(simulate_text(two_tasks() + "[policy]\ndispatcher = \"leader-followers\"\n").out,
             Contains("under leader-followers;"));
}

TEST_CASE("a simulation as JSON has the same numbers") {
  const auto json =
      nlohmann::json::parse(simulate_text(two_tasks() + camera, {.dispatcher = "mc-orb*", .format = Format::json}).out);
  CHECK(json["dispatcher"] == "mc-orb*");
  CHECK(json["tasks"].size() == 3);
  CHECK(json["tasks"][0]["worst_ns"] == 4'000'000);
  CHECK(json["tasks"][0]["jobs"] == 100);
  CHECK(json["tasks"][2]["misses"] > 0);
  CHECK(json["misses"][0]["task"] == "camera");
  CHECK(json["trace"].get<std::string>().size() == 16);
  const auto refused = nlohmann::json::parse(simulate_text(two_tasks() + camera, {.format = Format::json}).out);
  CHECK_FALSE(refused["tasks"][2]["admitted"]);
  CHECK(refused["tasks"][2].contains("refusal"));
  CHECK(refused["tasks"][0]["bound_ns"] == 4'000'000);
}

TEST_CASE("each job that ends is a line of CSV") {
  const TempDirectory place;
  simulate_text(place, two_tasks(), {.length = 50ms, .jobs = place / "jobs.csv"});
  std::ifstream file(place / "jobs.csv");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK_THAT(text,
             Catch::StartsWith("task,job,release_ns,arrival_ns,start_ns,finish_ns,deadline_ns,core,demand_ns,late\n"
                               "sensor,0,0,0,0,4000000,10000000,0,4000000,0\nsensor,1,10000000,"));
  CHECK_THAT(text, Contains("\nvalve,0,0,0,4000000,36000000,50000000,0,20000000,0\n"));
}

TEST_CASE("what cannot be simulated is refused with what to do") {
  const std::string sweep = "[[sweep]]\nfield = \"seed\"\nvalues = [1, 2]\n";
  CHECK_THAT(simulate_text(two_tasks() + sweep).err, Contains("has sweeps") && Contains("use corelane eval"));
  CHECK_THAT(simulate_text(two_tasks(), {.set = 2}).err, Contains("--set 2 is more than the repetitions"));
  CHECK_THAT(simulate_text(two_tasks(), {.jobs = "/nowhere/jobs.csv"}).err, Contains("cannot be written"));
  CHECK(simulate_text("x = 1\n").status == 2);
}

}  // namespace simulate_test
