#include "services/corelane/host_card/wake_parts.h"

#include <catch2/catch.hpp>

namespace wake_parts_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using eval::WakeLoad;

namespace {

constexpr Time due{1s};

}  // namespace

TEST_CASE("lateness that is neither a wait of the ready thread nor a gap is the timer's") {
  CHECK(timer_part({.due = due, .late = 50us, .ready = 10us, .machine = 25us}) == 15us);
  CHECK(timer_part({.due = due, .late = 50us, .ready = 50us, .machine = 0us}) == 0us);
}

TEST_CASE("a gap inside the wait of the ready thread leaves the timer nothing, and no negative part") {
  CHECK(timer_part({.due = due, .late = 50us, .ready = 40us, .machine = 40us}) == 0us);
}

TEST_CASE("each part of wake-ups is summed up for itself") {
  const auto latency = latency_of(WakeLoad::cpu, true, true,
                                  {{.due = due, .late = 50us, .ready = 10us, .machine = 25us},
                                   {.due = due, .late = 8us, .ready = 2us, .machine = 0us}});
  CHECK(latency.load == WakeLoad::cpu);
  CHECK(latency.real_time);
  CHECK(latency.late == eval::CostSummary{.min = 8us, .median = 8us, .p99 = 50us, .max = 50us, .count = 2});
  CHECK(latency.timer == eval::CostSummary{.min = 6us, .median = 6us, .p99 = 15us, .max = 15us, .count = 2});
  CHECK(latency.ready.max == 10us);
  CHECK(latency.machine.max == 25us);
}

TEST_CASE("a kernel that does not tell how long threads are ready leaves the parts without samples") {
  const auto latency = latency_of(WakeLoad::io, false, true, {{.due = due, .late = 50us, .machine = 25us}});
  CHECK(latency.late.count == 1);
  CHECK(latency.timer.count == 0);
  CHECK(latency.ready.count == 0);
  CHECK(latency.machine.count == 1);
}

TEST_CASE("nobody sees gaps of an idle core") {
  const auto latency = latency_of(WakeLoad::idle, true, false, {{.due = due, .late = 5us, .ready = 1us}});
  CHECK(latency.machine.count == 0);
  CHECK(latency.timer.count == 1);
}

}  // namespace wake_parts_test
