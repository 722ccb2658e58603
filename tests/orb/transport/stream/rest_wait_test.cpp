#include "orb/transport/stream/rest_wait.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane;
using namespace corelane::transport;
using namespace std::chrono_literals;

namespace rest_wait_test {
namespace {

constexpr Time start{10s};

}  // namespace

TEST_CASE("a sender waits with the rest of a message for a short time, and not beyond its deadline") {
  const RestWait wait;
  CHECK(wait.end(start, never) == start + RestWait::longest);
  CHECK(wait.end(start, start + 1us) == start + 1us);
  CHECK(wait.end(start, start) == Time{});
  CHECK(wait.end(start, start + RestWait::longest + 1ns) == start + RestWait::longest);
}

TEST_CASE("after a wait in vain nobody waits for the peer for a hundred times as long") {
  RestWait wait;
  SECTION("the peer made a pause") { wait.note_end(start, start + 1ms, 10, 1, true); }
  SECTION("the peer is slow") { wait.note_end(start, start + 1ms, 10, 6, false); }
  CHECK(wait.end(start + 1ms, never) == Time{});
  CHECK(wait.end(start + 101ms - 1ns, never) == Time{});
  CHECK(wait.end(start + 101ms, never) == start + 101ms + RestWait::longest);
}

TEST_CASE("a sender waits again for a peer that took half of the rest") {
  RestWait wait;
  wait.note_end(start, start + 1ms, 10, 5, false);
  CHECK(wait.end(start + 1ms, never) == start + 1ms + RestWait::longest);
}

}  // namespace rest_wait_test
