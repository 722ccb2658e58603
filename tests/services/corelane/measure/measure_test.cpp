#include "services/corelane/measure/measure.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "orb/core/contracts/contracts_file.h"
#include "services/corelane/measure/measurement.h"
#include "tests/services/corelane/measure/measuring.h"
#include "tests/services/corelane/trace/recording.h"
#include "tests/support/system/temp_directory.h"

namespace measure_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using namespace corelane::testing;

namespace {

// Records `count` jobs of task 7, 10 ms apart. Job i takes i steps. Jobs from number `slow` on overran twice. Each
// recording is of another process.
Recording jobs(int count, const std::string& label, int slow = 1'000'000, Duration step = 1us) {
  static std::uint64_t started = 0;
  Recording recording;
  recording.trace.start_ticks = ++started;
  recording.admit(1us, 7, 2, label);
  for (int i = 1; i <= count; ++i) {
    const auto job = static_cast<std::uint64_t>(i);
    const Duration at = i * 10ms;
    recording.scheduler(at, sched::Arrived{.at = Time{at}, .job = JobId{job}, .task = TaskId{7}});
    recording.start(at, 7, job, 2);
    for (int told = 0; i >= slow && told < 2; ++told)
      recording.scheduler(at, sched::Overran{Time{at}, JobId{job}, TaskId{7}, 1s});
    recording.finish(at + 1ms, 7, job, i * step);
  }
  return recording;
}

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
    recording.scheduler(at.time_since_epoch(), sched::Arrived{.at = at, .job = id, .task = TaskId{7}});
    recording.start(at.time_since_epoch(), 7, id.value, 2);
    if (job < 3) recording.scheduler(at.time_since_epoch(), sched::Overran{at, id, TaskId{7}});
    if (job < 3) recording.scheduler(at.time_since_epoch(), sched::trace::Blocked{at, id, TaskId{7}, job * 3ms});
    recording.finish(at.time_since_epoch() + 1ms, 7, id.value, used);
  }
  const auto found = measurements_of(recording.trace);
  REQUIRE(found.size() == 1);
  CHECK(found[0].overruns == 1);
  CHECK(found[0].blocks == 2);
  CHECK(found[0].longest_block == 6ms);
  TempDirectory directory;
  CHECK_THAT(run_measure({.files = {recording.save(directory / "a")}}).out,
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
  const auto [status, out, err] = run_measure({.files = {first, second}});
  CHECK(status == 0);
  CHECK_THAT(out, Catch::Contains("step: 150 jobs of 2 tasks") && Catch::Contains("longest 100.0us"));
}

TEST_CASE("a job that several traces of its process have counts once") {
  TempDirectory directory;
  Recording recording = jobs(100, "Plant.step", 100);
  const auto first = recording.save(directory / "a");
  recording.start(2s, 7, 101, 2);
  recording.scheduler(2s, sched::trace::Blocked{Time{2s}, JobId{101}, TaskId{7}, 1ms});
  recording.scheduler(2s, sched::trace::Missed{Time{2s}, JobId{101}, TaskId{7}, Time{1s}, Time{1100ms}});
  recording.finish(2s + 1ms, 7, 101);
  const auto second = recording.save(directory / "b");
  const std::string out = run_measure({.files = {first, second, second}}).out;
  CHECK_THAT(out, Catch::Contains("Plant.step: 101 jobs of 1 task\n") && Catch::Contains("overruns 1, misses 1") &&
                      Catch::Contains("arrivals   10.00ms apart") && Catch::Contains("blocks     1 job waited") &&
                      Catch::Contains("; 1 job waited up to 1.00ms without saying so"));
}

TEST_CASE("traces of one process tell the same in any order") {
  Recording older = jobs(1, "Plant.step"), newer;
  newer.trace.start_ticks = older.trace.start_ticks;
  newer.trace.dumped_at = older.trace.dumped_at + 1s;
  newer.scheduler(2s, sched::Overran{Time{2s}, JobId{2}, TaskId{7}});  // the job slept too long
  newer.finish(2s + 1ms, 7, 2, 100us);
  newer.finish(3s, 7, 3, 5ms);
  for (const bool is_older_first : {true, false}) {
    std::vector<sched::TraceFile> traces{newer.trace, newer.trace};
    traces[is_older_first ? 0 : 1] = older.trace;
    const auto found = measurements_of(traces);
    REQUIRE(found.size() == 1);
    CHECK(found[0].used.size() == 3);
    CHECK(found[0].overruns == 1);
  }
}

TEST_CASE("processes of other programs or times are others though their numbers are the same") {
  Recording one = jobs(3, "Plant.step"), other;
  other.trace.start_ticks = one.trace.start_ticks;
  other.trace.program = "twin";
  other.admit(1us, 7, 2, "Plant.step");
  other.finish(10ms, 7, 1, 9us);
  Recording later;
  later.trace.start_ticks = one.trace.start_ticks;
  later.admit(1us, 7, 2, "Plant.step");
  later.finish(77s, 7, 1, 8us);
  const auto found = measurements_of(std::vector{one.trace, other.trace, later.trace});
  REQUIRE(found.size() == 1);
  CHECK(found[0].used.size() == 5);
}

TEST_CASE("a budget is no less than the longest section of what the operation locks") {
  TempDirectory directory;
  Recording recording;
  sched::Admit admit{};
  admit.task = TaskId{9};
  admit.contract = {.period = 10ms, .deadline = 10ms, .budget = 2ms, .uses = {use_of("bus", 500us)}};
  recording.manager(2us, admit);
  recording.manager(2us, sched::trace::Named::make(TaskId{9}, "Plant.step"));
  recording.admit(3us, 10, 2, "Plant.step", PeerId{4});
  recording.finish(2s, 10, 1, 100us);
  CHECK_THAT(run_measure({.files = {recording.save(directory / "t")}}).out,
             Catch::Contains("budget     500us: its longest section of a resource\n") &&
                 Catch::Contains("\nbudget = \"500us\"\n"));
}

TEST_CASE("a label that is cut is whole where its interface and operation are said") {
  const std::string interface = "Plant/" + std::string(90, 'x');
  TempDirectory directory;
  Recording recording;
  recording.admit(1us, 7, 2, interface + ".step");
  recording.finish(2s, 7, 1, 100us);
  MeasureOptions options{.files = {recording.save(directory / "t")}, .write = directory / "c.toml"};
  CHECK_THAT(run_measure(options).err, Catch::Contains(" is cut: say --interface IDL:...:1.0 and --operation"));
  options.operation = "step";
  options.interface = "IDL:" + interface + ":1.0";
  CHECK(run_measure(options).status == 0);
  CHECK_THAT(contents(options.write), Catch::StartsWith("[\"" + options.interface + "\".step]"));
}

TEST_CASE("a client's own tasks and the server's are one operation, whose table has the server's terms") {
  TempDirectory directory;
  Recording recording = jobs(100, "Plant/Controller.step");
  recording.admit(1us, 8, 1, "Plant/Controller.step", PeerId{3}, 20ms);
  recording.start(2s, 8, 900, 1);
  recording.finish(2s + 1ms, 8, 900, 300us);
  const Measured outcome = run_measure({.files = {recording.save(directory / "t")}, .write = directory / "c.toml"});
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains("Plant/Controller.step: 101 jobs of 2 tasks") &&
                 Catch::Contains("table      period 10ms, deadline 10ms and jitter 0ns as the server has them"));
  CHECK_THAT(contents(directory / "c.toml"),
             Catch::Contains("period = \"10ms\"\n") && Catch::Contains("budget = \"360us\"\n"));
}

TEST_CASE("the terms of a client's own task are told to be no server's") {
  TempDirectory directory;
  Recording recording;
  recording.admit(1us, 8, 1, "Plant/Controller.configure", PeerId{3}, 20ms);
  recording.start(2s, 8, 900, 1);
  recording.finish(2s + 1ms, 8, 900, 300us);
  const MeasureOptions options{.files = {recording.save(directory / "t")}, .write = directory / "c.toml"};
  CHECK(run_measure(options).status == 0);
  CHECK_THAT(
      contents(options.write),
      Catch::Contains("period 20ms, deadline 20ms and jitter 0ns are those of one of its tasks: the server shows "
                      "no contract of its own for it"));
  MeasureOptions program = options;
  program.write.clear();
  program.format = Format::json;
  const auto json = nlohmann::json::parse(run_measure(program).out);
  CHECK(json[0]["assumed"] == nlohmann::json({"period", "deadline", "jitter"}));
}

TEST_CASE("a server's contract is one however its budget was changed since, and what it locks") {
  Recording before = jobs(100, "Plant/Controller.step"), after = jobs(100, "Plant/Controller.step");
  sched::Admit admit{};
  admit.task = TaskId{9};
  admit.contract = {.period = 10ms, .deadline = 10ms, .budget = 1ms, .uses = {use_of("bus", 100us)}};
  after.manager(2us, admit);
  after.manager(2us, sched::trace::Named::make(TaskId{9}, "Plant/Controller.step"));
  after.start(2s, 9, 900, 1);
  after.finish(2s + 1ms, 9, 900, 300us);
  TempDirectory directory;
  const std::string out = run_measure({.files = {before.save(directory / "a"), after.save(directory / "b")}}).out;
  CHECK_THAT(out, Catch::Contains("201 jobs of 3 tasks") && Catch::Contains("contract   several; overruns 0") &&
                      !Catch::Contains("the server has several") && Catch::Contains("period = \"10ms\""));
}

TEST_CASE("requests came early by the contract of their own task") {
  const auto gap = [](Duration period) {
    Recording recording;
    recording.admit(1us, 8, 1, "Plant.step", PeerId{3}, period);
    for (int i = 1; i <= 2; ++i)
      recording.scheduler(i * 12ms,
                          sched::Arrived{.at = Time{i * 12ms}, .job = JobId{std::uint64_t(i)}, .task = TaskId{8}});
    recording.finish(30ms, 8, 1);
    recording.admit(1us, 9, 1, "Plant.step");  // a period of 10 ms
    recording.finish(30ms, 9, 100);
    return measurements_of(recording.trace).at(0).came_early;
  };
  CHECK(gap(20ms));
  CHECK_FALSE(gap(10ms));
}

TEST_CASE("a task whose name was overwritten is of no interface") {
  TempDirectory directory;
  Recording recording;
  recording.finish(2s, 7, 1);
  const auto trace = recording.save(directory / "t");
  CHECK_THAT(run_measure({.files = {trace}}).out, Catch::StartsWith("task 7: 1 job"));
  CHECK(run_measure({.files = {trace}, .interface = "IDL:Plant:1.0"}).status == 1);
}

TEST_CASE("a client's policy and importance are none of the operation's, what its jobs suspend is") {
  Contract contract = make_contract(10ms, 1ms);
  contract.suspension = 2ms;
  contract.importance = 7;
  contract.on_overrun = OverrunPolicy::demote;
  const TableBasis basis = basis_of_jobs(contract, {});
  CHECK(basis.contract.importance == 0);
  CHECK(basis.contract.on_overrun == OverrunPolicy::report);
  CHECK(basis.contract.suspension == 2ms);
  CHECK(basis.assumed == std::vector<std::string>{"period", "deadline", "jitter", "suspension"});
}

TEST_CASE("a label that may be cut names no interface and no operation to be sure of") {
  CHECK(repository_id_of(std::string(88, 'x') + ".step") == "IDL:" + std::string(88, 'x') + ":1.0");
  CHECK_FALSE(repository_id_of(std::string(90, 'x') + ".step"));
}

TEST_CASE("an interface selects its jobs and gives tables its version") {
  TempDirectory directory;
  const auto step = jobs(100, "Plant/Controller.step").save(directory / "a"),
             nameless = jobs(100, "step").save(directory / "b"),
             other = jobs(100, "Crane/Winch.step").save(directory / "c");
  MeasureOptions options{.files = {step, nameless, other}, .interface = "IDL:Plant/Controller:2.1"};
  const Measured outcome = run_measure(options);
  CHECK(outcome.status == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains("[\"IDL:Plant/Controller:2.1\".step]  # 200 jobs measured") && !Catch::Contains("Winch"));
  options.files = {step, other};
  options.interface = "IDL:Plant:1.0";
  CHECK(run_measure(options).err ==
        "corelane measure: no job of any task of IDL:Plant:1.0 ended in what was recorded; there are jobs of "
        "Plant/Controller.step and Crane/Winch.step\n");
}

TEST_CASE("jobs that came before the measured run are not counted") {
  Recording recording = jobs(10, "step", 1);  // every job overran
  recording.scheduler(
      60ms, sched::trace::Missed{.at = Time{60ms}, .job = JobId{4}, .task = TaskId{7}, .released = {}, .deadline = {}});
  const auto found = measurements_of(recording.trace, {.since = Time{50ms}});
  REQUIRE(found.size() == 1);
  CHECK(found[0].used == std::vector<Duration>{5us, 6us, 7us, 8us, 9us, 10us});
  CHECK(found[0].overruns == 6);
  CHECK(found[0].misses == 0);
  CHECK(measurements_of(recording.trace, {.since = Time{101ms}}).empty());
}

TEST_CASE("few samples are told to be few") {
  TempDirectory directory;
  const auto said = [&](int count) {
    return run_measure({.files = {jobs(count, "step").save(directory / "t")}}).out.find("so few jobs") !=
           std::string::npos;
  };
  CHECK(said(99));
  CHECK_FALSE(said(100));
}

TEST_CASE("the written file is a contracts file with the contract and the new budget") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  std::ofstream(path) << "[\"IDL:Other:1.0\".run]\nimportance = 1";
  const auto trace = jobs(100, "Plant/Controller.step").save(directory / "t");
  CHECK(run_measure({.files = {trace}, .margin = 50, .write = path}).status == 0);
  CHECK(core::ContractsFile::load(path));
  CHECK_THAT(contents(path), Catch::StartsWith("[\"IDL:Other:1.0\".run]") &&
                                 Catch::Contains("[\"IDL:Plant/Controller:1.0\".step]") &&
                                 Catch::Contains("period = \"10ms\"") && Catch::Contains("budget = \"150us\""));
}

// The jobs take up to 9.9 ms, and the contract's deadline is 10 ms.
TEST_CASE("a measured budget beyond the deadline is marked and written as a comment that no server stumbles over") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  const auto slow = jobs(100, "Plant/Controller.step", 1'000'000, 99us).save(directory / "t");
  const auto fast = jobs(100, "Plant/Controller.stop").save(directory / "u");
  const auto [status, out, err] = run_measure({.files = {slow, fast}, .write = path});
  CHECK(status == 1);
  CHECK_THAT(out, Catch::Contains("TOO LONG   no contract with deadline 10ms can have this budget"));
  CHECK_THAT(err, Catch::Contains("c.toml has Plant/Controller.step as a comment alone: budget C = 12ms is outside"));
  CHECK(core::ContractsFile::load(path));
  CHECK_THAT(contents(path), Catch::StartsWith("# Not used: budget C = 12ms is outside 0 < C <= D = 10ms.\n") &&
                                 Catch::Contains("\n# [\"IDL:Plant/Controller:1.0\".step]") &&
                                 Catch::Contains("\n# budget = \"12ms\"\n") &&
                                 Catch::Contains("\n[\"IDL:Plant/Controller:1.0\".stop]"));
  const auto json = nlohmann::json::parse(run_measure({.files = {slow}, .format = Format::json}).out);
  CHECK_THAT(std::string(json[0]["fault"]), Catch::StartsWith("budget C = 12ms"));
}

TEST_CASE("an operation that takes too long is a failure whether a file is written or not") {
  TempDirectory directory;
  const auto slow = jobs(100, "step", 1'000'000, 99us).save(directory / "t");
  const auto fast = jobs(100, "Plant/Controller.stop").save(directory / "u");
  const Format format = GENERATE(Format::table, Format::json);
  const auto [status, out, err] = run_measure({.files = {slow, fast}, .format = format});
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
    recording.scheduler(at, sched::Arrived{.at = Time{at}, .job = JobId{id}, .task = TaskId{7}});
    recording.finish(at + 500us, 7, id);
  }
  CHECK_THAT(run_measure({.files = {recording.save(directory / "t")}}).out,
             Catch::Contains("\n  arrivals   1.00ms apart at the least; requests that came before the period was over "
                             "waited for that at the server\n"));
  CHECK_THAT(run_measure({.files = {jobs(3, "step").save(directory / "u")}}).out,
             Catch::Contains("\n  arrivals   10.00ms apart at the least\n"));
}

TEST_CASE("a contracts file with tables within tables without end is refused and stays as it is") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  std::string text = "a";
  for (int i = 0; i < 200'000; ++i) text += ".a";
  std::ofstream(path) << text << " = 1\n";
  const auto trace = jobs(100, "Plant/Controller.step").save(directory / "t");
  const auto [status, out, err] = run_measure({.files = {trace}, .write = path});
  CHECK(status != 0);
  CHECK_THAT(err, Catch::Contains("c.toml:1: more than 1000 dots in a line"));
  CHECK(contents(path) == text + " = 1\n");
}

TEST_CASE("a table that was set aside is there once however often it is measured, and not where one is live") {
  TempDirectory directory;
  const std::string path = directory / "c.toml", start = "# mine\n";
  std::ofstream(path) << start;
  const auto slow = jobs(100, "Plant/Controller.step", 1'000'000, 99us).save(directory / "t");
  const auto slower = jobs(100, "Plant/Controller.step", 1'000'000, 100us).save(directory / "u");
  const MeasureOptions options{.files = {slow}, .write = path};
  CHECK(run_measure(options).status == 1);
  const std::string once = contents(path);
  CHECK_THAT(once, Catch::StartsWith(start) && Catch::Contains("# Not used: "));
  CHECK(run_measure({.files = {slower}, .write = path}).status == 1);
  CHECK(contents(path) != once);
  CHECK(run_measure(options).status == 1);
  CHECK(contents(path) == once);
  std::ofstream(path, std::ios::app) << "# by hand\n\n[\"IDL:Plant/Controller:1.0\".step]\nimportance = 1\n";
  const std::string live = contents(path);
  CHECK_THAT(run_measure(options).err, Catch::Contains("was left as it is: it has a table for step of") &&
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
  std::ifstream before(path);  // a reader that has the file open meanwhile
  CHECK(run_measure({.files = {jobs(100, "Plant.step").save(directory / "t")}, .write = link}).status == 0);
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
      run_measure({.files = {jobs(3, "Plant/st\xff.step").save(directory / "t")}, .format = Format::json}).out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["samples_ns"] == nlohmann::json{1000, 2000, 3000});
  CHECK(json[0]["proposed_budget_ns"] == 3600);
}

// Errors.

TEST_CASE("a table that cannot go into a contracts file leaves the file as it is") {
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
  const auto [status, out, err] = run_measure({.files = {trace}, .write = path});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::Contains(wrong.said) && !Catch::Contains("was not made"));
  CHECK(contents(path) == wrong.before);
}

TEST_CASE("tables that can be written are written, and the rest is named") {
  TempDirectory directory;
  const std::string path = directory / "c.toml";
  const auto nameless = jobs(100, "step").save(directory / "a"), named = jobs(100, "Plant.step").save(directory / "b");
  const auto [status, out, err] = run_measure({.files = {nameless, named}, .write = path});
  CHECK(status == 1);
  CHECK_THAT(err, Catch::Contains("c.toml was written without this: step names no interface"));
  CHECK_THAT(contents(path), Catch::Contains("[\"IDL:Plant:1.0\".step]"));
}

TEST_CASE("an interface that is none is not said to be in a file that is not there") {
  TempDirectory directory;
  const auto trace = jobs(100, "Crane::Winch.hoist").save(directory / "t");
  const auto [status, out, err] = run_measure({.files = {trace}, .write = directory / "c.toml"});
  CHECK(status == 1);
  CHECK_THAT(err,
             Catch::Contains("c.toml was not made: Crane::Winch.hoist has no interface that a table could name: ") &&
                 Catch::Contains("no repository id") && Catch::EndsWith("; write IDL:Crane/Winch:1.0\n"));
  CHECK_FALSE(std::ifstream(directory / "c.toml"));
}

TEST_CASE("a contracts file that was not there is not said to be left as it is") {
  TempDirectory directory;
  const auto trace = jobs(100, "step").save(directory / "t");
  CHECK_THAT(run_measure({.files = {trace}, .write = directory / "c.toml"}).err,
             Catch::Contains("c.toml was not made: step names"));
  CHECK_FALSE(std::ifstream(directory / "c.toml"));
}

TEST_CASE("a contracts file that cannot be written is reported before anything is measured") {
  TempDirectory directory;
  const std::string wrong = directory / "wrong.toml";
  std::ofstream(wrong) << "[\"IDL:Plant:1.0\".step]\nbuget = 1\n";
  const auto trace = jobs(100, "Plant.step").save(directory / "t");
  const auto refused = [&](const std::string& path, const std::string& said) {
    const auto [status, out, err] = run_measure({.files = {trace}, .write = path});
    CHECK(status == 1);
    CHECK(out.empty());
    CHECK_THAT(err, Catch::Contains(said));
  };
  refused(directory / "none/c.toml", "nothing was measured: ");
  refused(directory / "none/c.toml", "none/c.toml cannot be written: No such file or directory; name a file in a ");
  refused(directory.path(), "is a folder");
  refused(wrong, "unknown key buget");
}

TEST_CASE("a trace without jobs of the operation is a failure") {
  TempDirectory directory;
  const auto trace = jobs(3, "Plant/Controller.step").save(directory / "t");
  CHECK_THAT(run_measure({.files = {trace}, .operation = "stop"}).err, Catch::Contains("no job of stop ended"));
  CHECK(run_measure({.files = {trace}, .operation = "step"}).status == 0);
  CHECK(run_measure({.files = {trace, directory / "none"}}).status == 1);
}

}  // namespace measure_test
