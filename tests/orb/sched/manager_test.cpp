#include "orb/sched/manager.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "orb/base/minor.h"

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

ManagerOptions cores_of(int count) {
  ManagerOptions options;
  for (int i = 0; i < count; ++i) options.cores.push_back({.id = CoreId{static_cast<std::int16_t>(i)}});
  return options;
}

// T = 100 ms, D = T, C = percent ms: harmonic, so that a core fills up to its capacity.
Contract share_of_core(int percent, int importance = 0) {
  return {
      .period = 100ms, .deadline = 100ms, .budget = percent * 1ms, .importance = static_cast<std::int16_t>(importance)};
}

template <typename T>
std::vector<T> only(const std::vector<Command>& commands) {
  std::vector<T> found;
  for (const Command& command : commands)
    if (const T* match = std::get_if<T>(&command)) found.push_back(*match);
  return found;
}

class Bench {
 public:
  explicit Bench(const ManagerOptions& options) : manager(options) {}

  std::vector<Command> tell(const Fact& fact) {
    const auto commands = manager.decide(fact);
    return {commands.begin(), commands.end()};
  }
  std::vector<Command> propose(const Contract& contract, PeerId peer = {}) {
    return tell(Proposed{Time{}, JobId{++request_}, peer, contract});
  }
  TaskId admitted(const Contract& contract, PeerId peer = {}) {
    const auto admits = only<Admit>(propose(contract, peer));
    REQUIRE(admits.size() == 1);
    return admits[0].task;
  }
  Refusal refused(const Contract& contract, PeerId peer = {}) {
    const auto refusals = only<Refuse>(propose(contract, peer));
    REQUIRE(refusals.size() == 1);
    return refusals[0].reason;
  }
  std::vector<Command> vacated(TaskId task, CoreId core) { return tell(Vacated{Time{}, task, core}); }
  CoreId core_of(TaskId task) const { return manager.find(task)->core; }

  Manager manager;

 private:
  std::uint64_t request_ = 0;
};

}  // namespace

TEST_CASE("newcomers go to the core with most room") {
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
  REQUIRE(only<Place>(first).size() == 1);
  CHECK(only<Place>(first)[0].job == JobId{5});
  CHECK(only<Admit>(first)[0].response == 10ms);
  const TaskId task = only<Admit>(first)[0].task;
  const auto later = only<Place>(b.tell(Arrived{Time{}, JobId{6}, task, PeerId{1}, std::nullopt}));
  REQUIRE(later.size() == 1);
  CHECK(later[0].core == CoreId{0});
}

TEST_CASE("a request without task and contract is best effort") {
  Bench b(cores_of(1));
  const auto places = only<Place>(b.tell(Arrived{Time{}, JobId{5}, no_task, PeerId{1}, std::nullopt}));
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
  // Below either resident: 30 + 10 on core 0, 25 + 10 on core 1, against 32.
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

TEST_CASE("a repacking moves others at idle instants before the newcomer starts") {
  Bench b(cores_of(2));
  const TaskId a = b.admitted(share_of_core(40));
  const TaskId c = b.admitted(share_of_core(40));
  const TaskId d = b.admitted(share_of_core(30));
  REQUIRE(b.core_of(a) == CoreId{0});
  REQUIRE(b.core_of(c) == CoreId{1});
  REQUIRE(b.core_of(d) == CoreId{0});

  auto commands = b.propose(share_of_core(60));
  CHECK(only<Admit>(commands).empty());
  std::size_t moves = 0;
  std::vector<Admit> admits;
  for (int step = 0; step < 10 && admits.empty(); ++step) {
    const auto vacates = only<Vacate>(commands);
    REQUIRE_FALSE(vacates.empty());
    for (const Vacate& vacate : vacates) {
      commands = b.vacated(vacate.task, vacate.core);
      moves += only<Move>(commands).size();
    }
    admits = only<Admit>(commands);
  }
  REQUIRE(admits.size() == 1);
  CHECK(moves == 2);
  for (const CoreView& core : b.manager.cores()) CHECK(core.admitted <= 950'000);
}

TEST_CASE("while tasks are being moved others are told to ask again") {
  Bench b(cores_of(2));
  b.admitted(share_of_core(40));
  b.admitted(share_of_core(40));
  b.admitted(share_of_core(30));
  CHECK(only<Refuse>(b.propose(share_of_core(60))).empty());
  const Refusal refusal = b.refused(share_of_core(50));
  CHECK(refusal.code == RefusalCode::reorganizing);
  CHECK(error_of(refusal).kind == ErrorKind::transient);
}

TEST_CASE("repacking can be switched off") {
  ManagerOptions options = cores_of(2);
  options.repack = false;
  Bench b(options);
  b.admitted(share_of_core(40));
  b.admitted(share_of_core(40));
  b.admitted(share_of_core(30));
  CHECK(b.refused(share_of_core(60)).code == RefusalCode::not_schedulable);
}

TEST_CASE("a departed task is charged until its core was idle and a newcomer waits for that") {
  Bench b(cores_of(1));
  const TaskId old = b.admitted(share_of_core(80));
  const auto dismiss = only<Dismiss>(b.tell(Departed{Time{}, old}));
  REQUIRE(dismiss.size() == 1);
  CHECK(b.manager.cores()[0].admitted == 800'000);
  CHECK(b.propose(share_of_core(50)).empty());
  const auto answer = b.vacated(old, CoreId{0});
  REQUIRE(only<Admit>(answer).size() == 1);
  CHECK_FALSE(b.manager.find(old));
  CHECK(b.manager.cores()[0].admitted == 500'000);
}

TEST_CASE("the tasks of a lost peer leave and those of others stay") {
  Bench b(cores_of(1));
  const TaskId theirs = b.admitted(share_of_core(10), PeerId{1});
  const TaskId ours = b.admitted(share_of_core(10), PeerId{2});
  const auto dismissed = only<Dismiss>(b.tell(PeerLost{Time{}, PeerId{1}}));
  REQUIRE(dismissed.size() == 1);
  CHECK(dismissed[0].task == theirs);
  CHECK(b.manager.find(ours)->state == TaskState::running);
}

TEST_CASE("a newcomer whose peer is lost while it waits is forgotten") {
  Bench b(cores_of(1));
  const TaskId old = b.admitted(share_of_core(80));
  b.tell(Departed{Time{}, old});
  CHECK(b.propose(share_of_core(50), PeerId{4}).empty());
  b.tell(PeerLost{Time{}, PeerId{4}});
  CHECK(only<Admit>(b.vacated(old, CoreId{0})).empty());
  CHECK(b.manager.tasks().empty());
}

TEST_CASE("of a lost core the important tasks are moved and the rest is evicted") {
  Bench b(cores_of(2));
  const TaskId small = b.admitted(share_of_core(30, 0));
  b.admitted(share_of_core(50, 0));
  const TaskId important = b.admitted(share_of_core(40, 5));
  REQUIRE(b.core_of(small) == b.core_of(important));
  const CoreId lost = b.core_of(small);
  const auto commands = b.tell(CoreLost{Time{}, lost});
  REQUIRE(only<Move>(commands).size() == 1);
  CHECK(only<Move>(commands)[0].task == important);
  REQUIRE(only<Evict>(commands).size() == 1);
  CHECK(only<Evict>(commands)[0].task == small);
  CHECK(b.core_of(important) != lost);
  CHECK_FALSE(b.manager.find(small));
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
  // Whoever shares a level responds as if the other ran first.
  for (const TaskId task : tasks) {
    const TaskView view = *b.manager.find(task);
    int at_or_above = 0;
    for (const TaskId other : tasks) at_or_above += b.manager.find(other)->priority >= view.priority;
    CHECK(view.response == at_or_above * 1ms);
  }
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
  tighter.period = nearest.period - 1ns;
  tighter.deadline = Duration{wish.deadline.count() * tighter.period.count() / wish.period.count()};
  b.refused(tighter);
  b.admitted({.period = nearest.period, .deadline = nearest.deadline, .budget = nearest.budget});
}

TEST_CASE("on a full core nothing is near") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(95));
  CHECK_FALSE(b.manager.nearest(share_of_core(10)).found());
}

TEST_CASE("without admission everybody runs on the least-loaded core") {
  ManagerOptions options = cores_of(2);
  options.test = AdmissionTest::none;
  Bench b(options);
  for (int i = 0; i < 6; ++i) b.admitted(share_of_core(60));
  CHECK(b.manager.cores()[0].admitted == 1'800'000);
  CHECK(b.manager.cores()[1].admitted == 1'800'000);
}

TEST_CASE("the hyperbolic test admits the published set and nothing more") {
  ManagerOptions options = cores_of(1);
  options.test = AdmissionTest::hyperbolic;
  Bench b(options);
  for (const auto& [budget, period] : {std::pair{1ms, 3ms}, {1ms, 4ms}, {2ms, 10ms}})
    b.admitted({.period = period, .deadline = period, .budget = budget});
}

TEST_CASE("a smaller capacity limits newcomers and evicts nobody") {
  Bench b(cores_of(1));
  const TaskId task = b.admitted(share_of_core(60));
  b.manager.set_capacity(CoreId{0}, 500'000);
  b.refused(share_of_core(1));
  CHECK(b.manager.find(task)->state == TaskState::running);
  b.manager.set_capacity(CoreId{0}, 700'000);
  b.admitted(share_of_core(10));
}

TEST_CASE("what other processes run counts as interference") {
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
  for (const CoreView& core : b.manager.cores()) CHECK(core.admitted == 900'000);
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

TEST_CASE("a refusal reads as a sentence with its numbers") {
  Refusal refusal{.code = RefusalCode::not_schedulable, .closest = CoreId{1}, .response = 12ms, .deadline = 10ms};
  refusal.nearest = {20ms, 20ms, 3ms};
  CHECK(text_of(refusal) ==
        "a deadline would be missed on every core; closest is core 1, response 12ms against deadline 10ms; would fit: "
        "period 20ms, deadline 20ms, budget 3ms");
  CHECK(error_of(refusal).minor == minor::not_schedulable);
  CHECK(name_of(RefusalCode::job_waiting) == "job_waiting");
}

// Invariants under any sequence of facts.

namespace {

// Carries out nothing but answers Vacate and Dismiss some time later, and checks each command against what came before.
class Chaos {
 public:
  Chaos(int cores, std::uint64_t seed) : b_(options(cores)), cores_(cores), random_(seed) {}

  void step() {
    switch (random_() % 10) {
      case 0:
      case 1:
      case 2:
      case 3:
        check(b_.propose(contract(), PeerId{1 + random_() % 3}));
        break;
      case 4:
        if (const auto task = any_task()) check(b_.tell(Departed{Time{}, *task}));
        break;
      case 5:
        if (random_() % 8 == 0) check(b_.tell(PeerLost{Time{}, PeerId{1 + random_() % 3}}));
        break;
      case 6:
        if (cores_ > 1 && random_() % 64 == 0) lose_core();
        break;
      default:
        answer_one();
    }
    invariants();
  }
  void settle() {
    while (!owed_.empty()) answer_one(), invariants();
  }
  void clear() {
    for (std::uint64_t peer = 1; peer <= 3; ++peer) check(b_.tell(PeerLost{Time{}, PeerId{peer}}));
    settle();
    CHECK(b_.manager.tasks().empty());
    for (const CoreView& core : b_.manager.cores()) CHECK(core.admitted == 0);
    CHECK(owed_.empty());
  }
  int admitted = 0;
  int moved = 0;

 private:
  static ManagerOptions options(int cores) {
    ManagerOptions result = cores_of(cores);
    result.max_tasks = 40;
    result.levels = 6;
    return result;
  }
  Contract contract() {
    const auto period = Duration{1'000'000 * static_cast<std::int64_t>(10 + random_() % 90)};
    const auto deadline = period / static_cast<std::int64_t>(1 + random_() % 2);
    const auto budget = std::max(Duration{1}, deadline * static_cast<std::int64_t>(1 + random_() % 60) / 100);
    return {.period = period, .deadline = deadline, .budget = budget, .jitter = deadline / 20};
  }
  std::optional<TaskId> any_task() {
    const auto tasks = b_.manager.tasks();
    if (tasks.empty()) return std::nullopt;
    return tasks[random_() % tasks.size()].id;
  }
  void lose_core() {
    --cores_;
    check(b_.tell(CoreLost{Time{}, CoreId{static_cast<std::int16_t>(cores_)}}));
    std::erase_if(owed_, [&](const auto& owed) { return owed.second == CoreId{static_cast<std::int16_t>(cores_)}; });
  }
  void answer_one() {
    if (owed_.empty()) return;
    const auto owed = owed_.begin() + static_cast<std::ptrdiff_t>(random_() % owed_.size());
    const auto [task, core] = *owed;
    owed_.erase(owed);
    check(b_.vacated(task, core));
  }
  void check(const std::vector<Command>& commands) {
    for (const Command& command : commands) {
      if (const auto* vacate = std::get_if<Vacate>(&command)) owe(vacate->task, vacate->core);
      if (const auto* dismiss = std::get_if<Dismiss>(&command)) owe(dismiss->task, dismiss->core);
      if (const auto* admit = std::get_if<Admit>(&command)) {
        REQUIRE(on_.emplace(admit->task, admit->core).second);
        ++admitted;
      }
      if (const auto* move = std::get_if<Move>(&command)) {
        REQUIRE(on_.at(move->task) == move->from);
        on_[move->task] = move->to;
        ++moved;
      }
      if (const auto* refuse = std::get_if<Refuse>(&command)) REQUIRE(refuse->job.value != 0);
    }
  }
  void owe(TaskId task, CoreId core) {
    const std::pair<TaskId, CoreId> debt{task, core};
    if (std::find(owed_.begin(), owed_.end(), debt) == owed_.end()) owed_.push_back(debt);
  }
  void invariants() {
    for (const CoreView& core : b_.manager.cores()) REQUIRE(core.admitted <= core.capacity);
    for (const TaskView& task : b_.manager.tasks()) {
      if (task.state == TaskState::pending) continue;
      REQUIRE(task.response > Duration::zero());
      REQUIRE(task.response <= task.contract.deadline);
      REQUIRE(on_.at(task.id) == task.core);
    }
  }

  Bench b_;
  int cores_;
  std::mt19937_64 random_;
  std::map<TaskId, CoreId> on_;
  std::vector<std::pair<TaskId, CoreId>> owed_;
};

}  // namespace

TEST_CASE("under random facts every core holds its deadlines and everything is given back") {
  const int cores = GENERATE(1, 2, 3, 8);
  int moved = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Chaos chaos(cores, seed);
    for (int i = 0; i < 400; ++i) chaos.step();
    chaos.clear();
    CHECK(chaos.admitted > 20);
    moved += chaos.moved;
  }
  if (cores > 1) CHECK(moved > 0);
}

// Cores that are closed to a newcomer.

TEST_CASE("a newcomer goes past a closed core to one that is open") {
  Bench b(cores_of(2));
  b.manager.set_closed(CoreId{0}, true);
  CHECK(b.core_of(b.admitted(share_of_core(30))) == CoreId{1});
  CHECK(b.core_of(b.admitted(share_of_core(30))) == CoreId{1});
  b.manager.set_closed(CoreId{0}, false);
  CHECK(b.core_of(b.admitted(share_of_core(30))) == CoreId{0});
}

TEST_CASE("a newcomer that would fit only on closed cores learns that a neighbour would be late") {
  Bench b(cores_of(2));
  b.admitted(share_of_core(80));
  b.manager.set_closed(CoreId{1}, true);
  const Refusal refusal = b.refused(share_of_core(60));
  CHECK(refusal.code == RefusalCode::neighbour_late);
  CHECK(refusal.closest == CoreId{1});
  CHECK(error_of(refusal).minor == minor::neighbour_late);
  CHECK(text_of(refusal) == "another process's task would be late on core 1");
}

TEST_CASE("a newcomer that would not even fit on a closed core learns its true reason") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(80));
  b.manager.set_closed(CoreId{0}, true);
  const Refusal refusal = b.refused(share_of_core(60));
  CHECK(refusal.code == RefusalCode::not_schedulable);
  CHECK(refusal.closest == CoreId{0});
}
