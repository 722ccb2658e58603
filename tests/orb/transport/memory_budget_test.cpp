#include "orb/transport/memory_budget.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <iostream>
#include <thread>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "tests/orb/transport/budgeted_clients.h"

using namespace corelane;
using namespace corelane::testing;
using namespace corelane::transport;
using namespace std::chrono_literals;

TEST_CASE("the part of a peer is a quarter and one whole message at least") {
  CHECK(MemoryBudget::bounds_of(400, 50, any_patience).of_peer == 100);
  CHECK(MemoryBudget::bounds_of(400, 150, any_patience).of_peer == 150);
  CHECK(MemoryBudget::bounds_of(400, 500, any_patience).of_peer == 500);
}

TEST_CASE("the first bytes of each connection count nowhere") {
  BudgetedClients budgeted(4 * mib, mib, in_an_hour);
  const auto one = budgeted.comes(1), other = budgeted.comes(1);
  REQUIRE(one->half(64 * kib));
  other->account->add_request(64 * kib);
  CHECK(budgeted.budget->used() == 0);
  other->account->add_request(1);
  CHECK(budgeted.budget->used() == 1);
  one->account->add_request(10);
  CHECK(budgeted.budget->used() == 11);
  other->account->remove_request(1);
  one->account->remove_request(10);
  CHECK(budgeted.budget->used() == 0);
}

TEST_CASE("a peer's memory is one sum of its requests, its half messages and the data that waits for it") {
  BudgetedClients budgeted(40 * mib, mib, in_an_hour);
  const auto one = budgeted.comes(1), other = budgeted.comes(1);
  one->account->add_request(2 * mib);
  REQUIRE(one->half(3 * mib));
  other->account->hold_backlog(4 * mib, false);
  CHECK(budgeted.budget->used() == 9 * mib - 64 * kib);
  one->account->remove_request(2 * mib);
  CHECK(budgeted.budget->used() == 7 * mib - 64 * kib);
  other->account->hold_backlog(0, true);
  REQUIRE(one->half(0));
  CHECK(budgeted.budget->used() == 0);
}

TEST_CASE("a half that becomes a request is counted once, and leaves no room in between") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto one = budgeted.comes(1), waits = budgeted.comes(1);
  REQUIRE(one->half(10 * mib));
  REQUIRE(waits->half(4 * mib));
  REQUIRE_FALSE(waits->may_read());
  one->account->begin_run();
  one->account->turn_into_request(10 * mib - 10);
  CHECK(waits->told <= 1);
  CHECK_FALSE(waits->may_read());
  CHECK(budgeted.budget->used() == 14 * mib - 10 - 2 * 64 * kib);
  REQUIRE(one->half(0));
  CHECK(budgeted.budget->used() == 14 * mib - 10 - 2 * 64 * kib);
  one->account->remove_request(10 * mib - 10);
  CHECK(budgeted.budget->used() == 4 * mib - 64 * kib);
  CHECK(waits->may_read());
}

TEST_CASE("a peer beyond its share is read no further until a request of it has ended, and others are") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto one = budgeted.comes(1), small = budgeted.comes(1), other = budgeted.comes(2);
  one->account->add_request(11 * mib);
  one->account->begin_run();
  CHECK_FALSE(one->may_read());
  CHECK(small->may_read());
  CHECK(other->may_read());
  CHECK(one->told == 0);
  one->account->end_run();
  one->account->remove_request(11 * mib);
  CHECK(one->told == 1);
  CHECK(one->may_read());
  CHECK(budgeted.budget->used() == 0);
}

TEST_CASE("a connection that holds little of its peer's share goes on beside one that holds most of it") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto hog = budgeted.comes(1), good = budgeted.comes(1);
  hog->account->add_request(11 * mib);
  hog->account->begin_run();
  good->account->add_request(64 * kib);
  REQUIRE(good->half(256 * kib));
  CHECK(good->may_read());
  CHECK_FALSE(hog->may_read());
}

TEST_CASE("while all requests of a peer wait for calls of their own it is read, for one message more") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto one = budgeted.comes(1);
  one->account->add_request(11 * mib);
  one->account->begin_run();
  REQUIRE_FALSE(one->may_read());
  one->account->begin_wait();
  CHECK(one->told == 1);
  CHECK(one->may_read());
  one->account->add_request(10 * mib);
  CHECK_FALSE(one->may_read());
  one->account->remove_request(10 * mib);
  one->account->end_wait();
  CHECK_FALSE(one->may_read());
}

TEST_CASE("where a peer's halves fill its share the longest goes on, and the others when it is whole") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto first = budgeted.comes(1), second = budgeted.comes(1), third = budgeted.comes(1);
  REQUIRE(first->half(4 * mib));
  REQUIRE(second->half(5 * mib));
  REQUIRE(third->half(4 * mib));
  CHECK_FALSE(first->may_read());
  CHECK(second->may_read());
  CHECK_FALSE(third->may_read());
  REQUIRE(second->half(10 * mib));
  CHECK(second->may_read());
  REQUIRE(second->half(0));
  CHECK(first->told == 1);
  CHECK(third->told == 1);
  CHECK(first->may_read());
  CHECK(first->gave_up.empty());
}

TEST_CASE("a half of which no more comes ends where others of its peer wait, and no other half") {
  BudgetedClients budgeted(40 * mib, 10 * mib, 1ns);
  const auto good = budgeted.comes(1), stalled = budgeted.comes(1), other = budgeted.comes(2);
  REQUIRE(other->half(9 * mib));
  REQUIRE(good->half(4 * mib));
  REQUIRE(stalled->half(9 * mib));
  const Time then = os::now();
  while (os::now() <= then + 1us) continue;  // bound: a microsecond
  CHECK(good->may_read());
  CHECK(stalled->gave_up == std::vector{Stalled::sends_nothing});
  CHECK(other->gave_up.empty());
  CHECK(good->gave_up.empty());
  CHECK_FALSE(stalled->half(10 * mib));
  (void)stalled->half(0);
  CHECK(budgeted.budget->used() == 13 * mib - 2 * 64 * kib);
}

TEST_CASE("the half that was let go on does so until it is whole, and ends if no more of it comes") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto first = budgeted.comes(1), known = budgeted.comes(1);
  known->account->add_request(10);
  REQUIRE(first->half(11 * mib));
  REQUIRE(first->may_read());
  REQUIRE(known->half(5 * mib));
  CHECK_FALSE(known->may_read());
  CHECK(first->may_read());
  REQUIRE(first->half(0));
  CHECK(known->told == 1);
  BudgetedClients impatient(40 * mib, 10 * mib, 1ns);
  const auto stalls = impatient.comes(1), other = impatient.comes(1);
  REQUIRE(stalls->half(11 * mib));
  REQUIRE(stalls->may_read());
  REQUIRE(other->half(5 * mib));
  const Time then = os::now();
  while (os::now() <= then + 1us) continue;  // bound: a microsecond
  CHECK(other->may_read());
  CHECK(stalls->gave_up == std::vector{Stalled::sends_nothing});
}

TEST_CASE("a half message that waits for its peer and not for room ends like any other that does not continue") {
  BudgetedClients budgeted(40 * mib, 10 * mib, 1ns);
  const auto first = budgeted.comes(1), waits = budgeted.comes(1), other = budgeted.comes(1);
  first->account->add_request(11 * mib);
  first->account->begin_run();
  REQUIRE(waits->half(8 * mib));
  REQUIRE_FALSE(waits->may_read());
  const Time then = os::now();
  while (os::now() <= then + 1us) continue;  // bound: a microsecond
  CHECK_FALSE(first->may_read());
  CHECK(waits->gave_up.empty());
  waits->account->stop_waiting();
  (void)other->half(8 * mib);
  (void)other->may_read();
  CHECK(waits->gave_up == std::vector{Stalled::sends_nothing});
}

TEST_CASE("a half that waits for room is not one of which no more comes") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto one = budgeted.comes(1), waits = budgeted.comes(1);
  one->account->add_request(11 * mib);
  one->account->begin_run();
  REQUIRE(waits->half(8 * mib));
  CHECK_FALSE(waits->may_read());
  CHECK_FALSE(one->may_read());
  CHECK(waits->gave_up.empty());
}

TEST_CASE("a peer that has taken nothing ends where others of it wait, even small ones") {
  const Duration patience = GENERATE(1ns, Duration(1h));
  BudgetedClients budgeted(40 * mib, 10 * mib, patience);
  const auto deaf = budgeted.comes(1), good = budgeted.comes(1), other = budgeted.comes(2);
  deaf->account->hold_backlog(11 * mib, false);
  const Time then = os::now();
  while (os::now() <= then + 1us) continue;  // bound: a microsecond
  CHECK(other->may_read());
  if (patience > 1s) {
    CHECK_FALSE(good->may_read());
    CHECK(deaf->gave_up.empty());
    deaf->account->hold_backlog(mib, true);
    CHECK(good->told == 0);  // only once the connection's lock is free
    deaf->account->tell_others();
    CHECK(good->told == 1);
  } else {
    CHECK(good->may_read());
    CHECK(deaf->gave_up == std::vector{Stalled::takes_nothing});
  }
}

TEST_CASE("if the backlogs of a user exceed its share its processes are read of which little waits") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto slow = budgeted.comes(1, 100), of_slow = budgeted.comes(1, 100);
  const auto one = budgeted.comes(1, 200), of_one = budgeted.comes(1, 200), unknown = budgeted.comes(1);
  slow->account->hold_backlog(11 * mib, false);
  CHECK_FALSE(slow->may_read());
  CHECK_FALSE(of_slow->may_read());
  CHECK_FALSE(unknown->may_read());
  CHECK(one->may_read());
  // With two processes, each may have a third of the share, less what a read may add.
  of_one->account->hold_backlog(2 * mib, false);
  CHECK(one->may_read());
  CHECK(of_one->may_read());
  of_one->account->hold_backlog(4 * mib, false);
  CHECK_FALSE(one->may_read());
  of_one->account->hold_backlog(mib, true);
  CHECK(one->may_read());
  CHECK(of_one->may_read());
}

TEST_CASE("no process of a user whose backlogs exceed its share is read while all is used up") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto slow = budgeted.comes(1, 100), one = budgeted.comes(1, 200), other = budgeted.comes(2, 300);
  slow->account->hold_backlog(11 * mib, false);
  other->account->hold_backlog(29 * mib, false);
  CHECK_FALSE(one->may_read());
  other->account->hold_backlog(28 * mib, true);
  CHECK(one->may_read());
}

TEST_CASE("where all is used up each peer has the same part of it") {
  BudgetedClients budgeted(40 * mib, 2 * mib, in_an_hour);
  std::vector<ClientPtr> hogs;
  for (std::uint32_t peer = 1; peer <= 4; ++peer) {
    hogs.push_back(budgeted.comes(peer));
    hogs.back()->account->begin_run();
    hogs.back()->account->add_request(10 * mib - 32 * kib);
  }
  const auto incoming = budgeted.comes(5);
  REQUIRE(incoming->half(6 * mib));
  CHECK(incoming->may_read());
  for (const auto& hog : hogs) CHECK_FALSE(hog->may_read());
  hogs.front()->account->remove_request(10 * mib - 32 * kib);
  CHECK(hogs.front()->told == 1);
  CHECK(hogs.back()->told == 1);  // there is room again
}

TEST_CASE("a sender that may not wait has room until its peer holds as much as all together may") {
  BudgetedClients budgeted(4 * mib, mib, in_an_hour);
  const auto one = budgeted.comes(1);
  one->account->hold_backlog(3 * mib, false);
  CHECK(one->account->has_room(mib));
  CHECK_FALSE(one->account->has_room(mib + 1));
  CHECK(one->account->has_room(64 * kib));
}

TEST_CASE("a connection that is read all the same keeps its half until its peer holds as much as all may") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto one = budgeted.comes(1), other = budgeted.comes(1);
  other->account->add_request(35 * mib);
  REQUIRE(one->half(4 * mib));
  CHECK(one->account->may_keep_half());
  REQUIRE(one->half(6 * mib));
  CHECK_FALSE(one->account->may_keep_half());
  CHECK(other->gave_up.empty());
}

TEST_CASE("a connection that ends gives all back and wakes those that wait") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  auto one = budgeted.comes(1);
  const auto waits = budgeted.comes(1);
  one->account->add_request(11 * mib);
  one->account->begin_run();
  REQUIRE(waits->half(8 * mib));
  REQUIRE_FALSE(waits->may_read());
  one.reset();
  CHECK(waits->told == 1);
  CHECK(budgeted.budget->used() == 8 * mib - 64 * kib);
}

TEST_CASE("a connection without a holder is never kept waiting") {
  BudgetedClients budgeted(4 * mib, mib, in_an_hour);
  const auto account = budgeted.budget->open(1);
  account->add_request(10 * mib);
  CHECK(account->may_read());
}

TEST_CASE("many threads that hold and let go leave no byte behind") {
  BudgetedClients budgeted(mib, 256 * kib, 1ms);
  std::deque<ClientPtr> clients;
  for (std::uint32_t i = 0; i < 4; ++i) clients.push_back(budgeted.comes(i % 2));
  std::vector<std::jthread> threads;
  for (std::size_t number = 0; number < 8; ++number)
    threads.emplace_back([&, number] {
      MemoryAccount& account = *clients[number % 4]->account;
      for (std::size_t round = 0; round < 2000; ++round) {
        const std::size_t bytes = round * 37 % (100 * kib);
        account.add_request(bytes);
        account.begin_run();
        if (number < 4) {  // the reader of the connection
          (void)account.may_read();
          (void)account.hold_half(bytes * 2);
          account.hold_backlog(bytes, round % 2 == 0);
          account.tell_others();
        } else {
          account.begin_wait();
          account.end_wait();
        }
        account.end_run();
        account.remove_request(bytes);
      }
      if (number < 4) {
        (void)account.hold_half(0);
        account.hold_backlog(0, true);
      }
    });
  threads.clear();
  CHECK(budgeted.budget->used() == 0);
}

TEST_CASE("of a peer's half messages the one on a connection that sent a request before goes on, and it ends last") {
  BudgetedClients budgeted(40 * mib, 10 * mib, 1h);
  const auto silent = budgeted.comes(1), known = budgeted.comes(1);
  known->account->add_request(10);
  known->account->remove_request(10);
  REQUIRE(silent->half(9 * mib));
  REQUIRE(known->half(5 * mib));
  CHECK_FALSE(silent->may_read());
  CHECK(known->may_read());
  BudgetedClients impatient(40 * mib, 10 * mib, 1ns);
  const auto quiet = impatient.comes(1), trusted = impatient.comes(1), asks = impatient.comes(1);
  trusted->account->add_request(10);
  REQUIRE(trusted->half(5 * mib));
  REQUIRE(quiet->half(4 * mib));
  REQUIRE(asks->half(3 * mib));
  const Time then = os::now();
  while (os::now() <= then + 1us) continue;  // bound: a microsecond
  CHECK(asks->may_read());
  CHECK(quiet->gave_up.size() == 1);
  CHECK(trusted->gave_up.empty());
}

// Channels.

TEST_CASE("a channel grows within its peer's share and the budget, less what both hold already") {
  BudgetedClients budgeted(8 * mib, mib, in_an_hour);  // 2 MiB for each peer
  const auto one = budgeted.comes(1), same = budgeted.comes(1), other = budgeted.comes(2);
  REQUIRE(one->account->grow_channel(mib, false));
  REQUIRE(same->account->grow_channel(mib, false));
  CHECK_FALSE(same->account->grow_channel(1, false));
  REQUIRE(other->account->grow_channel(mib, false));
  CHECK(budgeted.budget->channels() == 3 * mib);
  other->account->add_request(mib + 64 * kib);
  CHECK_FALSE(other->account->grow_channel(1, false));
  other->account->remove_request(mib + 64 * kib);
  CHECK(other->account->grow_channel(1, false));
  std::vector<ClientPtr> more;
  for (std::uint32_t peer = 3; peer < 6; ++peer) more.push_back(budgeted.comes(peer));
  CHECK(more[0]->account->grow_channel(2 * mib, false));
  CHECK(more[1]->account->grow_channel(2 * mib, false));
  CHECK_FALSE(more[2]->account->grow_channel(2 * mib, false));  // the budget of all peers is used up
}

TEST_CASE("memory that a channel gives back, or a connection that ends, makes room for others to grow") {
  BudgetedClients budgeted(8 * mib, mib, in_an_hour);
  auto one = budgeted.comes(1);
  const auto same = budgeted.comes(1);
  REQUIRE(one->account->grow_channel(2 * mib, false));
  REQUIRE_FALSE(same->account->grow_channel(1, false));
  const bool ends = GENERATE(false, true);
  if (ends)
    one.reset();
  else
    one->account->shrink_channel(2 * mib);
  CHECK(budgeted.budget->channels() == 0);
  CHECK(same->account->grow_channel(2 * mib, false));
}

TEST_CASE("a channel of tasks grows in any case, and is counted") {
  BudgetedClients budgeted(8 * mib, mib, in_an_hour);
  const auto one = budgeted.comes(1), same = budgeted.comes(1);
  CHECK(one->account->grow_channel(10 * mib, true));
  CHECK(budgeted.budget->channels() == 10 * mib);
  CHECK_FALSE(same->account->grow_channel(1, false));
}

TEST_CASE("the memory of channels keeps no connection from being read") {
  BudgetedClients budgeted(8 * mib, mib, in_an_hour);
  const auto one = budgeted.comes(1);
  REQUIRE(one->account->grow_channel(10 * mib, true));
  REQUIRE(one->half(mib));
  CHECK(one->may_read());
  CHECK(one->account->has_room(mib));
}

// Waiting.

TEST_CASE("a connection that was let on waits anew the next time, however long it had waited before") {
  constexpr Duration patience = 1s;
  BudgetedClients budgeted(8 * mib, mib, patience, &StillClock::now);
  const auto runs = budgeted.comes(1), waits = budgeted.comes(1);
  runs->account->add_request(2 * mib);
  runs->account->begin_run();
  REQUIRE(waits->half(mib));
  REQUIRE_FALSE(waits->may_read());
  runs->account->remove_request(2 * mib);
  CHECK(waits->told == 1);
  REQUIRE(waits->may_read());
  StillClock::at += 2 * patience;  // does not count as waiting
  runs->account->add_request(2 * mib);
  CHECK_FALSE(waits->may_read());
}

TEST_CASE("connections that wait are told in the order in which they began to wait, each once") {
  struct Asking final : MemoryHolder {
    Asking(std::shared_ptr<MemoryAccount> its, std::vector<Asking*>& order) : account(std::move(its)), told(order) {}
    void on_room() noexcept override {
      told.push_back(this);
      (void)account->may_read();  // waits again
    }
    void close_stalled(Stalled) noexcept override {}
    const std::shared_ptr<MemoryAccount> account;
    std::vector<Asking*>& told;
  };
  BudgetedClients budgeted(8 * mib, mib, in_an_hour);
  const auto runs = budgeted.comes(1), runs_on = budgeted.comes(1);
  runs->account->add_request(mib);
  runs_on->account->add_request(2 * mib);
  runs_on->account->begin_run();
  std::vector<Asking*> told;
  std::vector<std::shared_ptr<Asking>> all;
  for (int i = 0; i < 3; ++i) {
    all.push_back(std::make_shared<Asking>(budgeted.budget->open(1), told));
    all.back()->account->belongs_to(all.back());
    all.back()->account->add_request(512 * kib);
  }
  for (const int i : {2, 0, 1}) REQUIRE_FALSE(all[static_cast<std::size_t>(i)]->account->may_read());
  runs->account->remove_request(mib);
  CHECK(told == std::vector{all[2].get(), all[0].get(), all[1].get()});
}

TEST_CASE("a real-time thread that makes room has others tell those that wait") {
  struct Listening final : MemoryHolder {
    explicit Listening(std::shared_ptr<MemoryAccount> its) : account(std::move(its)) {}
    void on_room() noexcept override {
      if (os::is_real_time()) ++told_in_real_time;
      ++told;
    }
    void close_stalled(Stalled) noexcept override {}
    const std::shared_ptr<MemoryAccount> account;
    std::atomic<int> told{0}, told_in_real_time{0};
  };
  const bool of_other_peer = GENERATE(false, true);
  BudgetedClients budgeted(2 * mib, mib, in_an_hour);
  const auto runs = budgeted.comes(1);
  runs->account->begin_run();
  std::vector<std::shared_ptr<Listening>> all;
  for (std::uint32_t i = 0; i < 100; ++i) {
    all.push_back(std::make_shared<Listening>(budgeted.budget->open(of_other_peer ? 2 : 1)));
    all.back()->account->belongs_to(all.back());
  }
  runs->account->add_request(2 * mib);
  for (const auto& each : all) {
    REQUIRE(each->account->hold_half(128 * kib));
    (void)each->account->may_read();
  }
  int waiting = 0;
  for (const auto& each : all) waiting += each->account->may_read() ? 0 : 1;
  CHECK(waiting > 50);
  auto thread = os::start_thread({.fifo_priority = 1}, [&] { runs->account->remove_request(2 * mib); });
  if (!thread) return (void)(std::cout << "SKIPPED: no privilege for SCHED_FIFO\n");
  thread->join();
  const auto sum = [&] {
    int told = 0;
    for (const auto& each : all) told += each->told > 0 ? 1 : 0;
    return told;
  };
  while (sum() < waiting) std::this_thread::yield();
  for (const auto& each : all) CHECK(each->told_in_real_time == 0);
}
