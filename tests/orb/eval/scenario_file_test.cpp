#include "orb/eval/scenario_file.h"

#include <catch2/catch.hpp>

#include "orb/core/contracts/slowdowns.h"
#include "orb/eval/scenario_fields.h"
#include "orb/eval/server_options.h"
#include "orb/eval/task_set.h"
#include "orb/sched/admission_test.h"
#include "orb/sched/allocation_strategy.h"
#include "orb/sched/task_order.h"

namespace scenario_file_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;

namespace {

std::vector<Cell> cells_of(const std::string& text) {
  auto cells = parse_scenario(text, "s.toml");
  if (!cells) FAIL(cells.error().text);
  return *std::move(cells);
}

Scenario scenario_of(const std::string& text) { return cells_of(text).front().scenario; }

std::string fault_of_text(const std::string& text) {
  const auto cells = parse_scenario(text, "s.toml");
  return cells ? "" : cells.error().text;
}

constexpr const char* one_task = "[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\n";

}  // namespace

TEST_CASE("a scenario has the values of its file") {
  const Scenario s = scenario_of(R"(
name = "two cores"
seed = 7
repetitions = 3
[platform]
cores = 2
budget = "50us"
period = "2ms"
jitter = "10us"
blocking = "30us"
capacity = 0.9
[policy]
dispatcher = "direct"
allocation = "worst-fit"
test = "none"
[[task]]
label = "sensor"
period = "10ms"
budget = "2ms"
deadline = "8ms"
jitter = "0us"
suspension = "0us"
importance = -3
on_overrun = "demote"
uses = { bus = "200us" }
offset = "1ms"
arrival = "bursty"
gap = "4ms"
burst = 2
execution = 0.9
execution_min = 0.4
count = 2
[generate]
tasks = 8
utilization = 1.6
utilizations = "randfixedsum"
utilization_min = 0.05
utilization_max = 0.5
periods = "uniform"
period_min = "5ms"
period_max = "50ms"
period_step = "5ms"
deadline = 0.8
jitter = 0
order = "random"
offsets = "random"
arrival = "sporadic"
gap = 0.5
execution = 0.7
)");
  CHECK(s.name == "two cores");
  CHECK(s.seed == 7);
  CHECK(s.repetitions == 3);
  CHECK(s.platform.cores == 2);
  CHECK(s.platform.budget == 50us);
  CHECK(s.platform.period == 2ms);
  CHECK(s.platform.jitter == 10us);
  CHECK(s.platform.blocking == 30us);
  CHECK(s.platform.capacity == Fraction{900'000});
  CHECK(s.policy.dispatcher == "direct");
  CHECK(s.policy.test == "none");
  REQUIRE(s.tasks.size() == 1);
  CHECK(s.tasks[0].label == "sensor");
  CHECK(s.tasks[0].deadline == 8ms);
  CHECK(s.tasks[0].importance == -3);
  CHECK(s.tasks[0].count == 2);
  CHECK(s.tasks[0].uses.at(0).longest == 200us);
  CHECK(s.tasks[0].arrival == "bursty");
  CHECK(s.tasks[0].gap == 4ms);
  CHECK(s.tasks[0].burst == 2);
  CHECK(s.tasks[0].execution == Fraction{900'000});
  CHECK(s.tasks[0].execution_min == Fraction{400'000});
  REQUIRE(s.generate);
  CHECK(s.generate->utilization == Fraction{1'600'000});
  CHECK(s.generate->utilization_min == Fraction{50'000});
  CHECK(s.generate->periods == "uniform");
  CHECK(s.generate->period_step == 5ms);
  CHECK(s.generate->jitter == Fraction{0});
  CHECK(s.generate->order == "random");
  CHECK(s.generate->offsets == "random");
  CHECK(s.generate->gap == Fraction{500'000});
  CHECK(s.generate->execution == Fraction{700'000});
  const Scenario each = scenario_of(
      "[generate]\ntasks = 2\nutilization = 1\nutilizations = \"convolutionalfixedsum\"\n"
      "utilization_min_each = [0, 0.25]\nutilization_max_each = [0.5, 1]\nbalance = 0.5\n");
  CHECK(each.generate->utilization_min_each == std::vector<Fraction>{{0}, {250'000}});
  CHECK(each.generate->balance == Fraction{500'000});
}

TEST_CASE("what a scenario leaves out is as in a server") {
  const Scenario s = scenario_of(one_task);
  CHECK(s.seed == 1);
  CHECK(s.platform.cores == 0);
  CHECK_FALSE(s.platform.budget);
  dispatch::ExecutiveOptions options;
  apply(s.platform, options);
  apply(s.policy, options);
  CHECK(options.platform.budget == dispatch::ExecutiveOptions{}.platform.budget);
  CHECK(options.admission_test == sched::default_admission_test());
  const auto tasks = tasks_of(s);
  REQUIRE(tasks);
  CHECK(tasks->front().contract == make_contract(10ms, 2ms));  // with the jitter of a tenth
  CHECK(tasks->front().label == "task-1");
}

TEST_CASE("platform and policy of a scenario replace those of the server") {
  const Scenario s = scenario_of(std::string("[platform]\nbudget = \"1us\"\ncapacity = 1\ncache_domains = "
                                             "2\n[policy]\ntest = \"none\"\nallocation = \"next-fit\"\n"
                                             "dispatcher = \"leader-followers\"\n") +
                                 one_task);
  dispatch::ExecutiveOptions options;
  options.platform.blocking = 5us;
  apply(s.platform, options);
  apply(s.policy, options);
  CHECK(options.platform.budget == 1us);
  CHECK(options.platform.period == 1ms);
  CHECK(options.platform.blocking == 5us);
  CHECK(options.capacity == 1'000'000);
  CHECK(options.cache_domains == 2);
  CHECK(options.admission_test == &sched::admission::none);
  CHECK(options.allocation->name == "next-fit");
  CHECK(options.mode == dispatch::DispatchMode::leader_followers);
}

TEST_CASE("a scenario may name each test, allocation and order, also those that no server has") {
  for (const auto* const test : sched::admission_tests()) {
    dispatch::ExecutiveOptions options;
    apply(scenario_of("[policy]\ntest = \"" + std::string(test->name) + "\"\n" + one_task).policy, options);
    CHECK(options.admission_test == test);
  }
  for (const auto* const strategy : sched::allocation_strategies()) {
    dispatch::ExecutiveOptions options;
    apply(scenario_of("[policy]\nallocation = \"" + std::string(strategy->name) + "\"\n" + one_task).policy, options);
    CHECK(options.allocation == strategy);
  }
  for (const auto* const order : sched::task_orders())
    CHECK(scenario_of("[policy]\norder = \"" + std::string(order->name) + "\"\n" + one_task).policy.order ==
          order->name);
}

TEST_CASE(
    "a scenario may say how the aperiodic bound decides about jobs, in eighteen ways of which fifteen are valid") {
  const auto chosen = [](const std::string& text) {
    return aperiodic_policy_of(scenario_of("[policy]\ntest = \"aub\"\n" + text + one_task).policy);
  };
  CHECK_FALSE(chosen(""));
  const auto policy = chosen("aub = \"J_T_N\"\n");
  REQUIRE(policy);
  CHECK(policy->admission == sched::When::per_job);
  CHECK(policy->idle_resetting == sched::When::per_task);
  CHECK(policy->load_balancing == sched::When::never);
  int valid = 0;
  for (const std::string_view name : aperiodic_policy_names())
    valid += sched::valid(chosen("aub = \"" + std::string(name) + "\"\n").value()) ? 1 : 0;
  CHECK(valid == 15);
  CHECK_THAT(fault_of_text(std::string("[policy]\naub = \"N_N_N\"\n") + one_task),
             Catch::Contains("policy.aub: expected one of \"T_N_N\""));
}

TEST_CASE("every wrong input has its line, what is wrong, and how to mend it") {
  struct Case {
    std::string text, fault;
  };
  const std::string task = one_task;
  const Case c = GENERATE_COPY(
      Case{"",
           "s.toml:1: there is no task; add [[task]] with period and budget, or [generate] with tasks and utilization"},
      Case{"seed = 1\n[platform\n", "s.toml:2:10: syntax error in a table header"},
      Case{"[plattform]\n" + task, "s.toml:1:2: there is no plattform; the nearest is platform"},
      Case{"[x]\n" + task,
           "s.toml:1:2: there is no x; there are name, seed, repetitions, platform, policy, task, chain, slowdown, "
           "generate, "
           "overheads, experiment, published and sweep"},
      Case{"[platform]\ncore = 2\n" + task, "s.toml:2:1: there is no platform.core; the nearest is cores"},
      Case{"[platform]\nrepetitions = 5\n" + task,
           "s.toml:2:1: there is no platform.repetitions: repetitions belongs at the top of the file, above the first "
           "table; platform has cores"},
      Case{"[platform]\ncores = \"two\"\n" + task,
           "s.toml:2:9: platform.cores: expected a whole number from 1 to 1024; found \"two\""},
      Case{"[platform]\ncores = 0\n" + task, "expected a whole number from 1 to 1024; found 0"},
      Case{"[platform]\ncores = 1025\n" + task, "expected a whole number from 1 to 1024; found 1025"},
      Case{"[platform]\ncores = 2.5\n" + task, "expected a whole number from 1 to 1024; found 2.5"},
      Case{"[platform]\ncapacity = 1.5\n" + task,
           "platform.capacity: expected a number from 0.000001 to 1, such as 0.5; found 1.5"},
      Case{"[platform]\ncapacity = nan\n" + task, "expected a number from 0.000001 to 1"},
      Case{"[platform]\nperiod = \"0us\"\n" + task, "s.toml:2:10: platform.period: expected a duration above 0"},
      Case{"[platform]\nbudget = \"2ms\"\nperiod = \"1ms\"\n" + task,
           "s.toml:2:10: platform.budget = 2ms is more than platform.period = 1ms"},
      Case{"platform = 2\n" + task, "s.toml:1:1: platform is one table; write [platform] above its fields"},
      Case{"[[platform]]\ncores = 1\n" + task, "platform is one table; write [platform]"},
      Case{"[task]\nperiod = \"10ms\"\n", "s.toml:1:2: task is a list of tables; write [[task]]"},
      Case{"seed = -1\n" + task, "seed: expected a whole number of 0 or more; found -1"},
      Case{"name = 3\n" + task, "name: expected a text in quotes; found 3"},
      Case{"repetitions = 0\n" + task, "repetitions: expected a whole number from 1 to 1000000"},
      Case{"[policy]\nallocation = \"worstfit\"\n" + task,
           "policy.allocation: expected one of \"worst-fit\", \"first-fit\", \"best-fit\", \"next-fit\", "
           "\"cache-aware\", \"splitting\"; "
           "the nearest is worst-fit"},
      Case{"[policy]\ntest = \"edf\"\n" + task,
           "expected one of \"response-time\", \"liu-layland\", \"hyperbolic\", \"aub\", \"qpa\", \"global-fp\", "
           "\"gfb\", "
           "\"none\"; found \"edf\""},
      Case{"[policy]\ntest = true\n" + task, "found true"},
      Case{"[[task]]\nperiod = \"10ms\"\n", "s.toml:1:1: task has no budget; add budget = \"2ms\""},
      Case{"[[task]]\nbudget = \"10ms\"\n", "task has no period; add period = \"10ms\""},
      Case{"[[task]]\nperiod = \"1.5ms\"\nbudget = \"1ms\"\n",
           "s.toml:2:10: task.period: expected a duration such as \"10ms\" (a whole number and ns, us, ms or s), in "
           "quotes; "
           "a duration has no blank and no fraction: write 1500us; found \"1.5ms\""},
      Case{"[[task]]\nperiod = 10\nbudget = \"1ms\"\n", "task.period: expected a duration such as \"10ms\""},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"11ms\"\n",
           "s.toml:1:1: task \"task-1\": budget C = 11ms is outside 0 < C <= D = 10ms; change one of these values"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\nuses = { bus = \"3ms\" }\n",
           "the longest section of uses.bus = 3ms is outside 0 < L <= C = 2ms"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\nuses = { bus = 3 }\n",
           "s.toml:4:16: task.uses: expected for bus a duration such as \"10ms\" (a whole number and ns, us, ms or s), "
           "in quotes; found 3"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\non_overrun = \"kill\"\n",
           "expected one of \"report\", \"demote\", \"cancel\"; found \"kill\""},
      Case{"[[task]]\nperiod = \"1ms\"\nbudget = \"1ms\"\ndeadline = \"20ms\"\n", "span 21 periods of T = 1ms"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\noffset = \"2h\"\n", "task.offset: expected a duration"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\noffset = \"3601s\"\n", "outside 0 <= offset <= 1 h"},
      Case{"[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"2ms\"\n[[task]]\nlabel = \"a\"\nperiod = "
           "\"10ms\"\nbudget "
           "= \"2ms\"\n",
           "s.toml:5:1: a second task has the label \"a\" of the one in line 1; give it another label"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\ncount = 100000\n" + task, "100001 tasks are too many"},
      Case{"[generate]\ntasks = 4\n",
           "s.toml:1:1: generate.utilizations = \"uunifast-discard\": it needs the sum; add utilization"},
      Case{"[generate]\ntasks = 4\nutilization = 1.6\nutilizations = \"uunifast\"\n",
           "s.toml:4:16: generate.utilizations = \"uunifast\": with utilization 1.6 a task may need more than a whole "
           "core"},
      Case{"[generate]\ntasks = 4\nutilization = 0\n", "generate.utilization: expected a number from 0.000001 to 1024"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nutilization_min = 0.5\nutilization_max = 0.4\n",
           "generate.utilization_min = 0.5 is more than utilization_max = 0.4"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiods = \"list\"\n", "it needs the periods; add period_list"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiods = \"list\"\nperiod_list = [\"1ms\", 2]\n",
           "s.toml:5:23: generate.period_list: expected each element to be a duration such as \"10ms\" (a whole number "
           "and ns, us, ms or s), in quotes; found 2"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiods = \"list\"\nperiod_list = [\"1ms\", \"0us\"]\n",
           "s.toml:5:23: generate.period_list: expected each element to be a duration above 0; found \"0us\""},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiods = \"list\"\nperiod_list = []\n",
           "s.toml:5:15: generate.period_list: expected a list of durations such as [\"1ms\", \"5ms\"]; found an "
           "empty list"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiod_min = \"200ms\"\n",
           "generate.period_min = 200ms is more than period_max = 100ms"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiod_max = \"3601s\"\n", "is outside 0 < T <= 1 h"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nperiod_step = \"0us\"\n",
           "generate.period_step = 0ns gives no period"},
      Case{"[generate]\ntasks = 4\nutilization = 1\ndeadline = 7\nperiod_max = \"3600s\"\n",
           "generate.deadline = 7 with a period of 3600s gives a deadline of more than 1 h"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\narrival = \"poisson\"\n",
           "expected one of \"periodic\", \"sporadic\", \"bursty\"; found \"poisson\""},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\ngap = \"3601s\"\n", "outside 0 <= gap <= 1 h"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\nexecution_min = 0.9\nexecution = 0.8\n",
           "execution_min = 0.9 is more than execution = 0.8; lower it, or raise execution"},
      Case{"[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\nexecution_min = 0.9\nexecution_trace = [\"1ms\"]\n",
           "execution_min and execution_trace exclude each other"},
      Case{"[generate]\ntasks = 4\nutilization = 1\nexecution_min = 1.5\n",
           "s.toml:4:17: generate.execution_min = 1.5 is more than execution = 1"},
      Case{"[generate]\ntasks = 4\nutilization = 1\norder = \"edf\"\n",
           "generate.order: expected one of \"as-drawn\", \"random\", \"increasing-period\"; found \"edf\""},
      Case{"[generate]\ntasks = 2\nutilization = 1\nutilization_max_each = [0.5, 2]\n",
           "s.toml:4:30: generate.utilization_max_each: expected each element to be a number from 0.000001 to 1, such "
           "as 0.5; found 2"},
      Case{"[generate]\ntasks = 4\nutilization = 1\njitter = 1\n",
           "generate.jitter: expected a number from 0 to 0.999999"});
  CAPTURE(c.text);
  CHECK_THAT(fault_of_text(c.text), Catch::Contains(c.fault));
  CHECK_THAT(fault_of_text(c.text), Catch::StartsWith("s.toml:"));
}

TEST_CASE("sweeps give every combination, and the last one changes fastest") {
  const auto cells = cells_of(std::string(one_task) +
                              "[[sweep]]\nfield = \"platform.cores\"\nvalues = [1, 2]\n"
                              "[[sweep]]\nfield = \"task.task-1.budget\"\nvalues = [\"1ms\", \"2ms\", \"3ms\"]\n");
  REQUIRE(cells.size() == 6);
  CHECK(cells[0].swept ==
        std::vector<std::pair<std::string, std::string>>{{"platform.cores", "1"}, {"task.task-1.budget", "1ms"}});
  CHECK(cells[1].scenario.tasks[0].budget == 2ms);
  CHECK(cells[1].scenario.platform.cores == 1);
  CHECK(cells[5].scenario.tasks[0].budget == 3ms);
  CHECK(cells[5].scenario.platform.cores == 2);
}

TEST_CASE("a sweep takes ranges of numbers, whole numbers and durations, the ends included") {
  const auto values = [](const std::string& field, const std::string& range) {
    std::string text;
    for (const Cell& cell :
         cells_of(std::string(one_task) + "[generate]\ntasks = 2\nutilization = 0.5\n[[sweep]]\nfield = \"" + field +
                  "\"\n" + range))
      text += cell.swept.front().second + " ";
    return text;
  };
  CHECK(values("generate.utilization", "from = 0.1\nto = 0.5\nstep = 0.1\n") == "0.1 0.2 0.3 0.4 0.5 ");
  CHECK(values("generate.utilization", "from = 1\nto = 2\nstep = 0.25\n") == "1 1.25 1.5 1.75 2 ");
  CHECK(values("seed", "from = 1\nto = 10\nstep = 4\n") == "1 5 9 ");
  CHECK(values("task.task-1.deadline", "from = \"5ms\"\nto = \"6ms\"\nstep = \"500us\"\n") == "5ms 5500us 6ms ");
}

TEST_CASE("a sweep reaches each kind of field, also of a table that the file leaves out") {
  const auto cells =
      cells_of(std::string(one_task) + "[[sweep]]\nfield = \"policy.test\"\nvalues = [\"response-time\", \"none\"]\n");
  CHECK(cells[1].scenario.policy.test == "none");
  CHECK(cells_of(std::string(one_task) + "[[sweep]]\nfield = \"name\"\nvalues = [\"a\", \"b\"]\n")[1].scenario.name ==
        "b");
}

TEST_CASE("a wrong sweep has its line, what is wrong, and how to mend it") {
  struct Case {
    std::string sweep, fault;
  };
  const Case c =
      GENERATE(Case{"values = [1]\n", "s.toml:4:1: sweep has no field; add field = \"generate.utilization\""},
               Case{"field = \"seed\"\n", "the sweep of seed: it needs either values, or from, to and step"},
               Case{"field = \"seed\"\nvalues = [1]\nfrom = 1\n", "it needs either values, or from, to and step"},
               Case{"field = \"seed\"\nfrom = 1\nto = 2\n", "it needs either values, or from, to and step"},
               Case{"field = \"seed\"\nvalues = []\n", "sweep.values: expected a list of numbers"},
               Case{"field = \"seed\"\nvalues = [1, [1]]\n",
                    "s.toml:6:14: sweep.values: expected each element to be a number, a text in quotes such as "
                    "\"10ms\", or true or false; found a list"},
               Case{"field = \"seed\"\nfrom = 3\nto = 2\nstep = 1\n", "from must not be more than to"},
               Case{"field = \"seed\"\nfrom = 1\nto = 2\nstep = 0\n", "step must be above 0"},
               Case{"field = \"seed\"\nfrom = 1\nto = \"2ms\"\nstep = 1\n", "not all numbers, or all durations"},
               Case{"field = \"seed\"\nfrom = 1\nto = 1000000\nstep = 1\n", "more than 10000 values; raise step"},
               Case{"field = \"sed\"\nvalues = [1]\n",
                    "s.toml:6:11: the sweep of sed: there is no field sed; the nearest is seed"},
               Case{"field = \"generate.utilisation\"\nvalues = [1]\n", "the nearest is generate.utilization"},
               Case{"field = \"task.budget\"\nvalues = [\"1ms\"]\n",
                    "a field is such as generate.utilization or task.LABEL.budget"},
               Case{"field = \"task.x.budget\"\nvalues = [\"1ms\"]\n", "no task has the label x; there are task-1"},
               Case{"field = \"sweep.field\"\nvalues = [1]\n", "there is no field sweep.field"},
               Case{"field = \"platform.cores\"\nvalues = [1, \"x\"]\n",
                    "s.toml:6:14: platform.cores: expected a whole number from 1 to 1024; found \"x\"; swept: "
                    "platform.cores = x"},
               Case{"field = \"task.task-1.budget\"\nvalues = [\"1ms\", \"11ms\"]\n",
                    "s.toml:1:1: task \"task-1\": budget C = 11ms is outside 0 < C <= D = 10ms; change one of these "
                    "values; swept: "
                    "task.task-1.budget = 11ms"});
  CAPTURE(c.sweep);
  CHECK_THAT(fault_of_text(one_task + ("[[sweep]]\n" + c.sweep)), Catch::Contains(c.fault));
}

TEST_CASE("a fault names the swept fields without which the file has it not, and no others") {
  const std::string sweeps =
      "[[sweep]]\nfield = \"task.task-1.budget\"\nvalues = [\"11ms\"]\n"
      "[[sweep]]\nfield = \"policy.allocation\"\nvalues = [\"worst-fit\"]\n";
  CHECK_THAT(fault_of_text(one_task + sweeps), Catch::EndsWith("; swept: task.task-1.budget = 11ms"));
  CHECK_THAT(fault_of_text(std::string("[platform]\ncores = \"x\"\n") + one_task + sweeps),
             Catch::EndsWith("platform.cores: expected a whole number from 1 to 1024; found \"x\""));
}

TEST_CASE("chains name listed tasks of one period") {
  const std::string tasks =
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"2ms\"\n"
      "[[task]]\nperiod = \"10ms\"\nbudget = \"2ms\"\n"
      "[[task]]\nlabel = \"slow\"\nperiod = \"20ms\"\nbudget = \"2ms\"\n"
      "[[task]]\nlabel = \"twins\"\nperiod = \"10ms\"\nbudget = \"2ms\"\ncount = 2\n";
  const Scenario s = scenario_of(tasks + "[[chain]]\ntasks = [\"a\", \"task-2\"]\ndeadline = \"15ms\"\n");
  REQUIRE(s.chains.size() == 1);
  CHECK(s.chains[0].tasks == std::vector<std::string>{"a", "task-2"});
  CHECK(s.chains[0].deadline == 15ms);
  struct Case {
    std::string chain, fault;
  };
  const Case c = GENERATE(
      Case{"tasks = [\"a\"]\n", "s.toml:17:1: chain \"chain-1\": it has one task; a chain has two or more"},
      Case{"label = \"x\"\ntasks = [\"a\", \"b\"]\n",
           "chain \"x\": no listed task with a count of 1 has the label \"b\""},
      Case{"tasks = [\"a\", \"twins\"]\n", "no listed task with a count of 1 has the label \"twins\""},
      Case{"tasks = [\"a\", \"task-2\", \"a\"]\n", "task \"a\" is in a chain already"},
      Case{"tasks = [\"a\", \"slow\"]\n", "task \"slow\" has the period 20ms, and the task before it has 10ms"},
      Case{"tasks = [\"a\", \"task-2\"]\ndeadline = \"0s\"\n", "is outside 0 < D <= 1 h"},
      Case{"tasks = \"a\"\n", "chain.tasks: expected a list of texts in quotes; found \"a\""},
      Case{"label = \"x\"\n", "chain has no tasks; add tasks = [\"sensor\", \"valve\"]"},
      Case{"tasks = [\"a\", \"task-2\"]\n[[chain]]\ntasks = [\"task-2\", \"a\"]\n",
           "chain \"chain-2\": task \"task-2\" is in a chain already"});
  CAPTURE(c.chain);
  CHECK_THAT(fault_of_text(tasks + "[[chain]]\n" + c.chain), Catch::Contains(c.fault));
}

TEST_CASE("a sweep reaches a chain by its label") {
  const std::string text = std::string(one_task) + one_task +
                           "[[chain]]\ntasks = [\"task-1\", \"task-2\"]\n"
                           "[[sweep]]\nfield = \"chain.chain-1.deadline\"\nvalues = [\"15ms\", \"20ms\"]\n";
  CHECK(cells_of(text)[1].scenario.chains[0].deadline == 20ms);
  CHECK_THAT(fault_of_text(std::string(one_task) + "[[sweep]]\nfield = \"chain.x.deadline\"\nvalues = [\"1ms\"]\n"),
             Catch::Contains("the file has no [[chain]]"));
}

TEST_CASE("criticality and spinning have values that fit together") {
  const std::string task = one_task;
  const Scenario s = scenario_of(task + "criticality = \"high\"\nbudget_high = \"5ms\"\nrequests = 3\n");
  CHECK(s.tasks[0].criticality == "high");
  CHECK(s.tasks[0].budget_high == 5ms);
  CHECK(s.tasks[0].requests == 3);
  struct Case {
    std::string text, fault;
  };
  const Case c = GENERATE_COPY(
      Case{task + "budget_high = \"5ms\"\n", "budget_high = 5ms is for tasks with criticality = \"high\""},
      Case{task + "criticality = \"high\"\nbudget_high = \"1ms\"\n", "budget_high = 1ms is outside C <= budget_high"},
      Case{task + "criticality = \"high\"\nbudget_high = \"11ms\"\n", "with C = 2ms and D = 10ms"},
      Case{"[policy]\nlocks = \"msrp\"\n" + task + "criticality = \"high\"\n",
           "s.toml:2:9: policy.locks: msrp has no analysis of tasks of high criticality"},
      Case{"[policy]\nlocks = \"msrp\"\ntest = \"hyperbolic\"\n" + task,
           "msrp is analyzed by response times, and policy.test is \"hyperbolic\""});
  CAPTURE(c.text);
  CHECK_THAT(fault_of_text(c.text), Catch::Contains(c.fault));
}

TEST_CASE("slowdowns name tasks, their copies, or drawn ones") {
  const std::string tasks =
      "[[task]]\nlabel = \"a\"\nperiod = \"10ms\"\nbudget = \"1ms\"\n"
      "[[task]]\nlabel = \"b\"\nperiod = \"10ms\"\nbudget = \"1ms\"\ncount = 2\n";
  const auto slowdown = [](const std::string& operation, const std::string& beside) {
    return "[[slowdown]]\noperation = \"" + operation + "\"\nbeside = \"" + beside +
           "\"\nfactor = 1.25\nsamples = 200\nlow = 1.2\nhigh = 1.3\nalone = \"4ms\"\ntogether = \"5ms\"\n"
           "accesses = 25.5\nmisses = 3.2\nstalls = 410\n";
  };
  const auto cells = parse_scenario(tasks + slowdown("a", "b-2"), "s.toml");
  REQUIRE(cells);
  const PairSlowdown& read = cells->front().scenario.slowdowns.at(0);
  CHECK(read.operation == "a");
  CHECK(read.beside == "b-2");
  CHECK(read.factor == Fraction{1'250'000});
  CHECK(read.high == Fraction{1'300'000});
  CHECK(read.together == 5ms);
  CHECK(read.accesses == Fraction{25'500'000});
  CHECK(cells->front().scenario.policy.charge_slowdowns == std::nullopt);
  const std::string drawn = "[generate]\ntasks = 2\nutilization = 0.5\n";
  CHECK(parse_scenario(drawn + slowdown("drawn", "drawn-1"), "s.toml"));
  const auto is_read = [&](const std::string& file, const std::string& beside) {
    return static_cast<bool>(parse_scenario(file + slowdown("a", beside), "s.toml"));
  };
  CHECK(is_read(tasks, "b-1"));
  for (const char* const none : {"b-0", "b-3", "b-02", "a-1", "b-99999999999999999999"}) {
    CAPTURE(none);
    CHECK_FALSE(is_read(tasks, none));
  }
  CHECK(is_read(tasks + drawn, "drawn-2"));
  CHECK_FALSE(is_read(tasks + drawn, "drawn-3"));
  CHECK(is_read(tasks + "[generate]\nutilization = 0.5\nutilizations = \"independent\"\n", "drawn-3"));
  const auto wrong = parse_scenario(tasks + slowdown("a", "./load"), "s.toml");
  REQUIRE_FALSE(wrong);
  CHECK_THAT(wrong.error().text,
             Catch::Contains("slowdown.beside = \"./load\" is the label of no task; write the label"));
}

TEST_CASE("repack is true unless the file or a sweep says otherwise") {
  CHECK(scenario_of(one_task).policy.repack);
  CHECK_FALSE(scenario_of(std::string("[policy]\nrepack = false\n") + one_task).policy.repack);
  CHECK(fault_of_text(std::string("[policy]\nrepack = \"no\"\n") + one_task) ==
        "s.toml:2:10: policy.repack: expected true or false, without quotes; found \"no\"");
  const auto swept = cells_of(std::string(one_task) + "[[sweep]]\nfield = \"policy.repack\"\nvalues = [true, false]\n");
  REQUIRE(swept.size() == 2);
  CHECK(swept[0].scenario.policy.repack);
  CHECK_FALSE(swept[1].scenario.policy.repack);
}

TEST_CASE("charge_slowdowns is true, false or worst, and worst charges only what a server knows") {
  const auto charge = [](const std::string& value) {
    return scenario_of("[policy]\ncharge_slowdowns = " + value + "\n" + one_task).policy.charge_slowdowns;
  };
  CHECK(charge("false") == SlowdownCharge::none);
  CHECK(charge("true") == SlowdownCharge::placed);
  CHECK(charge("\"worst\"") == SlowdownCharge::worst);
  for (const char* const wrong : {"\"true\"", "\"best\"", "1"}) {
    CAPTURE(wrong);
    CHECK_THAT(fault_of_text(std::string("[policy]\ncharge_slowdowns = ") + wrong + "\n" + one_task),
               Catch::StartsWith("s.toml:2:20: policy.charge_slowdowns: expected true or false, without quotes, or "
                                 "\"worst\"; found "));
  }
  CHECK(fault_of_text(std::string("[platform]\nslowdown = 1.5\n[policy]\ncharge_slowdowns = \"worst\"\n") + one_task) ==
        "s.toml:4:20: policy.charge_slowdowns = \"worst\" charges as a server does, and a server does not know "
        "platform.slowdown = 1.5; write tables [[slowdown]] in its place, or charge_slowdowns = true");
  const auto swept = cells_of(std::string(one_task) +
                              "[[sweep]]\nfield = \"policy.charge_slowdowns\"\nvalues = [false, true, \"worst\"]\n");
  REQUIRE(swept.size() == 3);
  CHECK(swept[1].scenario.policy.charge_slowdowns == SlowdownCharge::placed);
  CHECK(swept[2].scenario.policy.charge_slowdowns == SlowdownCharge::worst);
}

TEST_CASE("each documented field of a table of slowdowns is read") {
  for (const ScenarioTable& table : scenario_tables()) {
    if (table.name != "slowdown") continue;
    CHECK(table.fields.size() == 11);
    std::string text = "[[slowdown]]\n";
    for (const auto& [info, kind] : table.fields)
      text += std::string(info.key) + " = " + std::string(info.example) + "\n";
    const auto pairs = core::parse_slowdowns(text, "s.toml");
    if (!pairs) FAIL(pairs.error().text);
    CHECK(pairs->size() == 1);
  }
}

TEST_CASE("factors of slowdowns are rounded up to the next millionth") {
  const auto factor = [](const std::string& value) {
    const auto pairs =
        core::parse_slowdowns("[[slowdown]]\noperation = \"a\"\nbeside = \"b\"\nfactor = " + value + "\n", "s.toml");
    return pairs ? pairs->at(0).factor.millionths : 0;
  };
  CHECK(factor("1.0000004") == 1'000'001);
  CHECK(factor("1.0000006") == 1'000'001);
  for (std::int64_t millionths = 1'000'000; millionths < 1'001'000; ++millionths)
    if (factor(decimal(Fraction{millionths})) != millionths) FAIL(decimal(Fraction{millionths}));
  const auto cells = parse_scenario(std::string("[platform]\nslowdown = 1.0000004\n") + one_task, "s.toml");
  REQUIRE(cells);
  CHECK(cells->front().scenario.platform.slowdown == Fraction{1'000'001});
}

TEST_CASE("sweeps have a bounded number of combinations") {
  const std::string sweep = "[[sweep]]\nfield = \"seed\"\nfrom = 1\nto = 200\nstep = 1\n";
  CHECK_THAT(fault_of_text(one_task + sweep + sweep),
             Catch::Contains("s.toml:4:1: the sweeps have more than 10000 combinations"));
}

TEST_CASE("a contracts file is told from a scenario") {
  CHECK(is_contracts_file("[\"IDL:Plant/Controller:1.0\".step]\nperiod = \"10ms\"\n"));
  CHECK_FALSE(is_contracts_file(one_task));
  CHECK_FALSE(is_contracts_file(""));
  CHECK_FALSE(is_contracts_file("["));
}

}  // namespace scenario_file_test
