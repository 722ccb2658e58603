// Half messages of several connections, which none of the others may stop for good.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/transport/memory_budget.h"
#include "tests/orb/transport/budgeted_clients.h"

using namespace corelane;
using namespace corelane::testing;

namespace {

// Sender is a client with what it has sent of its message.
struct Sender {
  ClientPtr client;
  std::size_t sent = 0;
  bool waits = false;  // was refused, and has not been told that there may be room
};

// Reads one step of each sender that may be read and has more to send. A sender that was refused is asked again when it
// was told that there may be room. Returns whether any was read.
bool read_once(std::vector<Sender>& senders, std::size_t longest) {
  bool any = false;
  for (Sender& each : senders) {
    if (each.sent == longest) each.client->account->stop_waiting();
    if (each.client->told.exchange(0) > 0) each.waits = false;
    if (each.sent == longest || each.waits) continue;
    each.waits = !each.client->may_read();
    if (each.waits) continue;
    each.sent += 64 * kib;
    any = each.client->half(each.sent) || any;
  }
  return any;
}

}  // namespace

TEST_CASE("half messages of many connections never stop one another for ever, and stay within their bound") {
  constexpr std::size_t message = 10 * mib;
  const std::size_t together = GENERATE(2u, 3u, 8u, 24u, 60u), peers = GENERATE(1u, 2u, 9u);
  BudgetedClients budgeted(40 * mib, message, in_an_hour);
  // Of each peer its share and one message, of all twice the budget; and what the last read of each connection brings.
  const std::size_t of_peers = std::min(peers, together) * (budgeted.budget->bounds().of_peer + message);
  const std::size_t bound = std::min(of_peers, 2 * budgeted.budget->bounds().all) + together * 64 * kib;
  std::vector<Sender> senders;
  std::uint32_t came = 0;
  std::size_t most = 0, ended = 0;
  while (ended < 200) {  // bound: one ends each time
    if (senders.size() < together) senders.push_back({budgeted.comes(came++ % static_cast<std::uint32_t>(peers))});
    while (read_once(senders, message)) most = std::max(most, budgeted.budget->used());  // bound: what they send
    if (senders.size() < together) continue;
    // All wait, but for those that have sent all. After `patience` each asks again.
    for (Sender& each : senders) each.waits = false;
    while (read_once(senders, message)) most = std::max(most, budgeted.budget->used());  // bound: what they send
    const auto whole =
        std::find_if(senders.begin(), senders.end(), [&](const Sender& each) { return each.sent == message; });
    INFO(ended << " have ended of " << came);
    REQUIRE(whole != senders.end());
    senders.erase(whole);
    ++ended;
  }
  CHECK(most <= bound);
}

TEST_CASE("beside half messages that fill their peer's share a connection that comes later has a part of it") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  std::vector<Sender> hogs;
  for (int i = 0; i < 24; ++i) hogs.push_back({budgeted.comes(1)});
  while (read_once(hogs, 10 * mib)) continue;  // bound: they all wait
  const auto good = budgeted.comes(1);
  good->account->add_request(10);
  REQUIRE(good->half(192 * kib));
  CHECK(good->may_read());
}

TEST_CASE("a long message alone goes on while a small request of its peer runs") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  const auto busy = budgeted.comes(1);
  busy->account->add_request(164 * kib);
  busy->account->begin_run();
  std::vector<Sender> senders{{budgeted.comes(1)}};
  while (read_once(senders, 10 * mib - 256 * kib)) continue;  // bound: what it sends
  CHECK(senders[0].sent == 10 * mib - 256 * kib);
}

TEST_CASE("messages of several peers become complete beside requests of theirs that run") {
  BudgetedClients budgeted(40 * mib, 10 * mib, in_an_hour);
  std::vector<ClientPtr> busy;
  std::vector<Sender> senders;
  for (std::uint32_t peer = 0; peer < 6; ++peer) {
    busy.push_back(budgeted.comes(peer));
    busy.back()->account->add_request(164 * kib);
    busy.back()->account->begin_run();
    senders.push_back({budgeted.comes(peer)});
  }
  while (read_once(senders, 6 * mib)) continue;  // bound: what they send
  for (const Sender& each : senders) CHECK(each.sent == 6 * mib);
}
