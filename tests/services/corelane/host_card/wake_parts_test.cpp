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

TEST_CASE("a wake-up has the part of each gap of the machine that lies between due and late") {
  const auto gap = [](Duration begin, Duration length, rt::GapCause cause) {
    return rt::Gap{.begin = due + begin, .length = length, .core = CoreId{0}, .cause = cause};
  };
  std::vector<WakeSample> samples = {{.due = due, .late = 10us},
                                     {.due = due + 1ms, .late = 100us},
                                     {.due = due + 2ms, .late = 100us},
                                     {.due = due + 3ms, .late = 100us}};
  add_machine_gaps(samples, {gap(-50us, 40us, rt::GapCause::machine), gap(-10us, 12us, rt::GapCause::machine),
                             gap(980us, 50us, rt::GapCause::machine), gap(1030us, 20us, rt::GapCause::preempted),
                             gap(1090us, 30us, rt::GapCause::machine), gap(2900us, 400us, rt::GapCause::machine)});
  CHECK(samples[0].machine == 2us);
  CHECK(samples[1].machine == 30us + 10us);
  CHECK(samples[2].machine == 0us);
  CHECK(samples[3].machine == 100us);
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
