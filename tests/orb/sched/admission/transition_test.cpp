// Tests which tasks move, wait and leave: the Manager's answers over several facts.
#include "orb/sched/admission/transition.h"

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

TEST_CASE("a repacking moves other tasks at idle instants before the new task starts") {
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

TEST_CASE("a departed task is charged until its core was idle, and a new task waits for that") {
  Bench b(cores_of(1));
  const TaskId old = b.admitted(share_of_core(80));
  const auto dismiss = only<Dismiss>(b.tell(Departed{Time{}, old}));
  REQUIRE(dismiss.size() == 1);
  CHECK(b.manager.cores()[0].admitted == 800'000);
  const auto postponed = b.propose(share_of_core(50));
  REQUIRE(postponed.size() == 1);
  CHECK(only<Postpone>(postponed).at(0).startable_at == Time{80ms});
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

TEST_CASE("a new task whose peer is lost while it waits is forgotten") {
  Bench b(cores_of(1));
  const TaskId old = b.admitted(share_of_core(80));
  b.tell(Departed{Time{}, old});
  CHECK(only<Postpone>(b.propose(share_of_core(50), PeerId{4})).size() == 1);
  b.tell(PeerLost{Time{}, PeerId{4}});
  CHECK(only<Admit>(b.vacated(old, CoreId{0})).empty());
  CHECK(b.manager.tasks().empty());
}

TEST_CASE("the important tasks of a lost core are moved and the rest is evicted") {
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

// While a repacking is under way, a task leaves or a core is lost.

namespace {

// Two cores with 40 + 30 % and 40 %. A task of 60 % needs two moves. The first one has been requested.
struct Repacking {
  Bench b{cores_of(2)};
  TaskId first = b.admitted(share_of_core(40), PeerId{1});
  TaskId second = b.admitted(share_of_core(40), PeerId{2});
  TaskId third = b.admitted(share_of_core(30), PeerId{3});
  std::vector<Command> commands = b.propose(share_of_core(60), PeerId{9});
  Vacate vacate = only<Vacate>(commands).at(0);

  // Answers every Vacate and Dismiss until none is left. Returns all commands.
  std::vector<Command> finish(std::vector<Command> from) {
    std::vector<Command> all;
    while (!from.empty()) {
      all.insert(all.end(), from.begin(), from.end());
      std::vector<Command> next;
      for (const Vacate& v : only<Vacate>(from))
        for (const Command& c : b.vacated(v.task, v.core)) next.push_back(c);
      for (const Dismiss& d : only<Dismiss>(from))
        for (const Command& c : b.vacated(d.task, d.core)) next.push_back(c);
      from = next;
    }
    return all;
  }
  bool consistent() {
    for (const CoreView& core : b.manager.cores())
      if (core.admitted > core.capacity) return false;
    for (const TaskView& task : b.manager.tasks())
      if (task.state != TaskState::running || task.response > task.contract.deadline) return false;
    return true;
  }
};

}  // namespace

TEST_CASE("a postponed task is told by when it may start, and is admitted in the end") {
  Repacking r;
  const auto postponed = only<Postpone>(r.commands);
  REQUIRE(postponed.size() == 1);
  CHECK(postponed[0].startable_at > Time{});
  CHECK(postponed[0].startable_at < Time{400ms});
  const auto all = r.finish(r.commands);
  REQUIRE(only<Admit>(all).size() == 1);
  CHECK(only<Admit>(all)[0].startable_at == Time{});  // the facts of this test all happen at 0
  CHECK(only<Move>(all).size() == 2);
  CHECK(r.consistent());
}

TEST_CASE("a task that is being moved may leave, and the new task is admitted all the same") {
  Repacking r;
  const auto left = r.b.tell(Departed{Time{}, r.vacate.task});
  REQUIRE(only<Dismiss>(left).size() == 1);
  CHECK(only<Dismiss>(left)[0].core == r.vacate.core);
  const auto all = r.finish(left);
  CHECK(only<Admit>(all).size() == 1);
  CHECK_FALSE(r.b.manager.find(r.vacate.task));
  CHECK(r.consistent());
}

TEST_CASE("when the core of a moving task is lost it is at its new one at once") {
  Repacking r;
  const CoreId target = r.b.manager.find(r.vacate.task)->target;
  const auto commands = r.b.tell(CoreLost{Time{}, r.vacate.core});
  const auto refused = only<Refuse>(commands);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].reason.code == RefusalCode::reorganizing);
  const auto moves = only<Move>(commands);
  REQUIRE(std::any_of(moves.begin(), moves.end(), [&](const Move& m) { return m.task == r.vacate.task; }));
  CHECK(r.b.core_of(r.vacate.task) == target);
  r.finish(commands);
  CHECK(r.consistent());
}

TEST_CASE("when the core is lost to which a task moves it stays where it is") {
  Repacking r;
  const CoreId target = r.b.manager.find(r.vacate.task)->target;
  const auto commands = r.b.tell(CoreLost{Time{}, target});
  CHECK(only<Refuse>(commands).size() == 1);
  const auto answer = r.b.vacated(r.vacate.task, r.vacate.core);
  REQUIRE(only<Move>(answer).size() == 1);
  CHECK(only<Move>(answer)[0].from == r.vacate.core);
  CHECK(only<Move>(answer)[0].to == r.vacate.core);
  CHECK(r.consistent());
}

TEST_CASE("a new task that leaves before its start cancels the plan, and a task that is being moved arrives") {
  Repacking r;
  r.b.tell(PeerLost{Time{}, PeerId{9}});
  const auto all = r.finish({r.vacate});
  CHECK(only<Admit>(all).empty());
  CHECK(only<Move>(all).size() == 1);
  CHECK(r.b.manager.tasks().size() == 3);
  CHECK(r.consistent());
  r.b.admitted(share_of_core(1));
}

TEST_CASE("an idle report from another core or of a task that does not move changes nothing") {
  Repacking r;
  const CoreId elsewhere = r.b.manager.find(r.vacate.task)->target;
  CHECK(r.b.vacated(r.vacate.task, elsewhere).empty());
  for (const TaskId task : {r.first, r.second, r.third})
    if (task != r.vacate.task) CHECK(r.b.vacated(task, r.b.core_of(task)).empty());
  CHECK(only<Admit>(r.finish(r.commands)).size() == 1);
}

TEST_CASE("the least important tasks of a lost core leave and always the same ones") {
  const auto lose_one = [] {
    Bench b(cores_of(2));
    std::map<TaskId, int> importance;  // of the tasks on core 0
    for (int i = 0; i < 9; ++i) {
      const TaskId task = b.admitted(share_of_core(15, i * 7 % 9));
      if (b.core_of(task) == CoreId{0}) importance[task] = i * 7 % 9;
    }
    REQUIRE(importance.size() == 5);  // 75 % in all; the other core has room for two
    std::vector<int> stayed;
    std::vector<int> left;
    const auto commands = b.tell(CoreLost{Time{}, CoreId{0}});
    for (const Move& move : only<Move>(commands)) stayed.push_back(importance.at(move.task));
    for (const Evict& evict : only<Evict>(commands)) left.push_back(importance.at(evict.task));
    return std::pair(stayed, left);
  };
  const auto [stayed, left] = lose_one();
  REQUIRE(stayed.size() == 2);
  REQUIRE(left.size() == 3);
  CHECK(*std::min_element(stayed.begin(), stayed.end()) > *std::max_element(left.begin(), left.end()));
  CHECK(lose_one() == std::pair(stayed, left));
}

TEST_CASE("when the last core is lost all tasks leave") {
  Bench b(cores_of(1));
  b.admitted(share_of_core(20));
  b.admitted(share_of_core(20));
  CHECK(only<Evict>(b.tell(CoreLost{Time{}, CoreId{0}})).size() == 2);
  CHECK(b.manager.tasks().empty());
  CHECK(b.tell(CoreLost{Time{}, CoreId{0}}).empty());
  CHECK(b.refused(share_of_core(1)).code == RefusalCode::no_core);
}

// Invariants under any sequence of facts.

namespace {

// Carries out no command. Answers Vacate and Dismiss some time later, and checks each command against what came before.
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
