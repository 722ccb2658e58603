// Tests call-backs within a process: while a task waits for a call, the callee can call that task.
#include <future>
#include <latch>
#include <set>
#include <thread>

#include "orb/base/minor.h"
#include "orb/core/client/client_call.h"
#include "orb/rt/rt.h"
#include "tests/support/modes.h"
#include "tests/support/probe_servant.h"

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

// A servant whose add(n, ...) calls add(n - 1, ...) of the next player.
class Player final : public ProbeServant {
 public:
  std::int32_t add(std::int32_t depth, std::int32_t last) override {
    threads.insert(std::this_thread::get_id());
    if (depth == 0 && last < 0) throw Probing::Undeclared();
    if (depth > 0 && begun != nullptr) begun->arrive_and_wait();
    return depth == 0 ? last : next->add(depth - 1, last) + 1;
  }
  CORBA::object_reference<Probing::Probe> next;
  std::latch* begun = nullptr;
  std::set<std::thread::id> threads;  // only one thread of a chain runs at a time
};

// A game of two players, each with a task for add().
struct Game {
  CORBA::object_reference<Probing::Probe> join(const CORBA::servant_reference<Player>& player) {
    return IDL::traits<Probing::Probe>::narrow(server.orb.root()->servant_to_reference(player));
  }
  rt::Task admit(const CORBA::object_reference<Probing::Probe>& player) {
    Contract contract = make_contract(10ms, 1ms);
    contract.suspension = 5ms;
    auto task = rt::admit(player, {.operation = "add", .contract = contract});
    REQUIRE(task);
    return std::move(*task);
  }
  ~Game() { first->next = second->next = nullptr; }

  ProbeServer server{in_each_mode({"-ORBDispatchAdmission", "off"})};
  CORBA::servant_reference<Player> first = CORBA::make_reference<Player>(), second = CORBA::make_reference<Player>();
  CORBA::object_reference<Probing::Probe> to_first = join(first), to_second = join(second);
  rt::Task first_task = admit(to_first), second_task = admit(to_second);
};

}  // namespace

TEST_CASE("a task that calls itself goes on in its own job") {
  Game game;
  game.first->next = game.to_first;
  CHECK(game.to_first->add(3, 10) == 13);
  CHECK(game.first->threads.size() == 1);
}

TEST_CASE("tasks that call each other back run on their own threads, however deep") {
  Game game;
  game.first->next = game.to_second;
  game.second->next = game.to_first;
  for (const int depth : {1, 2, 3, 8}) CHECK(game.to_first->add(depth, 10) == 10 + depth);
  CHECK(game.first->threads.size() == 1);
  CHECK(game.second->threads.size() == 1);
  CHECK(*game.first->threads.begin() != *game.second->threads.begin());
  CHECK(game.first->threads.count(std::this_thread::get_id()) == 0);
}

TEST_CASE("an exception of a call back reaches its caller, and the tasks go on") {
  Game game;
  game.first->next = game.to_second;
  game.second->next = game.to_first;
  for (const int depth : {1, 2, 5}) CHECK_THROWS_AS(game.to_first->add(depth, -1), CORBA::UNKNOWN);
  CHECK(game.to_first->add(2, 10) == 12);
}

TEST_CASE("when two tasks call each other in different chains, one is told that both would wait for ever") {
  Game game;
  std::latch both_run(2);
  game.first->begun = game.second->begun = &both_run;
  game.first->next = game.to_second;
  game.second->next = game.to_first;
  const auto outcome_of = [](const CORBA::object_reference<Probing::Probe>& player) {
    try {
      return player->add(1, 10);
    } catch (const CORBA::TRANSIENT& told) {
      CHECK(told.minor() == minor::tasks_in_circle);
      CHECK_THAT(std::string(told.what()), Catch::Contains("neither would continue"));
      return -1;
    }
  };
  auto other = std::async(std::launch::async, outcome_of, game.to_first);
  const std::int32_t mine = outcome_of(game.to_second), theirs = other.get();
  CHECK(std::min(mine, theirs) == -1);
  CHECK(std::max(mine, theirs) == 11);
  game.first->begun = game.second->begun = nullptr;
  CHECK(game.to_first->add(3, 10) == 13);
}

TEST_CASE("a call of a job that times out names the task and how many of its calls waited meanwhile") {
  const std::string text = core::text_of_deadlocked_wait(TaskId{7}, 2);
  for (const char* part : {"timeout.request", "job of task 7", "meanwhile, 2", "make one of the calls"})
    CHECK_THAT(text, Catch::Contains(part));
}
