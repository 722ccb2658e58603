#include "services/corelane/simulate/simulate.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
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

TEST_CASE("a simulation says which overheads its analysis charges") {
  const std::string costs = two_tasks() + "[overheads]\nhop = \"100us\"\n";
  const Simulated s = simulate_text(costs);
  CHECK(s.status == 0);
  CHECK_THAT(s.out, Contains("\noverheads charged by the analysis: hop 100us; 100us on top of each budget\n\n"));
  CHECK_THAT(s.out,
             Contains("   0      10ms      10ms       4ms    4.10ms    4.10ms    4.10ms      100        0  sensor\n"));
  const Simulated uncharged = simulate_text(costs + "charged = false\n");
  CHECK_THAT(uncharged.out, Contains("overheads not charged by the analysis: hop 100us\n"));
  CHECK_THAT(uncharged.out, Contains("    4.00ms    4.10ms "));
  CHECK_THAT(simulate_text(costs, {.dispatcher = "direct"}).out, !Contains("overheads"));
}

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

TEST_CASE("without a policy's dispatcher, a simulation takes the first one of the experiment") {
  const std::string listed = two_tasks() + "[experiment]\ndispatchers = [\"mc-orb*\", \"direct\"]\n";
  CHECK_THAT(simulate_text(listed).out, Contains("under mc-orb*;"));
  CHECK_THAT(simulate_text(listed + "[policy]\ndispatcher = \"direct\"\n").out, Contains("under direct;"));
  CHECK_THAT(simulate_text(listed + "[policy]\ndispatcher = \"manager\"\n").err,
             Contains("policy.dispatcher = \"manager\" is the dispatcher mc-orb, which is none of"));
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
  CHECK_THAT(simulate_text(two_tasks(), {.set = 2}).err, Contains("--set 2 is more than the sets of "));
  CHECK_THAT(simulate_text(two_tasks(), {.jobs = "/nowhere/jobs.csv"}).err, Contains("cannot be written"));
  CHECK(simulate_text("x = 1\n").status == 2);
}

TEST_CASE("a run that is too long, or has too many jobs, is refused before it starts") {
  CHECK_THAT(simulate_text(two_tasks(), {.length = Duration::max()}).err,
             Contains("--length 9223372036854775807ns is longer than a day"));
  CHECK_THAT(simulate_text(two_tasks() + "[experiment]\nlength = \"9223372036854775807ns\"\n").err,
             Contains("experiment.length = 9223372036854775807ns is longer than a day"));
  const std::string fast = std::string(bare_core) + "[[task]]\nperiod = \"1us\"\nbudget = \"100ns\"\n";
  const Simulated many = simulate_text(fast, {.length = 80'000s});
  CHECK(many.status == 2);
  CHECK_THAT(many.err, Contains("has 80000000000 jobs, and 100000000 are the most") && Contains("--length"));
}

TEST_CASE("the sets of a simulation are counted over all combinations of sweeps") {
  const std::string sweep = "[[sweep]]\nfield = \"task.valve.budget\"\nvalues = [\"1ms\", \"2ms\"]\n";
  const std::string text = "repetitions = 2\n" + two_tasks() + sweep;
  CHECK_THAT(simulate_text(text).err, Contains("choose one with --set, from 1 to 4"));
  CHECK_THAT(simulate_text(text, {.set = 2}).out, Contains("      50ms       1ms "));
  CHECK_THAT(simulate_text(text, {.set = 3}).out, Contains("      50ms       2ms "));
  CHECK_THAT(simulate_text(text, {.set = 5}).err, Contains("--set 5 is more than the sets of "));
}

TEST_CASE("the file of jobs never replaces the scenario, and is whole or absent") {
  const TempDirectory place;
  const std::string input = place / "s.toml";
  std::filesystem::create_symlink(input, place / "link.toml");
  for (const std::string& path : {input, place / "link.toml", place / "." + std::string("/s.toml")}) {
    const Simulated s = simulate_text(place, two_tasks(), {.jobs = path});
    CHECK(s.status == 2);
    CHECK_THAT(s.err, Contains("would overwrite the scenario; name another file"));
  }
  std::ifstream file(input);
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == two_tasks());
  CHECK(simulate_text(place, two_tasks(), {.jobs = place / "jobs.csv"}).status == 0);
  CHECK(std::filesystem::exists(place / "jobs.csv"));
  CHECK_FALSE(std::filesystem::exists(place / "jobs.csv.new"));
  std::filesystem::create_directories(place / "folder");
  CHECK_THAT(simulate_text(place, two_tasks(), {.jobs = place / "folder"}).err, Contains("cannot be written"));
  CHECK_THAT(simulate_text(place, two_tasks(), {.jobs = "/dev/full"}).err, Contains("cannot be written"));
  CHECK(simulate_text(place, two_tasks(), {.jobs = "/dev/null"}).status == 0);
}

TEST_CASE("a simulation that is interrupted leaves no file of jobs, and an earlier one as it was") {
  const TempDirectory place;
  const std::string path = place / "jobs.csv";
  std::ofstream(path) << "earlier\n";
  bool was_begun = false;
  const auto stop = [&] {
    was_begun = std::filesystem::exists(path + ".new");
    return true;
  };
  const Simulated s = simulate_text(place, two_tasks(), {.length = 1h, .jobs = path, .is_to_stop = stop});
  CHECK(was_begun);
  CHECK(s.status == 1);
  CHECK(s.out.empty());
  CHECK(s.err == "corelane simulate: the run of " + (place / "s.toml") +
                     " was interrupted, so nothing was written to " + path + "\n");
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
  std::ifstream file(path);
  CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == "earlier\n");
}

TEST_CASE("a refusal of a simulation says why, and names a contract that would fit") {
  const Simulated s = simulate_text(two_tasks() + camera);
  const std::string said = std::regex_replace(s.out, std::regex("\n {9}"), " ");  // without the ends of wrapped lines
  CHECK_THAT(said, Contains("closest is core 0, which has no room for this utilization"));
  CHECK_THAT(said, Contains("this contract would fit") && Contains("in IDL or TOML period = "));
}

}  // namespace simulate_test
