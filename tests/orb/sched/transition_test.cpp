// Who moves, who waits and who leaves: the Manager's answers over several facts.
#include "orb/sched/transition.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <vector>

#include "tests/orb/sched/manager_fixture.h"

using namespace corelane;
using namespace corelane::sched;
using namespace corelane::sched::testing;
using namespace std::chrono_literals;

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
