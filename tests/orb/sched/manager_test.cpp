#include "orb/sched/manager.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/base/peer.h"
#include "tests/orb/sched/manager_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

TEST_CASE("new tasks go to the core with most room") {
  Bench b(cores_of(2));
  CHECK(b.core_of(b.admitted(share_of_core(50))) == CoreId{0});
  CHECK(b.core_of(b.admitted(share_of_core(20))) == CoreId{1});
  CHECK(b.core_of(b.admitted(share_of_core(20))) == CoreId{1});
  CHECK(b.manager.cores()[0].admitted == 500'000);
  CHECK(b.manager.cores()[1].admitted == 400'000);
}

TEST_CASE("the first job of a new task is admitted and placed and later jobs are placed") {
  Bench b(cores_of(1));
  const auto first = b.tell(Arrived{Time{}, JobId{5}, no_task, PeerId{1}, share_of_core(10)});
  REQUIRE(only<Admit>(first).size() == 1);
  REQUIRE(only<Dispatch>(first).size() == 1);
  CHECK(only<Dispatch>(first)[0].job == JobId{5});
  CHECK(only<Admit>(first)[0].response == 10ms);
  const TaskId task = only<Admit>(first)[0].task;
  const auto later = only<Dispatch>(b.tell(Arrived{Time{}, JobId{6}, task, PeerId{1}, std::nullopt}));
  REQUIRE(later.size() == 1);
  CHECK(later[0].core == CoreId{0});
}

TEST_CASE("a request without task and contract is best effort") {
  Bench b(cores_of(1));
  const auto places = only<Dispatch>(b.tell(Arrived{Time{}, JobId{5}, no_task, PeerId{1}, std::nullopt}));
  REQUIRE(places.size() == 1);
  CHECK(places[0].core == no_core);
}

TEST_CASE("a core fills up to its capacity exactly and no further") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(90));
  b.admitted(share_of_core(5));
  const Refusal refusal = b.refused({.period = 100ms, .deadline = 100ms, .budget = 1ns});
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.response == Duration::max());
}

TEST_CASE("platform load counts for the capacity and in every response") {
  ManagerOptions options = cores_of(1);
  options.cores[0].load = {.budget = 1ms, .period = 10ms};
  Bench b(options);
  CHECK(b.manager.find(b.admitted(share_of_core(45)))->response == 50ms);
  b.refused(share_of_core(41));
  b.admitted(share_of_core(40));
}

TEST_CASE("a refusal names the closest core and its response against the deadline") {
  Bench b(cores_of(2));
  b.admitted({.period = 100ms, .deadline = 30ms, .budget = 30ms});
  b.admitted({.period = 100ms, .deadline = 30ms, .budget = 25ms});
  // The response would be 30 + 10 ms below the task on core 0, and 25 + 10 ms on core 1. The deadline is 32 ms.
  const Refusal refusal = b.refused({.period = 100ms, .deadline = 32ms, .budget = 10ms});
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.closest == CoreId{1});
  CHECK(refusal.loser == no_task);
  CHECK(refusal.response == 35ms);
  CHECK(refusal.deadline == 32ms);
}

TEST_CASE("a refusal names the admitted task that would lose") {
  Bench b(cores_of(1));
  const TaskId resident = b.admitted({.period = 100ms, .deadline = 30ms, .budget = 25ms});
  const Refusal refusal = b.refused({.period = 100ms, .deadline = 20ms, .budget = 10ms});
  CHECK(refusal.loser == resident);
  CHECK(refusal.response == 35ms);
  CHECK(refusal.deadline == 30ms);
}

TEST_CASE("with two levels a third task shares one and both interfere") {
  ManagerOptions options = cores_of(1);
  options.levels = 2;
  Bench b(options);
  std::vector<TaskId> tasks;
  for (const auto period : {10ms, 20ms, 40ms})
    tasks.push_back(b.admitted({.period = period, .deadline = period, .budget = 1ms}));
  std::map<int, int> on_level;
  for (const TaskId task : tasks) ++on_level[b.manager.find(task)->priority.value];
  REQUIRE(on_level.size() == 2);
  // A task that shares a level responds as if the other tasks of that level ran first.
  for (const TaskId task : tasks) {
    const TaskView view = *b.manager.find(task);
    int at_or_above = 0;
    for (const TaskId other : tasks) at_or_above += b.manager.find(other)->priority >= view.priority;
    CHECK(view.response == at_or_above * 1ms);
  }
}

TEST_CASE("tasks that a new task separates count for each other until their core was idle") {
  ManagerOptions options = cores_of(1);
  options.levels = 3;
  Bench b(options);
  const auto task = [](Duration period) { return Contract{.period = period, .deadline = period, .budget = 1ms}; };
  const auto view = [&](TaskId id) { return *b.manager.find(id); };
  b.admitted(task(20ms));
  const TaskId second = b.admitted(task(30ms));
  const TaskId third = b.admitted(task(40ms));
  b.admitted(task(50ms));
  REQUIRE(view(second).priority == view(third).priority);
  CHECK(view(second).response == 3ms);
  const TaskId candidate = b.admitted(task(10ms));
  REQUIRE(view(second).priority > view(third).priority);
  CHECK(view(second).response == 4ms);  // includes the third task, which may have delayed it already
  b.tell(Departed{Time{}, candidate});
  b.vacated(candidate, CoreId{0});
  b.admitted(task(10ms));
  REQUIRE(view(second).priority > view(third).priority);
  CHECK(view(second).response == 3ms);
}

TEST_CASE("the nearest contract is accepted when it is proposed, and a shorter period is not") {
  Bench b(cores_of(2));
  b.admitted(share_of_core(70));
  b.admitted(share_of_core(70));
  const Contract wish{.period = 50ms, .deadline = 40ms, .budget = 20ms};
  b.refused(wish);
  const Nearest nearest = b.manager.nearest(wish);
  REQUIRE(nearest.found());
  CHECK(nearest.period > wish.period);
  CHECK(nearest.budget == wish.budget);
  Contract tighter = wish;
  tighter.period = nearest.period - nearest.period / 1000;  // the proposal is rounded to four digits
  tighter.deadline = Duration{wish.deadline.count() * tighter.period.count() / wish.period.count()};
  b.refused(tighter);
  b.admitted({.period = nearest.period,
              .deadline = nearest.deadline,
              .budget = nearest.budget,
              .jitter = nearest.jitter,
              .suspension = nearest.suspension});
}

TEST_CASE("a refusal on a full core proposes no contract") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(95));
  CHECK_FALSE(b.manager.nearest(share_of_core(10)).found());
}

TEST_CASE("without admission every task runs on the least-loaded core") {
  ManagerOptions options = cores_of(2);
  options.test = &sched::admission::none;
  Bench b(options);
  for (int i = 0; i < 6; ++i) b.admitted(share_of_core(60));
  CHECK(b.manager.cores()[0].admitted == 1'800'000);
  CHECK(b.manager.cores()[1].admitted == 1'800'000);
}

TEST_CASE("the hyperbolic test admits the published set and nothing more") {
  ManagerOptions options = cores_of(1);
  options.test = find_named(admission_tests(), "hyperbolic");
  Bench b(options);
  for (const auto& [budget, period] : {std::pair{1ms, 3ms}, {1ms, 4ms}, {2ms, 10ms}})
    b.admitted({.period = period, .deadline = period, .budget = budget});
}

TEST_CASE("a smaller capacity limits new tasks and evicts no admitted task") {
  Bench b(cores_of(1));
  const TaskId task = b.admitted(share_of_core(60));
  b.manager.set_capacity(CoreId{0}, 500'000);
  b.refused(share_of_core(1));
  CHECK(b.manager.find(task)->state == TaskState::running);
  b.manager.set_capacity(CoreId{0}, 700'000);
  b.admitted(share_of_core(10));
}

TEST_CASE("the tasks of other processes count as interference") {
  Bench b(cores_of(1));
  const std::vector<PlatformLoad> others{{.budget = 5ms, .period = 10ms}};
  b.manager.set_interference(CoreId{0}, others);
  b.refused({.period = 10ms, .deadline = 6ms, .budget = 2ms});
  b.admitted({.period = 10ms, .deadline = 7ms, .budget = 2ms});
}

TEST_CASE("works on 1 2 and 64 cores") {
  const int count = GENERATE(1, 2, 64);
  Bench b(cores_of(count));
  for (int i = 0; i < 3 * count; ++i) b.admitted(share_of_core(30));
  CHECK(b.refused(share_of_core(30)).code == RefusalCode::not_schedulable);
  for (const CoreView& view : b.manager.cores()) CHECK(view.admitted == 900'000);
}

TEST_CASE("ten thousand tasks are admitted to 64 cores") {
  ManagerOptions options = cores_of(64);
  options.max_tasks = 10'000;
  Bench b(options);
  for (int i = 0; i < 10'000; ++i) b.admitted({.period = 1s, .deadline = 1s, .budget = 5ms});
  CHECK(b.refused({.period = 1s, .deadline = 1s, .budget = 5ms}).code == RefusalCode::too_many_tasks);
  for (const CoreView& core : b.manager.cores()) CHECK(core.tasks >= 156);
}

// Error paths.

TEST_CASE("refusals before any analysis name their cause") {
  ManagerOptions options = cores_of(1);
  options.max_tasks = 2;
  options.peer_limit = 300'000;
  Bench b(options);
  CHECK(b.refused({.period = 10ms, .deadline = 10ms, .budget = 11ms}).code == RefusalCode::bad_contract);
  CHECK(b.refused({.period = 1ms, .deadline = 9ms, .budget = 1us}).code == RefusalCode::backlog);
  b.admitted(share_of_core(20), PeerId{1});
  CHECK(b.refused(share_of_core(11), PeerId{1}).code == RefusalCode::peer_limit);
  b.admitted(share_of_core(10), PeerId{1});
  CHECK(b.refused(share_of_core(1), PeerId{2}).code == RefusalCode::too_many_tasks);
}

TEST_CASE("a remote peer gets no task more urgent than it may have and this process does") {
  ManagerOptions options = cores_of(1);
  options.peer_urgency = 5ms;
  Bench b(options);
  const Contract urgent{.period = 100ms, .deadline = 6ms, .budget = 1ms, .jitter = 1ms + 1ns};
  const Refusal refusal = b.refused(urgent, PeerId{1});
  CHECK(refusal.code == RefusalCode::peer_urgency);
  CHECK(text_of(refusal) == "a peer may not have a deadline this short; the least is 6000001ns");
  b.admitted(urgent);
  Contract allowed = urgent;
  allowed.jitter = 1ms;
  b.admitted(allowed, PeerId{1});
}

TEST_CASE("a peer's holdings are the sum over all connections of its holder") {
  ManagerOptions options = cores_of(2);
  options.peer_limit = 300'000;
  Bench b(options);
  b.admitted(share_of_core(20), peer_of(1, 5));
  CHECK(b.refused(share_of_core(11), peer_of(2, 5)).code == RefusalCode::peer_limit);
  b.admitted(share_of_core(10), peer_of(2, 5));
  b.admitted(share_of_core(30), peer_of(3, 6));
  b.tell(PeerLost{Time{}, peer_of(1, 5)});
  b.admitted(share_of_core(20), peer_of(4, 5));
}

TEST_CASE("a limit that spares this user's processes is for strangers alone, and its refusal has the numbers") {
  ManagerOptions options = cores_of(2);
  options.peer_limit = 300'000;
  options.spares_own_user = true;
  Bench b(options);
  b.admitted(share_of_core(20), peer_of(1, 5));
  const Refusal refusal = b.refused(share_of_core(11), peer_of(2, 5));
  CHECK(refusal.code == RefusalCode::peer_limit);
  CHECK(text_of(refusal) ==
        "the peer holds 20.0 % of a core with its tasks, and with this one it would hold more than the 30.0 % that one "
        "peer may: limits.peer_utilization");
  b.admitted(share_of_core(60), peer_of(3, 6, true));
  b.admitted(share_of_core(60), peer_of(4, 6, true));
}

TEST_CASE("a limit of less than a tenth of a percent is told as it is") {
  ManagerOptions options = cores_of(1);
  options.peer_limit = 50;
  Bench b(options);
  CHECK_THAT(text_of(b.refused(share_of_core(1), peer_of(1, 5))),
             Catch::Contains("holds 0.0 % of a core") && Catch::Contains("more than the 0.005 % that one peer may"));
}

TEST_CASE("a holder of this user is one with all its connections, too") {
  CHECK(same_holder(peer_of(1, 6, true), peer_of(2, 6, true)));
  CHECK_FALSE(same_holder(peer_of(1, 6, true), peer_of(2, 7, true)));
  CHECK(is_of_own_user(peer_of(1, most_holders, true)));
  CHECK_FALSE(is_of_own_user(peer_of(1, most_holders)));
  CHECK(connection_of(peer_of(9, most_holders, true)) == PeerId{9});
  CHECK_FALSE(same_holder(peer_of(1, 0, true), peer_of(2, 0, true)));
}

TEST_CASE("a peer gets no more tasks than one peer may have, over all connections of its holder") {
  ManagerOptions options = cores_of(1);
  options.max_tasks = 5;
  options.peer_tasks = 2;
  Bench b(options);
  const TaskId first = b.admitted(share_of_core(1), peer_of(1, 5));
  b.admitted(share_of_core(1), peer_of(2, 5));
  const Refusal refusal = b.refused(share_of_core(1), peer_of(3, 5));
  CHECK(refusal.code == RefusalCode::peer_limit);
  CHECK(text_of(refusal) == "the peer has as many tasks as one peer may: limits.peer_tasks is 2");
  b.admitted(share_of_core(1), peer_of(4, 6));
  b.admitted(share_of_core(1));
  b.tell(Departed{Time{}, first});
  b.tell(Vacated{Time{}, first, b.manager.find(first)->core});
  b.admitted(share_of_core(1), peer_of(3, 5));
}

TEST_CASE("a task that finds the table full is told which setting gives its size") {
  ManagerOptions options = cores_of(1);
  options.max_tasks = 0;
  CHECK(text_of(Bench(options).refused(share_of_core(1))) == "this server takes no tasks (limits.tasks = 0)");
  options.max_tasks = 1;
  Bench b(options);
  b.admitted(share_of_core(1));
  CHECK(text_of(b.refused(share_of_core(1))) == "the server's table of tasks is full; raise limits.tasks there");
}

TEST_CASE("this process's own tasks are no peer's, however many there are") {
  ManagerOptions options = cores_of(1);
  options.peer_tasks = 1;
  Bench b(options);
  b.admitted(share_of_core(1));
  b.admitted(share_of_core(1));
}

TEST_CASE("a peer's tasks count while they run and no longer when they leave") {
  ManagerOptions options = cores_of(2);
  options.peer_limit = 300'000;
  Bench b(options);
  const TaskId task = b.admitted(share_of_core(30), PeerId{1});
  CHECK(b.refused(share_of_core(1), PeerId{1}).code == RefusalCode::peer_limit);
  b.admitted(share_of_core(30), PeerId{2});
  b.admitted(share_of_core(60));
  b.tell(Departed{Time{}, task});
  b.admitted(share_of_core(1), PeerId{1});
}

TEST_CASE("a manager that does not watch budgets refuses policies that need a watched budget") {
  const bool enforces = GENERATE(true, false);
  const OverrunPolicy policy = GENERATE(OverrunPolicy::demote, OverrunPolicy::cancel);
  ManagerOptions options = cores_of(1);
  options.enforces_budgets = enforces;
  Bench b(options);
  b.admitted(share_of_core(10));
  Contract contract = share_of_core(10);
  contract.on_overrun = policy;
  if (enforces) b.admitted(contract);
  if (!enforces) CHECK(b.refused(contract).code == RefusalCode::overrun_policy);
}

TEST_CASE("a process without cores refuses with no_core") {
  Bench b(cores_of(0));
  CHECK(b.refused(share_of_core(1)).code == RefusalCode::no_core);
}

TEST_CASE("another peer's task, a gone one and a guessed one are unknown") {
  Bench b(cores_of(1));
  const TaskId task = b.admitted(share_of_core(10), PeerId{1});
  const auto code = [&](TaskId id, PeerId peer) {
    const auto refusals = only<Refuse>(b.tell(Arrived{Time{}, JobId{50}, id, peer, std::nullopt}));
    return refusals.empty() ? RefusalCode::no_core : refusals[0].reason.code;
  };
  CHECK(code(task, PeerId{2}) == RefusalCode::unknown_task);
  CHECK(code(TaskId{task.value + 1}, PeerId{1}) == RefusalCode::unknown_task);
  b.tell(Departed{Time{}, task});
  CHECK(code(task, PeerId{1}) == RefusalCode::unknown_task);
  b.vacated(task, CoreId{0});
  const TaskId next = b.admitted(share_of_core(10), PeerId{1});
  CHECK(next != task);
}

TEST_CASE("a code of a later version is told as one that is not known") {
  CHECK(text_of({.code = RefusalCode{99}}) == "the server has a reason that this version does not know");
  CHECK(name_of(RefusalCode{99}) == "unknown");
}

TEST_CASE("a refusal reads as a sentence with its numbers") {
  Refusal refusal{.code = RefusalCode::not_schedulable, .closest = CoreId{1}, .response = 12ms, .deadline = 10ms};
  refusal.nearest = {20ms, 20ms, 3ms, 1ms};
  CHECK(text_of(refusal) ==
        "a deadline would be missed on every core; closest is core 1, response 12ms against deadline 10ms; this "
        "contract would fit, with all else as it was asked for: in C++ {.period = 20ms, .deadline = 20ms, .budget = "
        "3ms, .jitter = 1ms}, in IDL or TOML period = \"20ms\", deadline = \"20ms\", budget = \"3ms\", jitter = "
        "\"1ms\"");
  refusal.nearest.suspension = 4ms;
  CHECK_THAT(text_of(refusal), Catch::Contains(".jitter = 1ms, .suspension = 4ms}, in IDL"));
  CHECK_THAT(text_of(refusal), Catch::EndsWith(", jitter = \"1ms\", suspension = \"4ms\""));
  refusal.nearest = {};
  refusal.unproposed = Unproposed::nothing_fits;
  CHECK_THAT(text_of(refusal), Catch::EndsWith("; neither a longer period, a later deadline nor a smaller budget alone "
                                               "would fit"));
  refusal.unproposed = Unproposed::beside_others;
  CHECK_THAT(text_of(refusal), Catch::EndsWith("since it might delay tasks of other servers of this host"));
  refusal.unproposed = Unproposed::no_time;
  CHECK_THAT(text_of(refusal), Catch::EndsWith("since there was no time to look for it"));
  refusal.unproposed = Unproposed::not_asked;
  refusal.loser = TaskId{7};
  CHECK_THAT(text_of(refusal), Catch::EndsWith("core 1, where task 7 responds in 12ms against deadline 10ms"));
  refusal.loser_name = {"Plant/step"};
  refusal.jitter = 1ms;
  refusal.others = 604'600;
  CHECK_THAT(text_of(refusal),
             Catch::EndsWith("where Plant/step responds in 12ms (1ms of it release jitter) against deadline "
                             "10ms; other servers of this host hold 60.5 % of that core"));
  refusal.others_platform = 20'000;
  CHECK_THAT(text_of(refusal), Catch::EndsWith("hold 60.5 % of that core: tasks 58.5 %, platform load 2.0 %"));
  refusal.others = refusal.others_platform = 3;
  CHECK_THAT(text_of(refusal), Catch::EndsWith("hold 0.1 % of that core: tasks 0.0 %, platform load 0.1 %"));
  refusal.others = 0;
  refusal.tasks = 150'000, refusal.platform = 20'000;
  CHECK_THAT(text_of(refusal),
             Catch::EndsWith("10ms; this server holds of that core: tasks 15.0 %, platform load 2.0 %"));
  refusal.slowed = {.asked = 8ms, .analyzed = 12'345'678ns, .factor = 1'500'000};
  name_beside(refusal.slowed, "Plant/Controller.configure\none, a long name");
  CHECK_THAT(text_of(refusal),
             Catch::EndsWith("platform load 2.0 %; it is analyzed with a budget of 12350us in place of 8ms: "
                             "ller.configure?one, a long name on each other core of its cache slows it down by a "
                             "factor of 1.5, which is an estimate (dispatch.slowdowns)"));
  const std::string ascii = "cut-before-the-first-character";  // 30 of 31 bytes: there is room for half an e acute
  name_beside(refusal.slowed, "\xc3\xa9" + ascii);
  CHECK(refusal.slowed.beside.data() == ascii);
  name_beside(refusal.slowed, "short");
  CHECK(std::string(refusal.slowed.beside.data()) == "short");
  refusal.loser_slowed = {.asked = 4ms, .analyzed = 5ms, .factor = 1'250'000};
  name_beside(refusal.loser_slowed, "load");
  CHECK_THAT(
      text_of(refusal),
      Catch::Contains("; it is analyzed with a budget of 12350us in place of 8ms: short on ") &&
          Catch::EndsWith("; Plant/step is analyzed with a budget of 5ms in place of 4ms: load on each other core "
                          "of its cache slows it down by a factor of 1.25, which is an estimate "
                          "(dispatch.slowdowns)"));
  CHECK(error_of(refusal).minor == minor::not_schedulable);
  CHECK(name_of(RefusalCode::job_waiting) == "job_waiting");
}

// Cores that are closed to new tasks.

TEST_CASE("a new task goes past a closed core to one that is open") {
  Bench b(cores_of(2));
  b.manager.set_closed(CoreId{0}, true);
  CHECK(b.core_of(b.admitted(share_of_core(30))) == CoreId{1});
  CHECK(b.core_of(b.admitted(share_of_core(30))) == CoreId{1});
  b.manager.set_closed(CoreId{0}, false);
  CHECK(b.core_of(b.admitted(share_of_core(30))) == CoreId{0});
}

TEST_CASE("a new task that fits only on closed cores is told that another process's task would be late") {
  Bench b(cores_of(2));
  b.admitted(share_of_core(80));
  b.manager.set_closed(CoreId{1}, true);
  const Refusal refusal = b.refused(share_of_core(60));
  CHECK(refusal.code == RefusalCode::other_process_late);
  CHECK(refusal.closest == CoreId{1});
  CHECK(error_of(refusal).minor == minor::other_process_late);
  CHECK(text_of(refusal) == "another process's task would be late on core 1; use fewer processes or cores");
}

TEST_CASE("a new task that would not even fit on a closed core is told the true reason") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(80));
  b.manager.set_closed(CoreId{0}, true);
  const Refusal refusal = b.refused(share_of_core(60));
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.closest == CoreId{0});
}
