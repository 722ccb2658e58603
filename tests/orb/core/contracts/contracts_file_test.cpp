#include "orb/core/contracts/contracts_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>

#include "orb/rt/rt.h"
#include "tests/support/probe_servant.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

constexpr Contract of_idl = {.period = 10ms, .deadline = 8ms, .budget = 2ms, .jitter = 1ms, .importance = 5};
constexpr const char* ids[] = {"IDL:Derived:1.0", "IDL:Base:1.0", "IDL:omg.org/CORBA/Object:1.0"};
constexpr Upcall upcalls[] = {{.name = "configure"}, {.name = "step", .contract = &of_idl}};
constexpr Skeleton skeleton{ids, upcalls};

const OperationContracts unchanged{std::nullopt, of_idl};

std::string fault_of_text(const std::string& text) {
  const auto file = ContractsFile::parse(text, "c.toml");
  if (!file) return file.error().text;
  const auto contracts = (*file)->contracts_of(skeleton);
  return contracts ? "" : contracts.error().text;
}

OperationContracts contracts_by(const std::string& text, const Skeleton& of = skeleton) {
  const auto file = ContractsFile::parse(text, "c.toml");
  if (!file) FAIL(file.error().text);
  const auto contracts = (*file)->contracts_of(of);
  if (!contracts) FAIL(contracts.error().text);
  return *contracts;
}

}  // namespace

TEST_CASE("a contracts file that says nothing leaves the contracts of the IDL") {
  CHECK(contracts_by("") == unchanged);
  CHECK(contracts_by("[\"IDL:Other:1.0\".step]\nperiod = \"1s\"\n") == unchanged);
}

TEST_CASE("fields that a contracts file leaves out are those of the IDL") {
  const auto contracts = contracts_by(
      "[\"IDL:Derived:1.0\".step]\nbudget = \"3ms\"\non_overrun = \"demote\"\n"
      "intensity = 25\n");
  Contract expected = of_idl;
  expected.intensity = 25;
  expected.budget = 3ms;
  expected.on_overrun = OverrunPolicy::demote;
  CHECK(contracts[1] == expected);
}

TEST_CASE("a deadline and a jitter that the IDL left out follow the period of the contracts file") {
  static constexpr Contract by_default = {.period = 50ms, .deadline = 50ms, .budget = 2ms, .jitter = 5ms};
  static constexpr Upcall operations[] = {{.name = "configure"}, {.name = "step", .contract = &by_default}};
  const auto with = [&](const std::string& lines) {
    return contracts_by("[\"IDL:Derived:1.0\".step]\n" + lines, {ids, operations})[1];
  };
  CHECK(with("period = \"10ms\"\n") == make_contract(10ms, 2ms));
  CHECK(with("period = \"10ms\"\ndeadline = \"5ms\"\n") == make_contract(10ms, 2ms, 5ms));
  CHECK(with("period = \"10ms\"\njitter = \"2ms\"\n") == make_contract(10ms, 2ms, 10ms, 2ms));
  CHECK(contracts_by("[\"IDL:Derived:1.0\".step]\nperiod = \"20ms\"\n")[1]->deadline == of_idl.deadline);
}

TEST_CASE("a contracts file gives a contract to an operation that has none") {
  const auto contracts = contracts_by("[\"IDL:Derived:1.0\".configure]\nperiod = \"20ms\"\nbudget = \"1ms\"\n");
  CHECK(contracts[0] == make_contract(20ms, 1ms));
  CHECK(contracts[1] == of_idl);
}

TEST_CASE("the tasks of a contracts file are those of a server whose IDL has no contracts, in the order of the file") {
  const auto file = ContractsFile::parse(
      "[\"IDL:Z:1.0\".step]\nperiod = \"20ms\"\nbudget = \"1ms\"\n"
      "[\"IDL:A:1.0\".log]\nperiod = \"1s\"\nbudget = \"3ms\"\ndeadline = \"500ms\"\njitter = \"0ms\"\n",
      "c.toml");
  REQUIRE(file);
  const auto tasks = (*file)->tasks();
  REQUIRE(tasks);
  REQUIRE(tasks->size() == 2);
  CHECK((*tasks)[0].repository_id == "IDL:Z:1.0");
  CHECK((*tasks)[0].operation == "step");
  CHECK((*tasks)[0].contract == make_contract(20ms, 1ms));
  CHECK((*tasks)[1].contract == make_contract(1s, 3ms, 500ms, 0ms));
}

TEST_CASE("a contracts file that needs an IDL has no tasks without one") {
  const auto said = [](const std::string& lines) {
    const auto file = ContractsFile::parse("[\"IDL:A:1.0\".step]\n" + lines, "c.toml");
    if (!file) FAIL(file.error().text);
    const auto tasks = (*file)->tasks();
    return tasks ? "" : tasks.error().text;
  };
  CHECK(said("period = \"10ms\"\n") ==
        "c.toml:1:1: IDL:A:1.0 step: period and budget are both required where no IDL is read; add budget");
  CHECK_THAT(said("budget = \"10ms\"\n"), Catch::Contains("add period"));
  CHECK_THAT(said("period = \"1ms\"\nbudget = \"2ms\"\ndeadline = \"3ms\"\n"),
             Catch::Contains("budget 2ms exceeds period 1ms"));
}

TEST_CASE("a contracts file names what an operation locks") {
  const auto contracts = contracts_by("[\"IDL:Derived:1.0\".step]\nuses = { bus = \"200us\", \"log/1\" = \"1ms\" }\n");
  const auto& uses = contracts[1]->uses;
  CHECK(std::ranges::count(uses, use_of("bus", 200us)) == 1);
  CHECK(std::ranges::count(uses, use_of("log/1", 1ms)) == 1);
  CHECK(std::ranges::count(uses, ResourceUse{}) == 2);
}

TEST_CASE("the text that a refusal proposes is a valid contract when it is pasted") {
  sched::Refusal refusal;
  refusal.nearest = {5475us, 4380us, 3900us, 300us, 250us};
  const std::string text = sched::text_of(refusal);
  const std::string pasted = text.substr(text.find("IDL or TOML ") + std::string("IDL or TOML ").size());
  const Contract expected = {
      .period = 5475us, .deadline = 4380us, .budget = 3900us, .jitter = 300us, .suspension = 250us};
  CHECK(contracts_by("[\"IDL:Derived:1.0\"]\nconfigure = {" + pasted + "}\n")[0] == expected);
  CHECK_THAT(text, Catch::Contains("{.period = 5475us, .deadline = 4380us, .budget = 3900us, .jitter = 300us, "
                                   ".suspension = 250us}"));
}

TEST_CASE("a contract of a base interface counts unless the derived one has its own") {
  const std::string base = "[\"IDL:Base:1.0\".step]\nimportance = -3\n";
  CHECK(contracts_by(base)[1]->importance == -3);
  CHECK(contracts_by(base + "[\"IDL:Derived:1.0\".step]\nimportance = 9\n")[1]->importance == 9);
}

TEST_CASE(
    "an interface of the contracts file without an object is reported once a look with its line and a similar name") {
  const auto [id, question] = GENERATE(table<std::string, std::string>(
      {{"IDL:Derivd:1.0", "; is IDL:Derived:1.0 meant?"}, {"IDL:Plant/Controller:1.0", ""}}));
  const auto file = ContractsFile::parse("\n[\"" + id + "\".step]\nperiod = \"1s\"\n", "c.toml");
  REQUIRE(file);
  CHECK((*file)->contracts_of(skeleton));
  using enum ContractsFile::Look;
  const std::string begin = "c.toml:2:1: no object of " + id + " was activated";
  const std::string end = ": its contracts are not used" + question;
  CHECK((*file)->unused(running) == std::vector{begin + " so far" + end});
  CHECK((*file)->unused(running).empty());
  CHECK((*file)->unused(ended) == std::vector{begin + end});
  CHECK((*file)->unused(ended).empty());
}

TEST_CASE("a resource of the contracts file that does not exist is reported with its place and the existing names") {
  const auto file =
      ContractsFile::parse("[\"IDL:Derived:1.0\".step]\nuses = { disk = \"1ms\", contoller = \"1ms\" }\n", "c.toml");
  REQUIRE(file);
  using enum ContractsFile::Look;
  CHECK((*file)->unknown_resources(running, {"disk"}).empty());  // without objects no operation uses a resource
  CHECK((*file)->contracts_of(skeleton));
  const std::string begin =
      "c.toml:2:24: IDL:Derived:1.0 step uses contoller, but no corelane::rt::Resource of that name was made";
  const std::string end = " it locks is not in its contract; ";
  const auto [made, question] = GENERATE(table<std::vector<std::string>, std::string>({
      {{"bus", "controller", "disk"}, "is controller meant?"},
      {{"bus", "disk"}, "made: bus and disk"},
  }));
  CHECK((*file)->unknown_resources(running, made) ==
        std::vector{begin + " so far: unless one comes, what" + end + question});
  CHECK((*file)->unknown_resources(running, made).empty());
  CHECK((*file)->unknown_resources(ended, made) == std::vector{begin + ": what" + end + question});
  CHECK((*file)->unknown_resources(ended, made).empty());
}

TEST_CASE("a resource of the contracts file that the IDL uses too is known before it is made") {
  static constexpr Contract locks = {.period = 10ms, .deadline = 8ms, .budget = 2ms, .uses = {use_of("bus", 1ms)}};
  static constexpr Upcall operations[] = {{.name = "configure"}, {.name = "step", .contract = &locks}};
  const auto file = ContractsFile::parse("[\"IDL:Derived:1.0\".step]\nuses = { bus = \"2ms\" }\n", "c.toml");
  REQUIRE(file);
  CHECK((*file)->contracts_of({ids, operations}));
  CHECK((*file)->unknown_resources(ContractsFile::Look::ended, {}).empty());
}

TEST_CASE("a fault of a contracts file is told with its line and what is expected") {
  struct Case {
    const char *text, *fault;
  };
  const Case wrong = GENERATE(
      Case{"[\"IDL:Derived:1.0\".stp]\n", "c.toml:1:1: IDL:Derived:1.0 has no operation stp; the nearest is step"},
      Case{"[\"IDL:Derived:1.0\".step]\nperiod = 10\n",
           "c.toml:2:1: period: expected a duration such as \"10ms\" (a whole number and ns, us, ms or s), in quotes"},
      Case{
          "[\"IDL:Derived:1.0\".step]\n\nbudget = \"1.5 ms\"\n",
          "c.toml:3:1: budget: expected a duration such as \"10ms\" (a whole number and ns, us, ms or s), in quotes; a "
          "duration has no blank and no fraction: write 1500us"},
      Case{"[\"IDL:Derived:1.0\".step]\nbuget = \"1ms\"\n",
           "c.toml:2:1: unknown key buget; the nearest known is budget"},
      Case{"[\"IDL:Derived:1.0\".step]\nimportance = 40000\n", "c.toml:2:1: importance: expected a whole number"},
      Case{"[\"IDL:Derived:1.0\".step]\nimportance = \"high\"\n", "c.toml:2:1: importance: expected a whole number"},
      Case{"[\"IDL:Derived:1.0\".step]\nintensity = -1\n",
           "c.toml:2:1: intensity: expected a whole number from 0 to 65535"},
      Case{"[\"IDL:Derived:1.0\".step]\non_overrun = \"stop\"\n", "c.toml:2:1: on_overrun: expected \"report\""},
      Case{"[\"IDL:Derived:1.0\".step]\nuses = \"bus\"\n", "c.toml:2:1: uses: expected at most four resources"},
      Case{"[\"IDL:Derived:1.0\".step]\nuses = { bus = 3 }\n", "c.toml:2:10: uses.bus: expected a duration"},
      Case{"[\"IDL:Derived:1.0\".step]\nuses = { bus = \"3ms\" }\n",
           "c.toml:1:1: IDL:Derived:1.0 step: the longest section of uses.bus = 3ms is outside 0 < L <= C = 2ms"},
      Case{"[\"IDL:Derived:1.0\".step]\nbudget = \"1ms\"\n[\"IDL:Derived:1.0\".step]\n",
           "c.toml:3:1: the table [\"IDL:Derived:1.0\".step] is there twice"},
      Case{"[\"IDL:Derived:1.0\".step]\nfrequency = \"1ms\"\n",
           "c.toml:2:1: unknown key frequency; known are period, deadline, budget, jitter, suspension, importance, "
           "on_overrun, intensity and uses"},
      Case{"[\"IDL:Derived:1.0\".step]\nbudget = \"9ms\"\n",
           "c.toml:1:1: IDL:Derived:1.0 step: budget C = 9ms is outside 0 < C <= D = 8ms; fields that the file leaves "
           "out are those"},
      Case{"[\"IDL:Derived:1.0\".step]\nperiod = \"2ms\"\ndeadline = \"1ms\"\nbudget = \"3ms\"\n",
           "c.toml:1:1: IDL:Derived:1.0 step: budget C = 3ms is outside 0 < C <= D = 1ms"},
      Case{"[\"IDL:Derived:1.0\".step]\nperiod = \"5ms\"\nbudget = \"7ms\"\n",
           "c.toml:1:1: IDL:Derived:1.0 step: budget 7ms exceeds period 5ms, so no core ever has room for it; fields "
           "that the file leaves out are those of the IDL"},
      Case{"[\"IDL:Derived:1.0\".step]\nperiod = \"900us\"\nbudget = \"500us\"\n",
           "c.toml:1:1: IDL:Derived:1.0 step: deadline D = 8ms and jitter J = 1ms span 10 periods of T = 900us, and at "
           "most 8 jobs of a task may wait: use T >= 1125us or D <= 6200us; fields that the file leaves out are those "
           "of the IDL"},
      Case{"[\"IDL:Derived:1.0\".configure]\nperiod = \"10ms\"\n",
           "c.toml:1:1: IDL:Derived:1.0 configure: its IDL has no contract, so period and budget are both required"},
      Case{"[\"Plant::Controller\".step]\n",
           "c.toml:1:2: \"Plant::Controller\" is no repository id; is [\"IDL:Plant/Controller:1.0\".step] meant?"},
      Case{"[Plant.Controller.step]\nperiod = \"1s\"\n",
           "c.toml:1:2: \"Plant\" is no repository id; is [\"IDL:Plant/Controller:1.0\".step] meant?"},
      Case{"[Plant]\nperiod = \"1s\"\n",
           "c.toml:1:2: \"Plant\" is no repository id; is [\"IDL:Plant:1.0\".OPERATION] meant?"},
      Case{"[IDL:Derived:1.0.step]\nperiod = \"1s\"\n",
           "c.toml:1:5: syntax error in a table header: expected ']', but found ':'; quotes are missing: "
           "[\"IDL:Derived:1.0\".step]"},
      Case{"[Derived.step]\nperiod = \"1s\"\n", "c.toml:1:2: \"Derived\" is no repository id"},
      Case{"\"IDL:Derived:1.0\" = 3\n", "c.toml:1:1: IDL:Derived:1.0: expected a table for each operation"},
      Case{"[\"IDL:Derived:1.0\"]\nperiod = \"1s\"\n",
           "c.toml:2:1: IDL:Derived:1.0: \"period\" stands where an operation is expected"},
      Case{"[\"IDL:Derived:1.0\".step\nbudget = \"1ms\"\n",
           "c.toml:1:24: syntax error in a table header: expected ']', but found the end of the line"},
      Case{"x = 1\n[[[\n", "c.toml:2:3: "}, Case{"a", "c.toml:1:2: "}, Case{"\xff\xfe\x01", "c.toml:1:1: "});
  CHECK_THAT(fault_of_text(wrong.text), Catch::StartsWith(wrong.fault));
}

TEST_CASE(
    "a contracts file whose deadline spans more periods than jobs may wait is refused before any object is there") {
  const auto parsed = [](const std::string& lines) {
    const auto file = ContractsFile::parse("[\"IDL:Derived:1.0\".step]\nbudget = \"1ms\"\n" + lines, "c.toml");
    return file ? "" : file.error().text;
  };
  CHECK(parsed("period = \"20ms\"\ndeadline = \"200ms\"\n") ==
        "c.toml:1:1: IDL:Derived:1.0 step: deadline D = 200ms and jitter J = 0ns span 10 periods of T = 20ms, and at "
        "most 8 jobs of a task may wait: use T >= 25317us or D <= 158ms");
  CHECK(parsed("period = \"25317us\"\ndeadline = \"200ms\"\njitter = \"2531700ns\"\n") == "");
  CHECK(parsed("period = \"20ms\"\ndeadline = \"158ms\"\njitter = \"2ms\"\n") == "");
  CHECK(parsed("period = \"20ms\"\ndeadline = \"160ms\"\n") == "");
  CHECK(parsed("period = \"20ms\"\ndeadline = \"160ms\"\njitter = \"1ns\"\n") != "");
  CHECK(parsed("period = \"20ms\"\n") == "");
}

TEST_CASE("the log says once how the contracts file changes the IDL's contracts") {
  const auto file = ContractsFile::parse(
      "[\"IDL:Derived:1.0\".step]\nbudget = \"3ms\"\ndeadline = \"9ms\"\nimportance = 2\n"
      "[\"IDL:Derived:1.0\".configure]\nperiod = \"1s\"\nbudget = \"1ms\"\n",
      "c.toml");
  REQUIRE(file);
  const auto contracts = (*file)->contracts_of(skeleton);
  REQUIRE(contracts);
  CHECK((*file)->untold_changes(skeleton, *contracts) ==
        std::vector<std::string>{"c.toml:1:1: IDL:Derived:1.0 step: deadline 8ms -> 9ms, budget 2ms -> 3ms, importance "
                                 "5 -> 2",
                                 "c.toml:5:1: IDL:Derived:1.0 configure: period 1s, deadline 1s, budget 1ms and "
                                 "jitter 100ms, where its IDL has no contract"});
  CHECK((*file)->untold_changes(skeleton, *contracts).empty());
  const auto uses = ContractsFile::parse(
      "[\"IDL:Derived:1.0\".step]\nuses = { bus = \"10us\", log = \"1ms\" }\n"
      "[\"IDL:Derived:1.0\".configure]\nperiod = \"1s\"\nbudget = \"1ms\"\nuses = { bus = \"10us\" }\n",
      "c.toml");
  REQUIRE(uses);
  CHECK((*uses)->untold_changes(skeleton, *(*uses)->contracts_of(skeleton)) ==
        std::vector<std::string>{"c.toml:1:1: IDL:Derived:1.0 step: uses bus for 10us and log for 1ms",
                                 "c.toml:3:1: IDL:Derived:1.0 configure: period 1s, deadline 1s, budget 1ms and "
                                 "jitter 100ms, uses bus for 10us, where its IDL has no contract"});
  const auto intensity = ContractsFile::parse("[\"IDL:Derived:1.0\".step]\nintensity = 25\n", "c.toml");
  CHECK((*intensity)->untold_changes(skeleton, *(*intensity)->contracts_of(skeleton)) ==
        std::vector<std::string>{"c.toml:1:1: IDL:Derived:1.0 step: intensity 0 -> 25"});
  const auto same = ContractsFile::parse("[\"IDL:Derived:1.0\".step]\nbudget = \"2ms\"\n", "c.toml");
  CHECK((*same)->untold_changes(skeleton, *(*same)->contracts_of(skeleton)).empty());
}

TEST_CASE("an object's tasks are admitted as the contracts file says") {
  TempDirectory directory;
  const std::string path = directory / "contracts.toml";
  std::ofstream(path) << "[\"" << Probing::Probe::_id << "\".add]\nperiod = \"50ms\"\nbudget = \"70us\"\n";
  TestOrb server({"-ORBContractsFile", path});
  const auto servant = CORBA::make_reference<ProbeServant>();
  (void)server.root()->servant_to_reference(servant);
  const auto report = rt::report(*server.orb);
  CHECK(std::ranges::any_of(report.tasks, [](const dispatch::TaskReport& task) {
    return task.contract == make_contract(50ms, 70us) && task.label.ends_with(".add");
  }));
}

TEST_CASE("an object whose contracts file is wrong is not activated and the reason names the line") {
  TempDirectory directory;
  const std::string path = directory / "contracts.toml";
  std::ofstream(path) << "[\"" << Probing::Probe::_id << "\".ad]\nperiod = \"50ms\"\nbudget = \"70us\"\n";
  TestOrb server({"-ORBContractsFile", path});
  const auto servant = CORBA::make_reference<ProbeServant>();
  try {
    (void)server.root()->servant_to_reference(servant);
    FAIL("it was activated");
  } catch (const CORBA::BAD_PARAM& fault) {
    CHECK_THAT(std::string(fault.detail()),
               Catch::StartsWith(path + ":1:1: ") && Catch::EndsWith("has no operation ad; the nearest is add"));
  }
}
