// Operations of a live server, called by the command or by a program that it starts.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "orb/os/fd.h"
#include "orb/os/process/child_process.h"
#include "services/corelane/measure/measure.h"
#include "tests/services/corelane/measure/measuring.h"
#include "tests/support/modes.h"
#include "tests/support/system/temp_directory.h"

namespace measure_calls_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// The deadline is long, so that measured jobs meet it even if the machine stalls.
const Contract patient = make_contract(200ms, 500us);
constexpr int endless = 1'000'000'000;  // number of calls that takes longer than any test waits

// The quickstart's server; runs as long as this object lives.
class Server {
 public:
  explicit Server(const std::string& directory, const std::string& mode = "manager")
      : process_({os::program_beside("corelane-quickstart-server"), "-ORBRuntimeLedger", "off", "-ORBPoolRealTime",
                  "off", "-ORBLogLevel", "off", "-ORBRuntimeDirectory", directory, "-ORBDispatchMode", mode}),
        reference(process_.read_line().value_or("")) {}

  int pid() const { return process_.pid(); }
  CallPlan called(const std::string& operation, const std::string& argument, int calls = 2) const {
    return {.reference = reference,
            .operation = operation,
            .arguments = {argument},
            .calls = calls,
            .contract = patient,
            .options = {"-ORBLogLevel", "off"}};
  }

 private:
  os::ChildProcess process_;

 public:
  const std::string reference;
};

}  // namespace

TEST_CASE("a run without a job of its own is a failure though the server had some before") {
  TempDirectory directory;
  const Server server(directory.path());
  const MeasureOptions before{.call = server.called("step", "double:1"), .directory = directory.path(), .wait = 1h};
  REQUIRE(run_measure(before).status == 0);
  const MeasureOptions after{.request = server.pid(), .run = "true", .directory = directory.path(), .wait = 1h};
  CHECK(run_measure(after).status == 1);
  CHECK_THAT(run_measure(after).err, Catch::Contains("no job of any task came and ended while the program ran"));
}

TEST_CASE("an operation is measured by calling it without its IDL") {
  TempDirectory directory;
  const Server server(directory.path());
  const MeasureOptions options{.call = server.called("step", "double:2.5", 5),
                               .write = directory / "c.toml",
                               .format = Format::json,
                               .directory = directory.path(),
                               .wait = 1h};
  const auto [status, out, err] = run_measure(options);
  INFO(err);
  REQUIRE(status == 0);
  const auto json = nlohmann::json::parse(out);
  CHECK(json[0]["jobs"] == 5);
  CHECK_THAT(contents(directory / "c.toml"), Catch::StartsWith("[\"IDL:Plant/Controller:1.0\".step]"));
}

TEST_CASE("an operation is measured beside other work on its cache, or the reason why not is told") {
  TempDirectory directory;
  const Server server(directory.path());
  const MeasureOptions options{.call = server.called("step", "double:2.5", 5),
                               .beside = {"sleep 1000000", "sleep 2000000"},
                               .beside_tasks = {"idle", "lazy"},
                               .task = "control",
                               .slowdowns = directory / "slowdowns.toml",
                               .directory = directory.path(),
                               .wait = 1h};
  const auto [status, out, err] = run_measure(options);
  INFO(err);
  if (status != 0) {  // all cores have caches of their own, or there is only one core
    CHECK_THAT(err, Catch::Contains("nothing was run beside task "));
    return;
  }
  CHECK_THAT(out, Catch::Contains("  beside     idle: p50 ") && Catch::Contains("  beside     lazy: p50 "));
  CHECK_THAT(out, Catch::Contains(" times that alone (5 jobs): a measured estimate, never a bound"));
  CHECK_THAT(out, Catch::Contains("\naccesses ") || Catch::Contains("No table of metrics"));
  CHECK_THAT(out, Catch::Contains("  cache      "));
  CHECK_THAT(contents(directory / "slowdowns.toml"), Catch::Contains("[[slowdown]]\noperation = \"control\""
                                                                     "\nbeside = \"idle\"\n") &&
                                                         Catch::Contains("\nbeside = \"lazy\"\n") &&
                                                         Catch::Contains("\nsamples = 5\n"));
}

TEST_CASE("an interrupt ends the calls and all processes of the work beside them") {
  TempDirectory directory;
  const Server server(directory.path());
  int ends[2];
  REQUIRE(::pipe(ends) == 0);  // inherited: its other end closes with the last process that has it
  const os::Fd read_end(ends[0]);
  os::Fd write_end(ends[1]);
  constexpr int calls = 5;
  int asked = 0;
  char byte = 0;
  // The first calls + 2 times it is asked in the series without other work. Then it waits until that work runs.
  const auto stop = [&] { return ++asked > calls + 2 && (byte == 'x' || ::read(read_end.get(), &byte, 1) == 1); };
  const auto [status, out, err] =
      run_measure({.call = server.called("step", "double:2.5", calls),
                   .beside = {"sleep 1000000 & printf x >/dev/fd/" + std::to_string(ends[1]) + "; wait"},
                   .slowdowns = directory / "slowdowns.toml",
                   .directory = directory.path(),
                   .wait = 1h,
                   .is_to_stop = stop});
  INFO(err);
  CHECK(status == 1);
  CHECK_FALSE(std::filesystem::exists(directory / "slowdowns.toml"));
  if (byte != 'x') {  // all cores have caches of their own, or there is only one core
    CHECK_THAT(err, Catch::Contains("nothing was run beside task "));
    return;
  }
  CHECK_THAT(err, Catch::Contains("the calls of step beside sleep 1000000 ") &&
                      Catch::EndsWith(" were interrupted, and nothing was written\n"));
  write_end.reset();
  CHECK(::read(read_end.get(), &byte, 1) == 0);
}

TEST_CASE("a file that cannot have the slowdowns is told before the calls") {
  const TempDirectory directory;
  const auto [status, out, err] = run_measure({.call = {.reference = "corbaloc:iiop:127.0.0.1:1/none",
                                                        .operation = "step",
                                                        .contract = patient,
                                                        .options = {"-ORBLogLevel", "off"}},
                                               .beside = {"true"},
                                               .slowdowns = directory.path(),
                                               .directory = directory.path(),
                                               .wait = 1h});
  CHECK(status == 1);
  CHECK(err == "corelane measure: nothing was called: " + directory.path() + " is a folder\n");
}

TEST_CASE("a scenario that has no task of the operation is told so before it is called, if no task is named") {
  TempDirectory directory;
  const Server server(directory.path());
  const std::string path = directory / "s.toml";
  const auto measured_into = [&](const std::string& label) {
    std::ofstream(path) << "[[task]]\nlabel = \"" << label << "\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n"
                        << "[[task]]\nlabel = \"idle\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n";
    return run_measure({.call = server.called("step", "double:1", label == "vision" ? endless : 5),
                        .beside = {"sleep 1000000"},
                        .beside_tasks = {"idle"},
                        .slowdowns = path,
                        .directory = directory.path(),
                        .wait = 1h});
  };
  const Measured refused = measured_into("vision");
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Catch::StartsWith("corelane measure: nothing was called: " + path) &&
                              Catch::Contains("\"Plant/Controller.step\" is the label of no task") &&
                              Catch::Contains("give the labels of the scenario with --task and --beside-task"));
  CHECK_THAT(measured_into("Plant/Controller.step").err, !Catch::Contains("nothing was called"));
}

// The quickstart's IDL has T = 10 ms and D = 8 ms for step, and no contract for configure.
TEST_CASE(
    "the table of a called operation keeps the server's contract, and says what was assumed where there is none") {
  TempDirectory directory;
  const Server server(directory.path());
  const auto measured = [&](const std::string& operation, const std::string& argument, const GivenTerms& given) {
    const std::string path = directory / operation + ".toml";
    const MeasureOptions options{.call = server.called(operation, argument),
                                 .given = given,
                                 .operation = operation,
                                 .write = path,
                                 .directory = directory.path(),
                                 .wait = 1h};
    const Measured outcome = run_measure(options);
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

TEST_CASE("the table of an operation that a client called has the server's terms, or says that they are the client's") {
  TempDirectory directory;
  const Server server(directory.path());
  const auto [operation, argument, note, deadline] = GENERATE(table<std::string, std::string, std::string, std::string>(
      {{"step", "double:1", "period 10ms, deadline 8ms and jitter 800us as the server has them", "8ms"},
       {"configure", "string:x", "deadline 200ms and jitter 20ms are those of one of its tasks: the server",
        "200ms"}}));
  CHECK(run_measure({.call = server.called(operation, argument),
                     .operation = operation,
                     .directory = directory.path(),
                     .wait = 1h})
            .status == 0);
  const std::string path = directory / "c.toml";
  CHECK(run_measure({.request = server.pid(), .write = path, .directory = directory.path(), .wait = 1h}).status == 0);
  CHECK_THAT(contents(path), Catch::Contains(note) && Catch::Contains("\ndeadline = \"" + deadline + "\"\n") &&
                                 Catch::Contains("[\"IDL:Plant/Controller:1.0\"." + operation + "]"));
}

TEST_CASE("a term that no contract could have beside the server's is told before it is called") {
  TempDirectory directory;
  const Server server(directory.path());
  const auto [status, out, err] = run_measure({.call = server.called("step", "double:1", endless),
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
  if (!can_follow()) return;
  TempDirectory directory;
  const Server server(directory.path(), "leader-followers");
  const bool is_named = GENERATE(false, true);
  const std::string said = "process " + std::to_string(server.pid()) +
                           " runs in dispatch.mode leader-followers, which records nothing: there is no trace of it. "
                           "Start it with -ORBDispatchMode manager or direct\n";
  const MeasureOptions calls{.request = is_named ? server.pid() : 0,
                             .call = server.called("step", "double:1", endless),
                             .operation = "step",
                             .directory = directory.path(),
                             .wait = 1h};
  CHECK(run_measure(calls).status == 1);
  CHECK(run_measure(calls).err == "corelane measure: nothing was called: " + said);
  const Measured asked = run_measure({.request = server.pid(), .directory = directory.path(), .wait = 1h});
  CHECK(asked.status == 1);
  CHECK(asked.err == "corelane measure: " + said);
  const std::string made = directory / "made";
  const MeasureOptions program{
      .request = server.pid(), .run = "touch " + made, .directory = directory.path(), .wait = 1h};
  CHECK(run_measure(program).err == "corelane measure: nothing was run: " + said);
  CHECK_FALSE(std::filesystem::exists(made));
}

// Errors.

TEST_CASE("an operation of another interface than was said is told so before it is called") {
  TempDirectory directory;
  const Server server(directory.path());
  const Measured found = run_measure({.call = server.called("step", "double:1", endless),
                                      .operation = "step",
                                      .interface = "IDL:Plant/Winch:1.0",
                                      .directory = directory.path(),
                                      .wait = 1h});
  CHECK(found.status == 1);
  CHECK(found.err ==
        "corelane measure: nothing was called: the operation is Plant/Controller.step, of another interface than "
        "IDL:Plant/Winch:1.0\n");
}

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
               Case{"step", "double:x", "argument double:x: expected TYPE:VALUE, with a value of that type; ", 1ms},
               Case{"step", "double:1", "the server refuses to measure with period 10ms", 10ms},
               Case{"step", "double:1", "budget C = 11ms is outside", 11ms});
  const auto [status, out, err] = run_measure({.call = {.reference = server.reference,
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

}  // namespace measure_calls_test
