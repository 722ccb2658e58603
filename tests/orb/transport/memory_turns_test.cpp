// At which pace half messages must grow, and how peers take turns while the whole budget is used up.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/transport/memory_budget.h"
#include "tests/orb/transport/budgeted_clients.h"

namespace memory_turns_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;

namespace {

constexpr Duration patience = 1s;

// The whole budget is used up: by requests that stay, and by half a message of each of three peers. Only one of them
// can be elected at a time.
struct FullBudget {
  FullBudget() { requests->account->add_request(12 * mib); }

  ClientPtr half_of(std::uint32_t peer) {
    auto client = budgeted.comes(peer);
    REQUIRE(client->half(1088 * kib));
    return client;
  }

  BudgetedClients budgeted{8 * mib, 2 * mib, patience, &StillClock::now};
  const ClientPtr requests = budgeted.comes(9);
  const ClientPtr first = half_of(1), second = half_of(2), third = half_of(3);
};

}  // namespace

// Pace.

TEST_CASE("a half message goes on while it grows by 256 KiB within the patience, in whatever pieces") {
  BudgetedClients budgeted(40 * mib, 10 * mib, patience, &StillClock::now);
  const auto grows = budgeted.comes(1), asks = budgeted.comes(1);
  const int pieces = GENERATE(3, 4, 5);
  REQUIRE(grows->half(9 * mib));
  REQUIRE(asks->half(4 * mib));
  CHECK_FALSE(asks->may_read());
  for (int piece = 1; piece <= pieces; ++piece) {
    StillClock::at += 150ms;
    REQUIRE(grows->half(9 * mib + static_cast<std::size_t>(piece) * 64 * kib));
  }
  StillClock::at += 1500ms - pieces * 150ms;
  CHECK(asks->may_read() == (pieces < 4));
  CHECK(grows->gave_up == (pieces < 4 ? std::vector{Stalled::sends_nothing} : std::vector<Stalled>{}));
}

TEST_CASE("a half message that does not grow goes on until the patience is over") {
  BudgetedClients budgeted(40 * mib, 10 * mib, patience, &StillClock::now);
  const auto stalls = budgeted.comes(1), asks = budgeted.comes(1);
  REQUIRE(stalls->half(9 * mib));
  REQUIRE(asks->half(4 * mib));
  StillClock::at += patience - 1ns;
  CHECK_FALSE(asks->may_read());
  CHECK(stalls->gave_up.empty());
  StillClock::at += 1ns;
  CHECK(asks->may_read());
  CHECK(stalls->gave_up == std::vector{Stalled::sends_nothing});
}

TEST_CASE("the growth of a message counts from its own beginning, whatever the message before it had") {
  BudgetedClients budgeted(40 * mib, 10 * mib, patience, &StillClock::now);
  const auto requests = budgeted.comes(1), grows = budgeted.comes(1), asks = budgeted.comes(1);
  requests->account->add_request(21 * mib);
  REQUIRE(grows->half(9 * mib));
  REQUIRE(grows->half(192 * kib));  // the message is complete, and the next one has begun
  REQUIRE(asks->half(128 * kib));
  StillClock::at += 900ms;
  REQUIRE(grows->half(448 * kib));
  StillClock::at += 900ms;
  CHECK_FALSE(asks->may_read());
  CHECK(grows->gave_up.empty());
  StillClock::at += 100ms;
  CHECK_FALSE(asks->may_read());
  CHECK(grows->gave_up == std::vector{Stalled::sends_nothing});
}

// Turns.

TEST_CASE("while the whole budget is used up the peer that has waited for longest is next, and is told") {
  FullBudget full;
  REQUIRE(full.first->may_read());
  CHECK_FALSE(full.second->may_read());
  StillClock::at += 1ns;
  CHECK_FALSE(full.third->may_read());
  CHECK(full.first->may_read());
  REQUIRE(full.first->half(0));
  CHECK(full.second->told == 1);
  CHECK(full.third->told == 1);
  CHECK_FALSE(full.third->may_read());
  CHECK(full.second->told == 2);
  CHECK(full.second->may_read());
  CHECK_FALSE(full.third->may_read());
  REQUIRE(full.second->half(0));
  CHECK(full.third->may_read());
}

TEST_CASE("a peer that has sent a request over its connection before comes first, however short it has waited") {
  FullBudget full;
  full.third->account->note_request();
  REQUIRE(full.first->may_read());
  CHECK_FALSE(full.second->may_read());
  StillClock::at += 1ns;
  CHECK_FALSE(full.third->may_read());
  REQUIRE(full.first->half(0));
  CHECK_FALSE(full.second->may_read());
  CHECK(full.third->told == 2);
  CHECK(full.third->may_read());
}

TEST_CASE("a peer that cannot be elected holds up no other, however long it has waited") {
  FullBudget full;
  full.requests->account->remove_request(5 * mib);
  const auto of_second = full.budgeted.comes(2);
  of_second->account->add_request(5 * mib);  // more than its share and a message
  REQUIRE(full.first->may_read());
  CHECK_FALSE(full.second->may_read());
  StillClock::at += 1ns;
  CHECK_FALSE(full.third->may_read());
  REQUIRE(full.first->half(0));
  CHECK_FALSE(full.second->may_read());
  CHECK(full.third->may_read());
}

TEST_CASE("an elected connection that holds hardly anything loses its turn after the patience") {
  FullBudget full;
  REQUIRE(full.first->may_read());
  REQUIRE(full.first->half(128 * kib));  // the message is complete, and the next one has begun
  StillClock::at += patience - 1ns;
  CHECK_FALSE(full.second->may_read());
  StillClock::at += 1ns;
  CHECK(full.second->may_read());
  CHECK(full.first->gave_up.empty());
}

TEST_CASE("an elected connection ends if its message grows too slowly while another peer waits") {
  FullBudget full;
  const bool keeps_pace = GENERATE(true, false);
  REQUIRE(full.first->may_read());
  CHECK_FALSE(full.second->may_read());
  StillClock::at += patience / 2;
  REQUIRE(full.first->half(1088 * kib + (keeps_pace ? 256 : 128) * kib));
  StillClock::at += patience / 2;
  CHECK(full.second->may_read() == !keeps_pace);
  CHECK(full.first->gave_up.empty() == keeps_pace);
}

}  // namespace memory_turns_test
