#include "services/corelane/plan/plan.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "orb/eval/host_card/host_card.h"
#include "orb/os/machine/topology.h"
#include "tests/support/system/temp_directory.h"

namespace plan_test {

using namespace corelane::tool;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

struct Planned {
  int status;
  std::string out, err;
};

Planned run(const PlanOptions& options) {
  std::ostringstream out, err;
  const int status = plan(options, out, err);
  return {status, out.str(), err.str()};
}

// Runs the command on a file with this text.
Planned plan_text(const std::string& text, PlanOptions options = {}) {
  const TempDirectory place;
  options.file = place / "s.toml";
  std::ofstream(options.file) << text;
  Planned planned = run(options);
  const std::string directory = place.path() + "/";
  for (std::size_t at = 0; (at = planned.err.find(directory)) != planned.err.npos;)
    planned.err.erase(at, directory.size());
  return planned;
}

nlohmann::json json_of(const std::string& text, PlanOptions options = {}) {
  options.format = Format::json;
  return nlohmann::json::parse(plan_text(text, options).out);
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string with_single_blanks(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

// Returns the text with the lines of each refusal as one.
std::string unwrapped(const std::string& text) { return std::regex_replace(text, std::regex("\n {9}"), " "); }

constexpr const char* plant =
    "[platform]\ncores = 1\n"
    "[[task]]\nlabel = \"sensor\"\nperiod = \"10ms\"\nbudget = \"4ms\"\n"
    "[[task]]\nlabel = \"valve\"\nperiod = \"50ms\"\nbudget = \"20ms\"\n";
constexpr const char* camera =
    "[[task]]\nlabel = \"camera\"\nperiod = \"20ms\"\nbudget = \"2ms\"\ndeadline = \"10ms\"\n";

// A host card in a file of its own.
class CardFile {
 public:
  explicit CardFile(const corelane::eval::HostCard& card) { REQUIRE(corelane::eval::write_host_card(card, path())); }
  std::string path() const { return place_ / "card.json"; }

 private:
  TempDirectory place_;
};

// Returns a card on which each cost is `usual`, and ten times that at worst.
corelane::eval::HostCard card_of_cost(corelane::Duration usual) {
  using namespace corelane::eval;
  const CostSummary cost{.min = usual, .median = usual, .p99 = usual, .max = 10 * usual, .count = 100};
  HostCard card;
  card.costs = {{HostCost::hop_other_core, cost}, {HostCost::context_switch, cost}};
  card.wake_ups = {{.load = WakeLoad::cpu, .real_time = true, .late = cost}};
  return card;
}

}  // namespace

TEST_CASE("a plan shows the verdict, the core, the bound and the room of each task") {
  const Planned planned = plan_text(plant);
  CHECK(planned.status == 0);
  CHECK(planned.err.empty());
  CHECK_THAT(planned.out, Contains("2 tasks on 1 core; platform load 20us in each 1ms; 95.0 % of a core at most\n"));
  CHECK_THAT(planned.out,
             Contains("   0      10ms      10ms       4ms       1ms   40.0 %    5.10ms    4820us  sensor\n"));
  CHECK_THAT(planned.out, Contains("core 0: 80.0 % admitted, 2.0 % platform load, 13.0 % free\n"));
  CHECK_THAT(planned.out, Contains("2 of 2 tasks are admitted.\nAll 2 tasks need 1 core.\n"));
}

TEST_CASE("a refused task has the server's own words, and the exit status is 1") {
  const Planned planned = plan_text(std::string(plant) + camera);
  CHECK(planned.status == 1);
  const std::string said = unwrapped(planned.out);
  CHECK_THAT(
      said,
      Contains(
          "refused: a deadline would be missed on every core; closest is core 0, where valve responds in 51940us"));
  CHECK_THAT(
      said,
      Contains("in IDL or TOML period = \"22950us\", deadline = \"11480us\", budget = \"2ms\", jitter = \"1ms\"\n"));
  CHECK_THAT(planned.out, Contains("All 3 tasks need 2 cores.\n"));
}

TEST_CASE("a refusal is wrapped and indented") {
  const std::string said = plan_text(std::string(plant) + camera).out;
  std::istringstream lines(said.substr(said.find("       refused: ")));
  std::string line;
  std::size_t count = 0;
  while (std::getline(lines, line) && !line.empty()) {  // bound: the text
    CHECK(line.size() <= 100);
    CHECK(line.find_first_not_of(' ') == (count++ == 0 ? 7 : 9));
  }
  CHECK(count > 2);
}

TEST_CASE("a proposal that is pasted into the file is admitted") {
  const std::string said = unwrapped(plan_text(std::string(plant) + camera).out);
  const std::size_t begin = said.find("in IDL or TOML ") + std::string("in IDL or TOML ").size();
  std::string pasted = said.substr(begin, said.find('\n', begin) - begin);
  for (std::size_t at = 0; (at = pasted.find(", ", at)) != pasted.npos;) pasted.replace(at, 2, "\n");
  CHECK(plan_text(std::string(plant) + "[[task]]\n" + pasted + "\n").status == 0);
}

TEST_CASE("a plan as JSON has the same in numbers") {
  const auto json = json_of(std::string(plant) + camera);
  CHECK(json["admitted"] == 2);
  CHECK(json["refused"] == 1);
  CHECK(json["fewest_cores"] == 2);
  CHECK(json["growth_thousandths"] == 1102);
  CHECK(json["platform"]["budget_ns"] == 20'000);
  CHECK(json["tasks"][0]["label"] == "sensor");
  CHECK(json["tasks"][0]["bound_ns"] == 5'100'000);
  CHECK(json["tasks"][0]["largest_budget_ns"] == 4'820'000);
  CHECK(json["tasks"][2]["admitted"] == false);
  CHECK(json["tasks"][2]["refusal"]["code"] == "not_schedulable");
  CHECK(json["tasks"][2]["refusal"]["would_fit"]["period_ns"] == 22'950'000);
  CHECK(json["cores"][0]["admitted_ppm"] == 800'000);
}

TEST_CASE("the command line decides about cores before the file does") {
  CHECK(json_of(plant, {.cores = 3})["cores"].size() == 3);
  const auto topology = corelane::os::Topology::detect();
  REQUIRE(topology);
  const auto of_host = json_of(plant, {.like_this_host = true})["cores"];
  CHECK(of_host.size() >= 1);
  CHECK(of_host.size() <= topology->cores().size());
  // A file without cores is planned for this host, too.
  CHECK(json_of("[[task]]\nperiod = \"10ms\"\nbudget = \"4ms\"\n")["cores"] ==
        json_of("[[task]]\nperiod = \"10ms\"\nbudget = \"4ms\"\n", {.like_this_host = true})["cores"]);
}

TEST_CASE("a plan uses the settings that a server would have, and a scenario stands above them") {
  const PlanOptions options{.orb_options = {"-ORBPlatformBudget", "100us"}};
  CHECK(json_of(plant, options)["platform"]["budget_ns"] == 100'000);
  CHECK(json_of(plant, options)["tasks"][0]["bound_ns"] == 5'500'000);
  const std::string own = std::string("[platform]\ncores = 1\nbudget = \"0us\"\n") +
                          (plant + std::string("[platform]\ncores = 1\n").size());
  CHECK(json_of(own, options)["platform"]["budget_ns"] == 0);
  CHECK(json_of(own, {.like_this_host = true, .orb_options = options.orb_options})["platform"]["budget_ns"] == 100'000);
  CHECK(plan_text(plant, {.like_this_host = true, .orb_options = {"-ORBPoolCores", "4095"}}).status == 2);
}

TEST_CASE("a contracts file is planned as a server has it whose IDL has no contracts") {
  const Planned planned = plan_text(
      "[\"IDL:Plant/Controller:1.0\".step]\nperiod = \"10ms\"\nbudget = \"4ms\"\n"
      "[\"IDL:Plant/Controller:1.0\".log]\nperiod = \"1s\"\nbudget = \"5ms\"\n",
      {.cores = 1});
  CHECK(planned.status == 0);
  CHECK_THAT(planned.out,
             Contains("    5.10ms") && Contains("Plant/Controller.step\n") && Contains("Plant/Controller.log\n"));
  const Planned open = plan_text("[\"IDL:Plant/Controller:1.0\".step]\nbudget = \"4ms\"\n");
  CHECK(open.status == 2);
  CHECK(open.err ==
        "corelane plan: s.toml:1:1: IDL:Plant/Controller:1.0 step: period and budget are both required where no IDL is "
        "read; "
        "add period\n");
}

TEST_CASE("wrong input has exit status 2 and a message, and nothing is printed") {
  struct Case {
    std::string text, said;
  };
  const Case c = GENERATE(
      Case{"", "corelane plan: s.toml:1: there is no task; add [[task]]"},
      Case{"[[task]]\nperiod = 10ms\n", "corelane plan: s.toml:2:"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2 ms\"\n", "s.toml:3:10: task.budget: expected a duration"},
      Case{"[policy]\ndispatcher = \"leader-followers\"\n[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\n",
           "dispatch.mode leader-followers promises nothing"},
      Case{"[generate]\ntasks = 12\nutilization = 11.9\n",
           "s.toml: generate.utilizations = \"uunifast-discard\" found no set"});
  const Planned planned = plan_text(c.text);
  CAPTURE(c.text);
  CHECK(planned.status == 2);
  CHECK(planned.out.empty());
  CHECK_THAT(planned.err, Contains(c.said));
  CHECK(run({.file = "/nowhere/x.toml"}).status == 2);
}

TEST_CASE("several sets have a line for each combination, and the exit status tells whether all are admitted") {
  const std::string text =
      "repetitions = 2\n[platform]\ncores = 2\n[generate]\ntasks = 6\nutilization = 1\n"
      "[[sweep]]\nfield = \"generate.utilization\"\nvalues = [0.5, 1.9]\n";
  const Planned planned = plan_text(text);
  CHECK(planned.status == 1);
  CHECK_THAT(
      planned.out,
      Contains("generate.utilization = 0.5: 2 of 2 sets are admitted as a whole, with 12 of 12 tasks on 2 cores\n"));
  CHECK_THAT(planned.out, Contains("generate.utilization = 1.9: 0 of 2 sets are "));
  CHECK_THAT(planned.out, Contains("2 of 4 sets are admitted as a whole.\n"));
  const auto json = json_of(text);
  REQUIRE(json.size() == 4);
  CHECK(json[3]["swept"]["generate.utilization"] == "1.9");
  CHECK(json[3]["set"] == 2);
}

TEST_CASE("a quick plan has verdicts only") {
  const Planned planned = plan_text(plant, {.quick = true});
  CHECK_THAT(planned.out, Contains("5.10ms         -  sensor") && !Contains("need") && !Contains("may grow"));
}

TEST_CASE("a large set is asked how much its budgets may grow only if that is wanted") {
  const std::string text = "[platform]\ncores = 2\n[[task]]\nperiod = \"1s\"\nbudget = \"1ms\"\ncount = 101\n";
  CHECK_THAT(plan_text(text).out, Contains("All 101 tasks need ") && !Contains("may grow"));
  CHECK_THAT(plan_text(text, {.thorough = true}).out, Contains("may grow"));
}

TEST_CASE("a server without an admission test promises nothing, and a plan says so") {
  const Planned planned = plan_text(std::string("[policy]\ntest = \"none\"\n") + plant);
  CHECK(planned.status == 0);
  CHECK_THAT(planned.out, Contains("so no deadline is promised"));
}

TEST_CASE("tasks that run on any core, or in parts on several, are shown so") {
  const std::string bare = "[platform]\ncores = 2\nbudget = \"0us\"\nblocking = \"0us\"\ncapacity = 1\n";
  const std::string tasks =
      "[[task]]\nlabel = \"t\"\nperiod = \"100ms\"\nbudget = \"66ms\"\njitter = \"0us\"\ncount = 3\n";
  const std::string split = bare + "[policy]\ntest = \"qpa\"\nallocation = \"splitting\"\n" + tasks;
  CHECK_THAT(plan_text(split).out, Contains(" 0+1 ") && Contains("3 of 3 tasks are admitted.\n"));
  const auto parts = json_of(split)["tasks"][2]["parts"];
  REQUIRE(parts.size() == 2);
  CHECK(parts[0]["budget_ns"] == 34'000'000);
  const Planned global = plan_text(bare + "[policy]\ntest = \"global-fp\"\n" + tasks);
  CHECK(global.status == 1);
  CHECK_THAT(global.out, Contains(" any ") && Contains("all cores together: "));
}

TEST_CASE("a policy that does not fit the platform is refused with what to change") {
  const Planned planned = plan_text(std::string("[policy]\ntest = \"gfb\"\n") + plant);
  CHECK(planned.status == 2);
  CHECK_THAT(planned.err, Contains("write budget = \"0us\", blocking = \"0us\" and capacity = 1 below [platform]"));
}

TEST_CASE("a policy for single jobs shows the part of a task's jobs that is admitted") {
  const std::string text =
      "[platform]\ncores = 1\nbudget = \"0us\"\nblocking = \"0us\"\ncapacity = 1\n"
      "[policy]\ntest = \"aub\"\naub = \"J_N_N\"\n"
      "[[task]]\nperiod = \"10ms\"\nbudget = \"4ms\"\njitter = \"0us\"\n"
      "[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\njitter = \"0us\"\n";
  CHECK_THAT(plan_text(text).out, Contains("0.0 % of its jobs are admitted\n"));
  CHECK(json_of(text)["admitted_utilization_ppm"] == 666'666);
}

TEST_CASE("the examples of policies can be planned") {
  CHECK(run({.file = CORELANE_SOURCE "/examples/scenarios/splitting.toml"}).status == 0);
  CHECK_THAT(run({.file = CORELANE_SOURCE "/examples/scenarios/tests.toml", .quick = true}).out,
             Contains("policy.test = liu-layland: ") && Contains("policy.test = gfb: "));
}

TEST_CASE("the cores that a single task needs are told in the singular") {
  const Planned planned = plan_text("[platform]\ncores = 1\n[[task]]\nperiod = \"10ms\"\nbudget = \"1ms\"\n");
  CHECK_THAT(planned.out, Contains("The task needs 1 core.\n") && !Contains("All 1"));
}

TEST_CASE("a task that fits on no core is named") {
  const Planned planned = plan_text("[[task]]\nlabel = \"big\"\nperiod = \"10ms\"\nbudget = \"9900us\"\n");
  CHECK(planned.status == 1);
  CHECK_THAT(planned.out, Contains("big does not fit on any core, not even alone.\n"));
}

TEST_CASE("the page about plans shows what the command prints") {
  const std::string name = GENERATE("plant", "steering", "criticality", "bus");
  const Planned planned = run({.file = CORELANE_SOURCE "/examples/scenarios/" + name + ".toml"});
  CHECK_THAT(with_single_blanks(read(CORELANE_SOURCE "/docs/plan.md")), Contains(with_single_blanks(planned.out)));
  CHECK_THAT(read(CORELANE_SOURCE "/docs/plan.md"),
             Contains("build/bin/corelane plan examples/scenarios/" + name + ".toml"));
}

TEST_CASE("a chain that may end too late is named, and the exit status is 1") {
  const std::string chain = "[[chain]]\nlabel = \"loop\"\ntasks = [\"a\", \"b\"]\ndeadline = \"12ms\"\n";
  const std::string tasks =
      "[platform]\ncores = 1\n[[task]]\nlabel = \"a\"\nperiod = \"20ms\"\nbudget = \"4ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"20ms\"\nbudget = \"4ms\"\n";
  const Planned planned = plan_text(tasks + chain);
  CHECK(planned.status == 1);
  CHECK_THAT(planned.out, Contains("2 of 2 tasks are admitted.\nChain loop (a, b): ") &&
                              Contains(" from end to end, later than the deadline of 12ms;\n  "));
  const auto json = json_of(tasks + chain);
  CHECK(json["chains"][0]["tasks"] == nlohmann::json{"a", "b"});
  CHECK(json["chains"][0]["holds"] == false);
  CHECK(json["chains"][0]["bound_ns"] > 12'000'000);
  const Planned swept =
      plan_text(tasks + chain + "[[sweep]]\nfield = \"chain.loop.deadline\"\nvalues = [\"12ms\", \"40ms\"]\n");
  CHECK(swept.status == 1);
  CHECK_THAT(swept.out, Contains("In 1 of them a chain or a task of high criticality may be late.\n"));
}

TEST_CASE("a task of high criticality has its bound after an overrun") {
  const std::string high = "criticality = \"high\"\nbudget_high = ";
  const std::string task = "[platform]\ncores = 1\n[[task]]\nlabel = \"brake\"\nperiod = \"10ms\"\nbudget = \"2ms\"\n";
  CHECK_THAT(plan_text(task + high + "\"4ms\"\n").out,
             Contains("  brake\n       if jobs take up to their budget_high (4ms): bound "));
  const Planned late = plan_text(task + high + "\"9900us\"\n");
  CHECK(late.status == 1);
  CHECK_THAT(late.out, Contains("(9900us): the deadline may be missed\n"));
  CHECK(json_of(task + high + "\"4ms\"\n")["tasks"][0]["high"]["holds"] == true);
}

TEST_CASE("a file of another program is planned as it is, with a note of what it says beyond that") {
  const Planned planned = run({.file = CORELANE_SOURCE "/examples/scenarios/cruise.xml"});
  CHECK(planned.status == 0);
  CHECK_THAT(planned.out, Contains("3 tasks on 2 cores; no platform load; 100.0 % of a core at most\n"));
  CHECK_THAT(planned.err, Contains("corelane plan: note: the scheduler simso.schedulers.RM is left out"));
}

TEST_CASE("a plan reads a SimSo file of one line, however long it is") {
  std::string tasks;
  for (int i = 0; i < 600; ++i)
    tasks += "<task name=\"t" + std::to_string(i) + "\" period=\"1000.0\" deadline=\"1000.0\" WCET=\"0.1\"/>";
  const Planned planned = plan_text("<simulation etm=\"wcet\"><processors><processor/></processors><tasks>" + tasks +
                                    "</tasks></simulation>");
  CHECK(planned.err.find("dots in a line") == planned.err.npos);
  CHECK_THAT(planned.out, Contains("t599"));
}

TEST_CASE("the example of a sweep can be planned") {
  const Planned planned = run({.file = CORELANE_SOURCE "/examples/scenarios/acceptance.toml"});
  CHECK(planned.status == 1);
  CHECK_THAT(planned.out, Contains("generate.utilization = 1.2: 20 of 20 sets ") &&
                              Contains("of 80 sets are admitted as a whole.\n"));
}

TEST_CASE("a plan with a host card charges each job, and blocks it for a wake-up") {
  using namespace std::chrono_literals;
  const CardFile card(card_of_cost(10us));
  const Planned usual = plan_text(plant, {.overheads = card.path()});
  CHECK_THAT(
      usual.out,
      Contains("platform load 20us in each 1ms, blocking 10us; ") &&
          Contains("overheads charged by the analysis: dispatch 10us twice, hop 10us; 30us on top of each budget"));
  const auto json = json_of(plant, {.overheads = card.path(), .worst_overheads = true});
  CHECK(json["overheads"]["per_job_ns"] == 300'000);
  CHECK(json["platform"]["blocking_ns"] == 100'000);
  CHECK(json["tasks"][0]["budget_ns"] == 4'000'000);
  CHECK(json["tasks"][0]["utilization_ppm"] == 430'000);
  CHECK_FALSE(json_of(plant).contains("overheads"));
}

TEST_CASE("a contract that a plan with a host card proposes is admitted when it is pasted") {
  using namespace std::chrono_literals;
  const CardFile card(card_of_cost(100us));
  const std::string late =
      "[[task]]\nlabel = \"late\"\nperiod = \"50ms\"\nbudget = \"20ms\"\n";  // a longer period would fit
  const std::string tight =
      "[[task]]\nlabel = \"tight\"\nperiod = \"3600s\"\ndeadline = \"8ms\"\nbudget = \"7ms\"\njitter = \"0us\"\n";
  for (const std::string& task : {std::string(camera), late, tight}) {
    const auto refusal = json_of(plant + task, {.overheads = card.path()})["tasks"][2]["refusal"];
    INFO(refusal.dump());
    REQUIRE(refusal.contains("would_fit"));
    const auto field = [&](const char* name) {
      return std::string(name) + " = \"" + std::to_string(refusal["would_fit"][name + std::string("_ns")].get<long>()) +
             "ns\"\n";
    };
    const std::string pasted =
        "[[task]]\nlabel = \"pasted\"\n" + field("period") + field("deadline") + field("budget") + field("jitter");
    CHECK(plan_text(plant + pasted, {.overheads = card.path()}).status == 0);
  }
}

TEST_CASE("a plan refuses a host card without the costs of a job, and one with absurd costs (another host is a note)") {
  using namespace std::chrono_literals;
  corelane::eval::HostCard bare = card_of_cost(10us);
  bare.costs.clear();
  const CardFile no_hop(bare);
  const Planned refused = plan_text(plant, {.overheads = no_hop.path()});
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, Contains("has no cost of a hop; measure again: corelane doctor --measure"));
  bare.costs = card_of_cost(10us).costs;
  bare.costs.erase(corelane::eval::HostCost::context_switch);
  const CardFile no_switch(bare);
  CHECK_THAT(plan_text(plant, {.overheads = no_switch.path()}).err, Contains("has no cost of a context switch"));
  const CardFile absurd(card_of_cost(2s));
  CHECK_THAT(plan_text(plant, {.overheads = absurd.path()}).err, Contains("has a cost of 2s, more than 1s"));
  corelane::eval::HostCard other = card_of_cost(10us);
  other.key.host = "another-host";
  const CardFile elsewhere(other);
  const Planned noted = plan_text(plant, {.overheads = elsewhere.path()});
  CHECK(noted.status == 0);
  CHECK_THAT(noted.err, Contains("corelane plan: note: ") && Contains("was measured on the host 'another-host'"));
}

TEST_CASE("a scenario says which overheads its plan charges, and the option replaces them") {
  using namespace std::chrono_literals;
  const std::string costs = std::string(plant) + "[overheads]\nhop = \"20571ns\"\ncharged = ";
  const auto charged = json_of(costs + "true\n");
  CHECK(charged["tasks"][0]["utilization_ppm"] == 402'100);
  CHECK(charged["overheads"]["charged"] == true);
  CHECK(charged["overheads"]["hop_ns"] == 20'571);
  const auto uncharged = json_of(costs + "false\n");
  CHECK(uncharged["tasks"][0]["utilization_ppm"] == 400'000);
  CHECK(uncharged["overheads"]["per_job_ns"] == 21'000);
  const CardFile card(card_of_cost(10us));
  CHECK(json_of(costs + "false\n", {.overheads = card.path()})["tasks"][0]["utilization_ppm"] == 403'000);
}

TEST_CASE("a plan refuses a host card that is missing or useless, and tasks for which it is too dear") {
  using namespace std::chrono_literals;
  const Planned missing = plan_text(plant, {.overheads = "/none/card.json"});
  CHECK(missing.status == 2);
  CHECK_THAT(missing.err, Contains("/none/card.json does not exist; measure this host: corelane doctor --measure"));
  const CardFile useless{corelane::eval::HostCard{}};
  CHECK_THAT(plan_text(plant, {.overheads = useless.path()}).err, Contains("no wake-up of a real-time thread"));
  const CardFile dear(card_of_cost(3ms));
  const Planned refused = plan_text(plant, {.overheads = dear.path()});
  CHECK(refused.status == 1);
  CHECK_THAT(with_single_blanks(refused.out), Contains("response 13ms against deadline 10ms"));
}

TEST_CASE("a plan names slowdowns only for tasks that have one, and overheads beside them") {
  const std::string tasks =
      "[platform]\ncores = 2\n[policy]\ncharge_slowdowns = true\n"
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"4ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"4ms\"\n";
  const std::string overheads = "[overheads]\ncharged = true\nhop = \"20us\"\n";
  const std::string pair = "[[slowdown]]\noperation = \"a\"\nbeside = \"b\"\nfactor = 1.5\n";
  const auto lines = [](const std::string& text) {
    std::string out = plan_text(text).out, found;
    for (std::size_t at = 0; (at = out.find("analyzed with a budget of ", at)) != out.npos; ++at)
      found += out.substr(at, out.find('\n', at) - at + 1);
    return found;
  };
  CHECK(lines(tasks + overheads) == "");
  CHECK(json_of(tasks + overheads)["tasks"][0]["charged_budget_ns"] == 4'020'000);
  CHECK(lines(tasks + pair) ==
        "analyzed with a budget of 6.00ms, which includes slowdowns by tasks on other cores of its cache\n");
  CHECK(lines(tasks + overheads + pair) ==
        "analyzed with a budget of 6.03ms, which includes overheads and slowdowns by tasks on other cores of its "
        "cache\n");
}

TEST_CASE("a plan charges the worst slowdowns of its tables, or those of the setting") {
  const std::string platform = "[platform]\ncores = 2\n";
  const std::string tasks =
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"4ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"4ms\"\n";
  const std::string pair = "[[slowdown]]\noperation = \"a\"\nbeside = \"b\"\nfactor = 1.5\n";
  const std::string worst = platform + "[policy]\ncharge_slowdowns = \"worst\"\n" + tasks + pair;
  CHECK_THAT(plan_text(worst).out,
             Contains("analyzed with a budget of 6.00ms, which includes slowdowns by tasks on other cores") &&
                 Contains("\nNote: budgets include slowdowns, which are estimates"));
  CHECK(json_of(worst)["tasks"][0]["charged_budget_ns"] == 6'000'000);
  CHECK(json_of(worst)["tasks"][1]["charged_budget_ns"] == 4'000'000);
  CHECK_FALSE(json_of(platform + tasks + pair)["tasks"][0].contains("charged_budget_ns"));
  const TempDirectory place;
  const std::string file = place / "slowdowns.toml";
  std::ofstream(file) << pair;
  const PlanOptions with_setting{.orb_options = {"-ORBDispatchSlowdowns", file}};
  CHECK(json_of(platform + tasks, with_setting)["tasks"][0]["charged_budget_ns"] == 6'000'000);
  const std::string without = platform + "[policy]\ncharge_slowdowns = false\n" + tasks;
  CHECK_FALSE(json_of(without, with_setting)["tasks"][0].contains("charged_budget_ns"));
}

TEST_CASE("a plan that charges slowdowns says that they are estimates, and which one a refusal is due to") {
  const std::string tasks =
      "[platform]\ncores = 2\nbudget = \"0us\"\nblocking = \"0us\"\n[policy]\ncharge_slowdowns = true\n"
      "[[slowdown]]\noperation = \"a\"\nbeside = \"b\"\nfactor = 1.5\n"
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"6ms\"\njitter = \"0us\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"4ms\"\njitter = \"0us\"\n";
  const std::string estimates = "budgets include slowdowns, which are estimates: bounds hold only as far as these do";
  const std::string why = "if it ran on core 1, a would be analyzed with a budget of 9900us in place of 6600us: b on";
  CHECK_THAT(plan_text(tasks).out, Contains("\nNote: " + estimates + ".\n"));
  CHECK(json_of(tasks)["notes"] == nlohmann::json{estimates});
  std::string untested = tasks;
  untested.insert(untested.find("[policy]\n") + 9, "test = \"none\"\n");
  CHECK_THAT(plan_text(untested).out, Contains("\nNote: " + estimates + ".\n"));
  CHECK_FALSE(json_of(plant).contains("notes"));
  std::string longer = tasks;
  longer.replace(longer.find("6ms"), 3, "6600us");
  CHECK_THAT(with_single_blanks(plan_text(longer).out), Contains(why));
  CHECK_THAT(json_of(longer)["tasks"][1]["refusal"]["text"].get<std::string>(), Contains(why));
  const std::string charged = longer + "[overheads]\ncharged = true\nhop = \"20us\"\n";
  CHECK_THAT(with_single_blanks(plan_text(charged).out),
             Contains("a would be analyzed with a budget of 9930us in place of 6600us plus 20us of charged "
                      "overheads: b on"));
}

}  // namespace plan_test
