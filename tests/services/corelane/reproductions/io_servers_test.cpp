#include "services/corelane/reproductions/io_servers.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <vector>

namespace io_servers_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;
using namespace std::chrono_literals;

TEST_CASE("I/O on behalf of the third VCPU takes its time from the fourth one alone") {
  CHECK(used_on_behalf(false, 4s) == std::vector<Duration>{1000ms, 1600ms, 1000ms, 400ms});
  CHECK(used_on_behalf(true, 4s) == std::vector<Duration>{1000ms, 1600ms, 1000ms, 0ms, 400ms});
}

TransferCounts transfers(bool has_flood, bool has_own_server) {
  return count_transfers({.has_flood = has_flood, .has_own_server = has_own_server, .length = 10s});
}

TEST_CASE("transfers keep their rate beside a flood if they have a server of their own") {
  const TransferCounts alone = transfers(false, false);
  const TransferCounts beside = transfers(true, true);
  CHECK(alone.dropped == 0);
  CHECK(beside.dropped == 0);
  CHECK(beside.transfers + 2 >= alone.transfers);  // the last ones may still wait
  CHECK(beside.io <= 2s + 10ms);                   // 20 % of the core, and a budget
}

TEST_CASE("transfers that share a server with a flood lose most of their rate") {
  const TransferCounts shared = transfers(true, false);
  CHECK(shared.transfers < transfers(false, false).transfers / 2);
  CHECK(shared.dropped > 0);
  CHECK(shared.io <= 2s + 10ms);
}

}  // namespace io_servers_test
