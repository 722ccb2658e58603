#include "services/corelane/measure.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "orb/core/contracts_file.h"
#include "orb/os/child_process.h"
#include "services/corelane/measurement.h"
#include "tests/services/corelane/recording.h"
#include "tests/support/temp_directory.h"

namespace measure_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using corelane::testing::Recording;
using corelane::testing::TempDirectory;

namespace {

// What is measured fits below the deadline, whatever a stall of the machine adds to a job.
const Contract patient = make_contract(200ms, 500us);
struct Outcome {
  int status;
  std::string out, err;
};

Outcome run(const MeasureOptions& options) {
  std::ostringstream out, err;
  const int status = measure(options, out, err);
  return {status, out.str(), err.str()};
}

// So many jobs of task 7, of one step to so many steps, 10 ms apart; those from `slow` on overran, two budgets each.
Recording jobs(int count, const std::string& label, int slow = 1'000'000, Duration step = 1us) {
  Recording recording;
  recording.admit(1us, 7, 2, label);
  for (int i = 1; i <= count; ++i) {
    const auto job = static_cast<std::uint64_t>(i);
    const Duration at = i * 10ms;
    recording.lane(at, sched::Arrived{.at = Time{at}, .job = JobId{job}, .task = TaskId{7}});
    recording.start(at, 7, job, 2);
    for (int told = 0; i >= slow && told < 2; ++told)
      recording.lane(at, sched::Overran{Time{at}, JobId{job}, TaskId{7}, 1s});
    recording.finish(at + 1ms, 7, job, i * step);
  }
  return recording;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The quickstart's server, for as long as this lives.
class Server {
 public:
  explicit Server(const std::string& directory, const std::string& mode = "manager")
      : process_({os::program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                  "off", "-ORBLogLevel", "off", "-ORBRuntimeDirectory", directory, "-ORBDispatchMode", mode}),
        reference(process_.read_line().value_or("")) {}

  int pid() const { return process_.pid(); }

 private:
  os::ChildProcess process_;

 public:
  const std::string reference;
};

}  // namespace

TEST_CASE("samples and quantiles are those of the recorded jobs") {
  const auto found = measurements_of(jobs(200, "Plant/Controller.step", 150).trace);
  REQUIRE(found.size() == 1);
  CHECK(found[0].label == "Plant/Controller.step");
  CHECK(found[0].used.size() == 200);
  CHECK(found[0].quantile(500'000) == 100us);
  CHECK(found[0].quantile(990'000) == 198us);
  CHECK(found[0].used.back() == 200us);
  CHECK(found[0].overruns == 51);
  CHECK(found[0].least_gap == 10ms);
  CHECK(found[0].contract->period == 10ms);
}

TEST_CASE("a job that was found waiting is no overrun, unless it used more than its budget, too") {
  Recording recording;
  recording.admit(1us, 7, 2, "step");
  for (const auto& [job, used] : {std::pair{1, 100us}, std::pair{2, 90'000us}, std::pair{3, 100us}}) {
    const Time at{job * 200ms};
    const JobId id{static_cast<std::uint64_t>(job)};
    recording.lane(at.time_since_epoch(), sched::Arrived{.at = at, .job = id, .task = TaskId{7}});
    recording.start(at.time_since_epoch(), 7, id.value, 2);
    if (job < 3) recording.lane(at.time_since_epoch(), sched::Overran{at, id, TaskId{7}});
    if (job < 3) recording.lane(at.time_since_epoch(), sched::trace::Blocked{at, id, TaskId{7}, job * 3ms});
    recording.finish(at.time_since_epoch() + 1ms, 7, id.value, used);
  }
  const auto found = measurements_of(recording.trace);
  REQUIRE(found.size() == 1);
  CHECK(found[0].overruns == 1);
  CHECK(found[0].blocks == 2);
  CHECK(found[0].longest_block == 6ms);
  TempDirectory directory;
  CHECK_THAT(run({.files = {recording.save(directory / "a")}}).out,
             Catch::Contains("2 jobs waited up to 6.00ms without saying so"));
}

TEST_CASE("a proposed budget is the longest with the margin and rounded up to two digits") {
  const auto [longest, margin, budget] = GENERATE(table<Duration, int, Duration>({{25200ns, 20, 31us},
                                                                                  {1234us, 20, 1500us},
                                                                                  {99us, 0, 99us},
                                                                                  {100us, 0, 100us},
                                                                                  {101us, 0, 110us},
                                                                                  {10ms, 100, 20ms},
                                                                                  {3ns, 20, 1us}}));
  CHECK(proposed_budget({.label = "x", .used = {1ns, longest}}, margin) == budget);
}

TEST_CASE("tasks of one operation are summed and those of several traces too") {
  TempDirectory directory;
  const auto first = jobs(100, "step").save(directory / "a"), second = jobs(50, "step").save(directory / "b");
  const auto [status, out, err] = run({.files = {first, second}});
  CHECK(status == 0);
  CHECK_THAT(out, Catch::Contains("step: 150 jobs of 2 tasks") && Catch::Contains("longest 100.0us"));
}

TEST_CASE("jobs that came before the measured run are not counted") {
  Recording recording = jobs(10, "step", 1);  // every one overran
  recording.lane(
      60ms, sched::trace::Missed{.at = Time{60ms}, .job = JobId{4}, .task = TaskId{7}, .released = {}, .deadline = {}});
  const auto found = measurements_of(recording.trace, {.since = Time{50ms}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].used == std::vector<Duration>{5us, 6us, 7us, 8us, 9us, 10us});
  CHECK(found[0].overruns == 6);
  CHECK(found[0].misses == 0);
  CHECK(measurements_of(recording.trace, {.since = Time{101ms}}).empty());
}

TEST_CASE("a run without a job of its own is a failure though the server had some before") {
  TempDirectory directory;
  const Server server(directory.path());
  const MeasureOptions before{.call = {.reference = server.reference,
                                       .operation = "step",
                                       .arguments = {"double:1"},
                                       .calls = 2,
                                       .contract = patient,
                                       .options = {"-ORBLogLevel", "off"}},
                              .directory = directory.path(),
                              .wait = 1h};
  REQUIRE(run(before).status == 0);
  const MeasureOptions after{.request = server.pid(), .run = "true", .directory = directory.path(), .wait = 1h};
  CHECK(run(after).status == 1);
  CHECK_THAT(run(after).err, Catch::Contains("no job of any task came and ended while the program ran"));
}

TEST_CASE("few samples are told to be few") {
  TempDirectory directory;
  const auto said = [&](int count) {
    return run({.files = {jobs(count, "step").save(directory / "t")}}).out.find("so few jobs") != std::string::npos;
  };
  CHECK(said(99));
  CHECK_FALSE(said(100));
}

TEST_CASE("what is written is a contracts file with the contract and the new budget") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  std::ofstream(path) << "[\"IDL:Other:1.0\".run]\nimportance = 1";
  const auto trace = jobs(100, "Plant/Controller.step").save(directory / "t");
  CHECK(run({.files = {trace}, .margin = 50, .write = path}).status == 0);
  CHECK(core::ContractsFile::load(path));
  CHECK_THAT(contents(path), Catch::StartsWith("[\"IDL:Other:1.0\".run]") &&
                                 Catch::Contains("[\"IDL:Plant/Controller:1.0\".step]") &&
                                 Catch::Contains("period = \"10ms\"") && Catch::Contains("budget = \"150us\""));
}

// Jobs of up to 9.9 ms, whose contract has the deadline 10 ms.
TEST_CASE("a measured budget beyond the deadline is marked and written as a comment that no server stumbles over") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  const auto slow = jobs(100, "Plant/Controller.step", 1'000'000, 99us).save(directory / "t");
  const auto fast = jobs(100, "Plant/Controller.stop").save(directory / "u");
  const auto [status, out, err] = run({.files = {slow, fast}, .write = path});
  CHECK(status == 1);
  CHECK_THAT(out, Catch::Contains("TOO LONG   no contract with deadline 10ms can have this budget"));
  CHECK_THAT(err, Catch::Contains("c.toml has Plant/Controller.step as a comment alone: budget C = 12ms is outside"));
  CHECK(core::ContractsFile::load(path));
  CHECK_THAT(contents(path), Catch::StartsWith("# Not used: budget C = 12ms is outside 0 < C <= D = 10ms.\n") &&
                                 Catch::Contains("\n# [\"IDL:Plant/Controller:1.0\".step]") &&
                                 Catch::Contains("\n# budget = \"12ms\"\n") &&
                                 Catch::Contains("\n[\"IDL:Plant/Controller:1.0\".stop]"));
  const auto json = nlohmann::json::parse(run({.files = {slow}, .format = Format::json}).out);
  CHECK_THAT(std::string(json[0]["fault"]), Catch::StartsWith("budget C = 12ms"));
}

TEST_CASE("an operation that takes too long is a failure whether a file is written or not") {
  TempDirectory directory;
  const auto slow = jobs(100, "step", 1'000'000, 99us).save(directory / "t");
  const auto fast = jobs(100, "Plant/Controller.stop").save(directory / "u");
  const Format format = GENERATE(Format::table, Format::json);
  const auto [status, out, err] = run({.files = {slow, fast}, .format = format});
  CHECK(status == 1);
  CHECK(err == "corelane measure: step takes too long: budget C = 12ms is outside 0 < C <= D = 10ms\n");
  CHECK_THAT(out, Catch::Contains("Plant/Controller.stop"));
}

TEST_CASE("requests that came before their period was over are told to have waited") {
  TempDirectory directory;
  Recording recording;
  recording.admit(1us, 7, 2, "step");
  for (const auto& [at, job] : {std::pair{10ms, 1}, {11ms, 2}, {30ms, 3}}) {
    const auto id = static_cast<std::uint64_t>(job);
    recording.lane(at, sched::Arrived{.at = Time{at}, .job = JobId{id}, .task = TaskId{7}});
    recording.finish(at + 500us, 7, id);
  }
  CHECK_THAT(
      run({.files = {recording.save(directory / "t")}}).out,
      Catch::Contains("\n  arrivals   1.00ms apart at the least; what came before the period was over waited for "
                      "that at the server\n"));
  CHECK_THAT(run({.files = {jobs(3, "step").save(directory / "u")}}).out,
             Catch::Contains("\n  arrivals   10.00ms apart at the least\n"));
}

TEST_CASE("a table that was set aside is there once however often it is measured, and not where one is live") {
  TempDirectory directory;
  const std::string path = directory / "c.toml", start = "# mine\n";
  std::ofstream(path) << start;
  const auto slow = jobs(100, "Plant/Controller.step", 1'000'000, 99us).save(directory / "t");
  const auto slower = jobs(100, "Plant/Controller.step", 1'000'000, 100us).save(directory / "u");
  const MeasureOptions options{.files = {slow}, .write = path};
  CHECK(run(options).status == 1);
  const std::string once = contents(path);
  CHECK_THAT(once, Catch::StartsWith(start) && Catch::Contains("# Not used: "));
  CHECK(run({.files = {slower}, .write = path}).status == 1);
  CHECK(contents(path) != once);
  CHECK(run(options).status == 1);
  CHECK(contents(path) == once);
  std::ofstream(path, std::ios::app) << "# his\n\n[\"IDL:Plant/Controller:1.0\".step]\nimportance = 1\n";
  const std::string live = contents(path);
  CHECK_THAT(run(options).err, Catch::Contains("was left as it is: it has a table for step of") &&
                                   Catch::Contains("budget C = 12ms is outside"));
  CHECK(contents(path) == live);
}

TEST_CASE("a contracts file is replaced whole behind its link and keeps its mode") {
  TempDirectory directory;
  const std::string path = directory / "c.toml", link = directory / "link";
  std::ofstream(path) << "# mine\n";
  std::filesystem::permissions(path, std::filesystem::perms{0640});
  const bool can_give = geteuid() == 0 && ::chown(path.c_str(), 65'534, 65'534) == 0;
  std::filesystem::create_symlink(path, link);
  std::ifstream before(path);  // whoever reads meanwhile
  CHECK(run({.files = {jobs(100, "Plant.step").save(directory / "t")}, .write = link}).status == 0);
  CHECK(std::filesystem::is_symlink(link));
  CHECK_THAT(contents(path), Catch::StartsWith("# mine\n") && Catch::Contains("budget"));
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms{0640});
  struct stat after {};
  REQUIRE(::stat(path.c_str(), &after) == 0);
  CHECK(after.st_uid == (can_give ? 65'534 : geteuid()));
  CHECK(std::string(std::istreambuf_iterator<char>(before), {}) == "# mine\n");
  CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("programs get all samples as JSON") {
  TempDirectory directory;
  const auto json = nlohmann::json::parse(
      run({.files = {jobs(3, "Plant/st\xff.step").save(directory / "t")}, .format = Format::json}).out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["samples_ns"] == nlohmann::json{1000, 2000, 3000});
  CHECK(json[0]["proposed_budget_ns"] == 3600);
}

TEST_CASE("an operation is measured by calling it without its IDL") {
  TempDirectory directory;
  const Server server(directory.path());
  const MeasureOptions options{.call = {.reference = server.reference,
                                        .operation = "step",
                                        .arguments = {"double:2.5"},
                                        .calls = 5,
                                        .contract = patient,
                                        .options = {"-ORBLogLevel", "off"}},
                               .write = directory / "c.toml",
                               .format = Format::json,
                               .directory = directory.path(),
                               .wait = 1h};
  const auto [status, out, err] = run(options);
  INFO(err);
  REQUIRE(status == 0);
  const auto json = nlohmann::json::parse(out);
  CHECK(json[0]["jobs"] == 5);
  CHECK_THAT(contents(directory / "c.toml"), Catch::StartsWith("[\"IDL:Plant/Controller:1.0\".step]"));
}

// The quickstart's IDL has T = 10 ms and D = 8 ms for step, and no contract for configure.
TEST_CASE(
    "the table of a called operation keeps the server's contract, and says what was assumed where there is none") {
  TempDirectory directory;
  const Server server(directory.path());
  const auto measured = [&](const std::string& operation, const std::string& argument, const GivenTerms& given) {
    const std::string path = directory / operation + ".toml";
    const MeasureOptions options{.call = {.reference = server.reference,
                                          .operation = operation,
                                          .arguments = {argument},
                                          .calls = 2,
                                          .contract = patient,
                                          .options = {"-ORBLogLevel", "off"}},
                                 .given = given,
                                 .operation = operation,
                                 .write = path,
                                 .directory = directory.path(),
                                 .wait = 1h};
    const Outcome outcome = run(options);
    INFO(outcome.err);
    CHECK(outcome.status == 0);
    const std::string text = outcome.out + contents(path);
    std::filesystem::remove(path);
    return text;
  };
  const std::string note = "period 10ms, deadline 8ms and jitter 800us as the server has them";
  CHECK_THAT(measured("step", "double:1", {}), Catch::Contains("\n  table      " + note + "\n") &&
                                                   Catch::Contains("; " + note + "\nperiod = \"10ms\"\n") &&
                                                   Catch::Contains("\ndeadline = \"8ms\"\n") &&
                                                   Catch::Contains("\njitter = \"800us\"\n"));
  CHECK_THAT(measured("step", "double:1", {.deadline = 9ms}), Catch::Contains("\ndeadline = \"9ms\"\n"));
  CHECK_THAT(measured("configure", "string:x", {}),
             Catch::Contains("; period 200ms, deadline 200ms and jitter 20ms assumed: the server shows no contract") &&
                 Catch::Contains("\ndeadline = \"200ms\"\n"));
}

TEST_CASE("a term that no contract could have beside the server's is told before it is called") {
  TempDirectory directory;
  const Server server(directory.path());
  const auto [status, out, err] = run({.call = {.reference = server.reference,
                                                .operation = "step",
                                                .arguments = {"double:1"},
                                                .calls = 1'000'000'000,  // more than anybody waits for
                                                .contract = patient,
                                                .options = {"-ORBLogLevel", "off"}},
                                       .given = {.jitter = 9ms},
                                       .operation = "step",
                                       .directory = directory.path(),
                                       .wait = 1h});
  CHECK(status == 1);
  CHECK(err ==
        "corelane measure: nothing was called: with the server's other terms jitter J = 9ms is outside 0 <= J < D = "
        "8ms\n");
}

TEST_CASE("a server that records nothing is told so before it is called") {
  TempDirectory directory;
  const Server server(directory.path(), "leader-followers");
  const bool is_named = GENERATE(false, true);
  const std::string said = "process " + std::to_string(server.pid()) +
                           " runs in dispatch.mode leader-followers, which records nothing: there is no trace of it. "
                           "Start it with -ORBDispatchMode manager or direct\n";
  const MeasureOptions calls{.request = is_named ? server.pid() : 0,
                             .call = {.reference = server.reference,
                                      .operation = "step",
                                      .arguments = {"double:1"},
                                      .calls = 1'000'000'000,  // more than anybody waits for
                                      .contract = patient,
                                      .options = {"-ORBLogLevel", "off"}},
                             .operation = "step",
                             .directory = directory.path(),
                             .wait = 1h};
  CHECK(run(calls).status == 1);
  CHECK(run(calls).err == "corelane measure: nothing was called: " + said);
  const Outcome asked = run({.request = server.pid(), .directory = directory.path(), .wait = 1h});
  CHECK(asked.status == 1);
  CHECK(asked.err == "corelane measure: " + said);
  const std::string made = directory / "made";
  const MeasureOptions program{
      .request = server.pid(), .run = "touch " + made, .directory = directory.path(), .wait = 1h};
  CHECK(run(program).err == "corelane measure: nothing was run: " + said);
  CHECK_FALSE(std::filesystem::exists(made));
}

// Error paths.

TEST_CASE("calls that cannot be measured are told why") {
  TempDirectory directory;
  const Server server(directory.path());
  struct Case {
    std::string operation, argument, said;
    Duration budget;
  };
  const Case wrong =
      GENERATE(Case{"stp", "double:1", "BAD_OPERATION", 1ms}, Case{"step", "string:x", "IDL's order", 1ms},
               Case{"step", "int:1", "types are boolean, octet", 1ms},
               Case{"step", "double:x", "argument double:x: expected TYPE:VALUE", 1ms},
               Case{"step", "double:1", "the server refuses to measure with period 10ms", 10ms},
               Case{"step", "double:1", "budget C = 11ms is outside", 11ms});
  const auto [status, out, err] = run({.call = {.reference = server.reference,
                                                .operation = wrong.operation,
                                                .arguments = {wrong.argument},
                                                .calls = 2,
                                                .contract = make_contract(10ms, wrong.budget),
                                                .options = {"-ORBLogLevel", "off"}},
                                       .directory = directory.path(),
                                       .wait = 1h});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::StartsWith("corelane measure: ") && Catch::Contains(wrong.said));
}

TEST_CASE("what cannot go into a contracts file leaves it as it is") {
  TempDirectory directory;
  struct Case {
    const char *label, *before, *said;
  };
  const Case wrong =
      GENERATE(Case{"step", "", "names no interface: say which with --interface"},
               Case{"Plant.step", "[\"IDL:Plant:1.0\".step]\n", "already; put there: budget = \"120us\""},
               Case{"Plant.step", "[\"IDL:Plant:1.0\".step]\nbuget = 1\n", "unknown key buget"},
               Case{"Plant::Winch.step", "", "write IDL:Plant/Winch:1.0"});
  const std::string path = directory / "c.toml";
  std::ofstream(path) << wrong.before;
  const auto trace = jobs(100, wrong.label).save(directory / "t");
  const auto [status, out, err] = run({.files = {trace}, .write = path});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::Contains(wrong.said) && !Catch::Contains("was not made"));
  CHECK(contents(path) == wrong.before);
}

TEST_CASE("what can be written is, and the rest is named") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  const auto nameless = jobs(100, "step").save(directory / "a"), named = jobs(100, "Plant.step").save(directory / "b");
  const auto [status, out, err] = run({.files = {nameless, named}, .write = path});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::Contains("c.toml was written without this: step names no interface"));
  CHECK_THAT(contents(path), Catch::Contains("[\"IDL:Plant:1.0\".step]"));
}

TEST_CASE("an interface that is none is not said to be in a file that is not there") {
  TempDirectory directory;
  const auto trace = jobs(100, "hoist").save(directory / "t");
  const auto [interface, said] = GENERATE(
      table<std::string, std::string>({{"Crane::Winch", "no repository id"}, {"IDL:Crane/Winch", "its version"}}));
  const auto [status, out, err] = run({.files = {trace}, .interface = interface, .write = directory / "c.toml"});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::Contains("c.toml was not made: hoist has no interface that a table could name: ") &&
                      Catch::Contains(said) && Catch::EndsWith("; write IDL:Crane/Winch:1.0\n"));
  CHECK_FALSE(std::ifstream(directory / "c.toml"));
}

TEST_CASE("a contracts file that was not there is not said to be left as it is") {
  TempDirectory directory;
  const auto trace = jobs(100, "step").save(directory / "t");
  CHECK_THAT(run({.files = {trace}, .write = directory / "c.toml"}).err,
             Catch::Contains("c.toml was not made: step names"));
  CHECK_FALSE(std::ifstream(directory / "c.toml"));
}

TEST_CASE("a trace without jobs of the operation is a failure") {
  TempDirectory directory;
  const auto trace = jobs(3, "Plant/Controller.step").save(directory / "t");
  CHECK_THAT(run({.files = {trace}, .operation = "stop"}).err, Catch::Contains("no job of stop ended"));
  CHECK(run({.files = {trace}, .operation = "step"}).status == 0);
  CHECK(run({.files = {trace, directory / "none"}}).status == 1);
}

}  // namespace measure_test
