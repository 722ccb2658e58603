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
  CHECK(wait.end(start, start + RestWait::longest + 1ns) == start + RestWait::longest);
}

TEST_CASE("nobody waits for a peer that made a long pause, until a hundred times as long") {
  RestWait wait;
  wait.note_pause(start, start + 1ms);
  CHECK(wait.end(start + 1ms, never) == Time{});
  CHECK(wait.end(start + 101ms - 1ns, never) == Time{});
  CHECK(wait.end(start + 101ms, never) == start + 101ms + RestWait::longest);
}

}  // namespace rest_wait_test
