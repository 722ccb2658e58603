#include "orb/eval/planning/idle_server.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/dispatch/leases/core_watch.h"
#include "orb/dispatch/worst_slowdowns.h"
#include "orb/eval/generate/random_source.h"
#include "orb/eval/plan.h"
#include "tests/orb/dispatch/fixture.h"
#include "tests/support/quiet.h"
#include "tests/support/system/from_environment.h"

namespace idle_server_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using dispatch::ExecutiveOptions;
using dispatch::test::Machine;

namespace {

// The options of a server with its default settings, in a small table.
ExecutiveOptions server_options() {
  ExecutiveOptions options;
  options.queue_capacity = 64;
  options.max_tasks = 24;
  return options;
}

// Slowdowns of the tasks in these tests.
std::shared_ptr<const dispatch::WorstSlowdowns> some_slowdowns() {
  return std::make_shared<const dispatch::WorstSlowdowns>(std::vector<dispatch::WorstSlowdowns::Pair>{
      {"task", "./load", 1'333'333}, {"task-3", "task", 1'100'000}, {"task", "task-5", 1'700'000}});
}

// Options that change what the Manager decides, or what it is asked.
std::vector<ExecutiveOptions> kinds_of_servers() {
  std::vector<ExecutiveOptions> kinds(9, server_options());
  kinds[1].wait = {.mode = os::WaitMode::spin_then_park, .spin = 150us};
  kinds[1].overshoot = 30us;
  kinds[2].best_effort_server.kind = dispatch::BestEffortServer::deferrable;
  kinds[3].reader.budget = 100us;
  kinds[3].charge_overruns = true;
  kinds[4].deadline_cores = {CoreId{1}};
  kinds[5].capacity = 700'000;
  kinds[5].highest_native = 4;  // two levels for tasks
  kinds[6].best_effort_server = {.kind = dispatch::BestEffortServer::sporadic, .cores = {CoreId{0}}};
  kinds[7].slowdowns = some_slowdowns();
  kinds[8] = kinds[1];
  kinds[8].slowdowns = some_slowdowns();
  kinds[8].cache_domains = 2;
  return kinds;
}

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(below(random, static_cast<std::uint64_t>(most - least) + 1));
}

// Draws a contract that a server may well refuse, and sometimes one that is unsound.
Contract drawn_contract(Random& random) {
  const Duration period = between(random, 1, 100) * 1ms;
  Contract contract = make_contract(period, period * between(random, 1, 60) / 100);
  if (below(random, 3) == 0) contract.deadline = period * between(random, 20, 250) / 100;
  if (below(random, 3) == 0) contract.jitter = {};
  if (below(random, 8) == 0) contract.suspension = contract.budget / 4;
  if (below(random, 6) == 0) contract.uses[0] = use_of(below(random, 2) == 0 ? "bus" : "log", contract.budget / 10);
  if (below(random, 6) == 0) contract.on_overrun = OverrunPolicy::demote;
  contract.importance = static_cast<std::int16_t>(below(random, 3));
  return contract;
}

Contract with(const sched::Nearest& nearest, Contract contract) {
  contract.period = nearest.period;
  contract.deadline = nearest.deadline;
  contract.budget = nearest.budget;
  contract.jitter = nearest.jitter;
  contract.suspension = nearest.suspension;
  return contract;
}

// Asks a server, whose manager is stepped by hand, and an IdleServer the same, and compares their answers.
class Both {
 public:
  Both(const ExecutiveOptions& options, int cores)
      : cores_(cores), machine_(cores, options), idle_(options, numbered_cores(cores)) {}

  void admit(const Contract& contract, const std::string& label) {
    const auto told = machine_.ask(contract, {}, label);
    machine_.settle();
    // The manager waits a millisecond after a plan that it called off.
    for (int wait = 0; told->calls == 0 && wait < 4000; ++wait) {
      moved_ = true;
      machine_.advance(1ms);
    }
    const auto answered = idle_.admit(label, contract);
    REQUIRE(told->calls == 1);
    REQUIRE(told->admission.has_value() == answered.has_value());
    if (!answered) {
      REQUIRE(sched::text_of(*told->refusal) == sched::text_of(answered.error()));
      REQUIRE(*told->refusal == answered.error());
      ++refused;
      if (answered.error().nearest.found() && !is_pasting_) paste(contract, answered.error().nearest, label);
      return;
    }
    REQUIRE(told->admission->task == *answered);
    tasks_.push_back(*answered);
    ++admitted;
    compare_tasks();
  }

  void leave(std::uint64_t number) {
    if (tasks_.empty()) return;
    const auto task = tasks_.begin() + static_cast<std::ptrdiff_t>(number % tasks_.size());
    machine_.manager.depart(*task, {});
    machine_.settle();
    idle_.leave(*task);
    places_.erase(*task);
    tasks_.erase(task);
  }

  // Lets a task run a job in the server, and then lets all cores be idle.
  void idle(std::uint64_t number, Duration length) {
    if (!tasks_.empty()) machine_.send(tasks_[number % tasks_.size()]);
    machine_.settle();
    machine_.advance(length);
    compare_tasks();
  }

  // Takes the last core away from both. The same tasks have to leave. `busy`: every task of the server has a job then.
  void lose_last_core(bool busy) {
    if (busy)
      for (const TaskId task : tasks_) machine_.send(task);
    machine_.decide();
    const CoreId lost{static_cast<std::int16_t>(cores_ - 1)};
    machine_.provider().revoked.push_back(lost);
    machine_.advance(dispatch::CoreWatch::period);
    machine_.advance(1ms);
    idle_.lose(lost);
    moved_ = true;
    for (const dispatch::TaskReport& report : machine_.manager.report().tasks)
      REQUIRE(report.gone == !idle_.manager().find(report.task));
    std::erase_if(tasks_, [&](TaskId task) { return !idle_.manager().find(task); });
    compare_tasks();
  }

  int admitted = 0, refused = 0, pasted = 0;

 private:
  // Asks for the contract that a refusal has proposed. Both admit it.
  void paste(const Contract& contract, const sched::Nearest& nearest, const std::string& label) {
    const int before = admitted;
    is_pasting_ = true;
    admit(with(nearest, contract), label);
    is_pasting_ = false;
    REQUIRE(admitted == before + 1);
    ++pasted;
  }

  void compare_tasks() {
    for (const dispatch::TaskReport& report : machine_.manager.report().tasks) {
      if (report.gone) continue;
      const auto view = idle_.manager().find(report.task);
      REQUIRE(view);
      REQUIRE(report.core == view->core);
      REQUIRE(report.priority == view->priority);
      const auto [place, is_new] = places_.emplace(report.task, report.core);
      moved_ |= place->second != report.core;
      // Bounds are for reports, and a server computes some of them when it has time. While tasks move, and on cores by
      // deadlines, that may be sooner or later than here. So what it has seen as the largest one differs.
      const bool is_exact = !moved_ && idle_.manager().find(report.core)->order == sched::CoreOrder::priority;
      if (is_exact) REQUIRE(report.bound == idle_.bound_of(report.task));
    }
  }

  const corelane::testing::Quiet quiet_;
  const int cores_;
  Machine machine_;
  IdleServer idle_;
  std::vector<TaskId> tasks_;
  std::map<TaskId, CoreId> places_;
  bool moved_ = false;
  bool is_pasting_ = false;
};

}  // namespace

TEST_CASE("a plan and a server agree on random sequences of admission, departure, idleness and lost cores") {
  const int sequences = static_cast<int>(corelane::testing::from_environment("CORELANE_PLANS", 360));
  const std::vector<ExecutiveOptions> kinds = kinds_of_servers();
  int admitted = 0, refused = 0, pasted = 0;
  for (int sequence = 0; sequence < sequences; ++sequence) {
    Random random = random_of(30, static_cast<std::uint64_t>(sequence));
    CAPTURE(sequence);
    Both both(kinds[static_cast<std::size_t>(sequence) % kinds.size()], static_cast<int>(between(random, 2, 3)));
    const std::int64_t loss = between(random, 8, 30);  // some sequences lose no core
    for (int step = 0; step < 24; ++step) {
      if (step == loss) both.lose_last_core(loss % 2 == 0);
      switch (below(random, 8)) {
        case 0:
        case 1:
          both.leave(random());
          break;
        case 2:
          both.idle(random(), between(random, 1, 50) * 1ms);
          break;
        default:
          both.admit(drawn_contract(random), "task-" + std::to_string(step));
      }
    }
    admitted += both.admitted;
    refused += both.refused;
    pasted += both.pasted;
  }
  CHECK(admitted > sequences * 5);
  CHECK(refused > sequences * 2);
  CHECK(pasted > sequences);
}

TEST_CASE("an idle server admits the contract that it proposed") {
  const bool is_slowed = GENERATE(false, true);
  CAPTURE(is_slowed);
  ExecutiveOptions options = server_options();
  if (is_slowed) options.slowdowns = some_slowdowns();
  int proposals = 0;
  for (std::uint64_t set = 0; set < 100; ++set) {
    Random random = random_of(31, set);
    IdleServer server(options, numbered_cores(2));
    for (int step = 0; step < 12; ++step) {
      const Contract contract = drawn_contract(random);
      const auto answer = server.admit("task", contract);
      if (answer || !answer.error().nearest.found()) continue;
      CAPTURE(set, step, sched::text_of(answer.error()));
      REQUIRE(server.admit("task", with(answer.error().nearest, contract)));
      ++proposals;
    }
  }
  CHECK(proposals > 50);
}

TEST_CASE("an idle server gives the capacity of a task that has left to the next one") {
  IdleServer server(server_options(), numbered_cores(1));
  const auto first = server.admit("first", make_contract(10ms, 6ms));
  REQUIRE(first);
  CHECK_FALSE(server.admit("second", make_contract(10ms, 6ms)));
  server.leave(*first);
  CHECK(server.admit("second", make_contract(10ms, 6ms)));
}

TEST_CASE("an idle server lengthens budgets by the worst slowdown on each other core, and refusals say so") {
  ExecutiveOptions options = server_options();
  options.platform = {};
  options.slowdowns = std::make_shared<const dispatch::WorstSlowdowns>(
      std::vector<dispatch::WorstSlowdowns::Pair>{{"vision", "control", 1'500'000}, {"vision", "./load", 1'250'000}});
  IdleServer server(options, numbered_cores(3));
  const auto first = server.admit("vision", make_contract(20ms, 4ms, 20ms, 0ms));
  REQUIRE(first);
  CHECK(server.manager().find(*first)->contract.budget == 8ms);
  CHECK(server.bound_of(*first) == 8ms);
  const auto other = server.admit("control", make_contract(20ms, 4ms, 20ms, 0ms));
  REQUIRE(other);
  CHECK(server.manager().find(*other)->contract.budget == 4ms);
  const auto refused = server.admit("vision", make_contract(20ms, 9800us, 20ms, 0ms));
  REQUIRE_FALSE(refused);
  CHECK_THAT(sched::text_of(refused.error()),
             Catch::Contains("; it is analyzed with a budget of 19600us in place of 9800us: control on each other core "
                             "of its cache slows it down by a factor of 1.5, which is an estimate") &&
                 Catch::Contains("budget = \"9800us\""));
  const sched::Nearest& nearest = refused.error().nearest;
  REQUIRE(nearest.found());
  CHECK(server.admit("vision", with(nearest, make_contract(20ms, 9800us, 20ms, 0ms))));
}

TEST_CASE("a refusal names the task that would be late") {
  IdleServer server(server_options(), numbered_cores(1));
  REQUIRE(server.admit("valve", make_contract(50ms, 20ms)));
  REQUIRE(server.admit("sensor", make_contract(10ms, 4ms)));
  const auto refused = server.admit("camera", make_contract(20ms, 2ms, 10ms));
  REQUIRE_FALSE(refused);
  CHECK_THAT(sched::text_of(refused.error()),
             Catch::Contains("where valve responds in ") && Catch::Contains("in C++ {.period = "));
}

}  // namespace idle_server_test
