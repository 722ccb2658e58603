// Tests EntryCounter and UpcallGuard, which record the threads inside an object: in the thread's own slots, or in a
// count.
#include "orb/core/objects/entry_counter.h"

#include <atomic>
#include <iostream>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "orb/core/objects/entry_slots.h"
#include "orb/core/objects/object_dispatch.h"
#include "tests/support/probe_servant.h"

using namespace corelane::testing;

namespace entry_counter_test {

using corelane::core::ActiveObject;
using corelane::core::EntryCounter;
using corelane::core::EntrySlots;
using corelane::core::Passage;
using corelane::core::PoaManagerState;
using corelane::core::UpcallGuard;

struct Alive {
  ~Alive() { dead.store(true); }
  std::atomic<bool> dead{false};
};

// An object behind an open POA manager, without an adapter.
struct Site {
  std::shared_ptr<PoaManagerState> manager_state = [] {
    auto made = std::make_shared<PoaManagerState>([](corelane::dispatch::JobPtr) {}, 1);
    made->change(Passage::active);
    return made;
  }();
  std::shared_ptr<Alive> servant = std::make_shared<Alive>();
  std::weak_ptr<Alive> watched = servant;
  std::shared_ptr<ActiveObject> object = std::make_shared<ActiveObject>(
      manager_state, std::move(servant), POA_Probing::detail::skeleton, nullptr, corelane::core::OperationContracts{});
};

// Makes `depth` nested upcalls of the object. Runs `inside` in the innermost one, and `leaving` after the end of each
// upcall but the outermost.
template <typename Inside, typename Leaving>
void nest(ActiveObject& object, int depth, Inside inside, Leaving leaving) {
  const UpcallGuard guard(object);
  REQUIRE(static_cast<bool>(guard));
  if (depth == 1) return inside();
  nest(object, depth - 1, inside, leaving);
  leaving();
}

// Returns the number of upcalls that the slots of a thread hold, and numbers just below and above.
int depths() { return GENERATE(1, 2, 3, 4, 5); }

TEST_CASE("an entry counter counts the threads that entered and tells those that leave that its rule has changed") {
  EntryCounter entry_counter{Passage::active};
  CHECK(entry_counter.enter() == Passage::active);
  CHECK(entry_counter.enter() == Passage::active);
  CHECK_FALSE(entry_counter.leave());
  const EntryCounter::Change change = entry_counter.set(Passage::inactive);
  CHECK(change.before == Passage::active);
  CHECK_FALSE(change.empty);
  CHECK(entry_counter.enter() == Passage::inactive);
  CHECK_FALSE(entry_counter.empty());
  CHECK(entry_counter.leave());
  CHECK(entry_counter.empty());
}

// Returns whether threads have slots on this system.
bool has_slots() {
  const bool found = EntrySlots::mine() != nullptr;
  if (!found) std::cout << "SKIPPED: the system has no membarrier, so threads have no slots\n";
  return found;
}

TEST_CASE("an entry by the slots of a thread is seen until the thread leaves, and refused after a change of the rule") {
  if (!has_slots()) return;
  EntryCounter entry_counter{Passage::active};
  REQUIRE(entry_counter.enter_by_slots());
  CHECK_FALSE(entry_counter.set(Passage::inactive).empty);
  CHECK_FALSE(entry_counter.enter_by_slots());
  CHECK_FALSE(entry_counter.empty());
  entry_counter.leave_by_slots();
  CHECK(entry_counter.empty());
}

TEST_CASE("an entry that moves from the slots to the count is seen until any thread leaves") {
  if (!has_slots()) return;
  EntryCounter entry_counter{Passage::active};
  REQUIRE(entry_counter.enter_by_slots());
  CHECK_FALSE(entry_counter.set(Passage::inactive).empty);
  entry_counter.add();
  CHECK_FALSE(entry_counter.empty());
  entry_counter.leave_by_slots();
  CHECK_FALSE(entry_counter.empty());
  std::thread([&] { CHECK(entry_counter.leave()); }).join();
  CHECK(entry_counter.empty());
}

TEST_CASE("a thread whose slots are full enters no further entry counter by them") {
  if (!has_slots()) return;
  std::vector<std::unique_ptr<EntryCounter>> entered;
  for (std::size_t i = 0; i < EntrySlots::depth; ++i) {
    entered.push_back(std::make_unique<EntryCounter>(Passage::active));
    REQUIRE(entered.back()->enter_by_slots());
  }
  EntryCounter next{Passage::active};
  CHECK_FALSE(next.enter_by_slots());
  CHECK(next.empty());
  for (; !entered.empty(); entered.pop_back()) {
    CHECK_FALSE(entered.back()->empty());
    entered.back()->leave_by_slots();
    CHECK(entered.back()->empty());
  }
}

TEST_CASE("the thread that deactivates an object sees each upcall, however deeply they are nested") {
  Site site;
  const int depth = depths();
  nest(
      *site.object, depth,
      [&] {
        site.object->deactivate();
        CHECK_FALSE(site.watched.expired());
        const UpcallGuard late(*site.object);
        CHECK_FALSE(static_cast<bool>(late));
        CHECK(late.error().kind == corelane::ErrorKind::object_not_exist);
        CHECK_FALSE(site.watched.expired());
      },
      [&] { CHECK_FALSE(site.watched.expired()); });
  CHECK(site.watched.expired());  // it ended with the outermost upcall
}

TEST_CASE("objects deactivated together free their servants, those with a visitor when it leaves") {
  Site first, second, third;
  std::vector<std::shared_ptr<ActiveObject>> all{first.object, second.object, third.object};
  second.object->deactivate();  // stands for what another thread may do meanwhile
  nest(
      *third.object, depths(),
      [&] {
        ActiveObject::deactivate_all(all);
        CHECK(first.watched.expired());
        CHECK(second.watched.expired());
        CHECK_FALSE(third.watched.expired());
      },
      [&] { CHECK_FALSE(third.watched.expired()); });
  CHECK(third.watched.expired());
  ActiveObject::deactivate_all({});
}

TEST_CASE("a POA manager is empty when every upcall behind it has ended") {
  Site site;
  nest(
      *site.object, depths(),
      [&] {
        site.manager_state->change(Passage::holding);
        CHECK_FALSE(site.manager_state->entry_counter().empty());
        const UpcallGuard late(*site.object);
        CHECK(late.holding());
      },
      [&] { CHECK_FALSE(site.manager_state->entry_counter().empty()); });
  CHECK(site.manager_state->entry_counter().empty());
  CHECK_FALSE(site.watched.expired());
}

TEST_CASE("a wait for the upcalls of another thread ends with the last of them") {
  Site site;
  const int depth = depths();
  std::atomic<bool> inside{false}, may_leave{false}, left{false};
  std::thread visitor([&] {
    nest(
        *site.object, depth,
        [&] {
          inside.store(true);
          inside.notify_all();
          may_leave.wait(false);
        },
        [] {});
    left.store(true);
  });
  inside.wait(false);
  site.manager_state->change(Passage::discarding);
  CHECK_FALSE(site.manager_state->entry_counter().empty());
  std::thread waiter([&] { site.manager_state->entry_counter().wait_until_empty(); });
  may_leave.store(true);
  may_leave.notify_all();
  waiter.join();
  CHECK(site.manager_state->entry_counter().empty());
  visitor.join();
  CHECK(left.load());
}

TEST_CASE("a wait until a POA manager is empty ends when the POA manager opens again") {
  Site site;
  const UpcallGuard inside(*site.object);
  site.manager_state->change(Passage::holding);
  std::thread waiter([&] { site.manager_state->entry_counter().wait_until_empty(); });
  site.manager_state->change(Passage::active);
  waiter.join();
  CHECK(static_cast<bool>(inside));
}

TEST_CASE("a thread that has ended leaves its slots to others, and its upcalls with it") {
  Site site;
  for (std::size_t i = 0; i < 2 * EntrySlots::threads; ++i)
    std::thread([&] { CHECK(static_cast<bool>(UpcallGuard(*site.object))); }).join();
  site.object->deactivate();
  CHECK(site.watched.expired());
}

TEST_CASE("more threads than there are slots are inside together, and each is seen") {
  Site site;
  std::atomic<std::size_t> inside{0};
  std::atomic<bool> may_leave{false};
  std::vector<std::thread> visitors;
  constexpr std::size_t count = EntrySlots::threads + 8;
  for (std::size_t i = 0; i < count; ++i)
    visitors.emplace_back([&] {
      const UpcallGuard guard(*site.object);
      ++inside;
      inside.notify_all();
      may_leave.wait(false);
    });
  for (std::size_t now = 0; (now = inside.load()) < count;) inside.wait(now);
  site.object->deactivate();
  CHECK_FALSE(site.watched.expired());
  may_leave.store(true);
  may_leave.notify_all();
  for (std::thread& visitor : visitors) visitor.join();
  CHECK(site.watched.expired());
}

TEST_CASE("no visitor meets a servant that was given free") {
  std::atomic<bool> ends{false};
  std::atomic<std::size_t> met_dead{0}, guards{0};
  std::mutex mutex;
  std::shared_ptr<ActiveObject> current;  // guarded by mutex
  const auto replace = [&](std::shared_ptr<ActiveObject> next) {
    const std::lock_guard lock(mutex);
    return std::exchange(current, std::move(next));
  };
  const auto copy = [&] {
    const std::lock_guard lock(mutex);
    return current;
  };
  const auto fresh = [] {
    Site site;
    site.servant.reset();
    return site;
  };
  std::vector<std::weak_ptr<Alive>> all;
  Site first = fresh();
  replace(first.object);
  std::vector<std::jthread> visitors;
  for (int i = 0; i < 3; ++i)
    visitors.emplace_back([&] {
      while (!ends.load()) {
        const std::shared_ptr<ActiveObject> object = copy();
        const UpcallGuard guard(*object);
        if (!guard) continue;
        ++guards;
        const auto servant = std::static_pointer_cast<Alive>(object->servant());
        if (!servant || servant->dead.load()) ++met_dead;
      }
    });
  constexpr std::size_t rounds = 300;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t before = guards.load();
    Site next = fresh();
    all.push_back(next.watched);
    replace(next.object)->deactivate();
    while (guards.load() == before) std::this_thread::yield();  // bound: the visitors continue until the end
  }
  ends.store(true);
  visitors.clear();
  copy()->deactivate();
  CHECK(met_dead.load() == 0);
  for (const auto& watched : all) CHECK(watched.expired());
}

}  // namespace entry_counter_test
