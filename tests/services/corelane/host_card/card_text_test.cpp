#include "services/corelane/host_card/card_text.h"

#include <catch2/catch.hpp>

#include "services/corelane/host_card/published_costs.h"

namespace card_text_test {

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

constexpr eval::CostSummary moved{.min = 15us, .median = 20us, .p99 = 30us, .max = 5ms, .count = 200};

eval::HostCard card_with(eval::HostCard card) {
  card.key = {.host = "plant\x1b", .kernel = "6.12 #1", .processor = "Model X"};
  card.measured_at = "2026-11-30T09:00:00Z";
  return card;
}

}  // namespace

TEST_CASE("a card shows each cost beside the published range") {
  const std::string text =
      text_of(card_with({.costs = {{eval::HostCost::migrate_itself, moved}, {eval::HostCost::context_switch, moved}}}));
  CHECK_THAT(text,
             Contains("host card of plant?, Linux 6.12 #1, Model X\nmeasured 2026-11-30T09:00:00Z without --long"));
  CHECK_THAT(text,
             Contains("a running thread changes its own affinity      15.0us     20.0us     30.0us     5.00ms      "
                      "200  16.0us to 45.0us\n"));
  CHECK_THAT(text,
             Contains("context switch                                 15.0us     20.0us     30.0us     5.00ms      "
                      "200  -\npublished: Zhang, Gill & Lu, RTCSA 2009, Linux 2.6.17\n"));
  CHECK_THAT(text, !Contains("balancer") && !Contains("clock of core") && !Contains("left out"));
}

TEST_CASE("a card shows how far the clocks differ") {
  const std::string text = text_of(card_with(
      {.clock_offsets = {{.from = CoreId{0}, .to = CoreId{1}, .d0 = -40ns, .round_trip = 90ns, .count = 2000}}}));
  CHECK_THAT(text, Contains("clock of core 1 against core 0: d0 -40ns, so offset -20ns, known to 45ns (2000 messages)\n"
                            "published: d0 1.3us on average (Zhang, Gill & Lu, RTCSA 2009)\n"));
}

TEST_CASE("a card names the parts of wake-ups by what the thread waits for") {
  const eval::WakeLatency real_time{
      .load = eval::WakeLoad::cpu, .real_time = true, .late = moved, .timer = moved, .ready = moved, .machine = moved};
  eval::WakeLatency ordinary = real_time;
  ordinary.real_time = false;
  ordinary.machine = {};
  const std::string both = text_of(card_with({.wake_ups = {real_time, ordinary}}));
  CHECK_THAT(both, Contains("load cpu, real-time thread") && Contains("load cpu, ordinary thread"));
  CHECK_THAT(both, Contains("published: timer latency 10.00ms") && Contains("(Goel et al., OSDI 2002)\n"));
  CHECK_THAT(both, Contains("  timer ") && Contains("  preemption ") && Contains("  scheduling "));
  const std::string idle = text_of(card_with({.wake_ups = {ordinary}}));
  CHECK_THAT(idle, !Contains("preemption") && !Contains("gaps of the machine"));
}

TEST_CASE("a card shows the load balancer per minute, beside the published figures") {
  const std::string text = text_of(card_with({.balancer = {{.tasks = 10,
                                                            .percent = 60,
                                                            .watched = 30s,
                                                            .calls = 21,
                                                            .min = 1us,
                                                            .mean = 2us,
                                                            .max = 3us,
                                                            .total = 42us}}}));
  CHECK_THAT(text, Contains("here           10    60 %         42.0      1.0us      2.0us      3.0us       84.0us\n"));
  CHECK_THAT(text, Contains("published      10    60 %         42.2      405ns      983ns      1.9us       41.4us\n"));
  CHECK_THAT(text, Catch::EndsWith("published: Zhang, Gill & Lu, RTCSA 2009, Linux 2.6.17\n"));
  CHECK(published_balancing().size() == 4);
}

TEST_CASE("a card says what was left out, and why") {
  CHECK_THAT(text_of(card_with({.omissions = {{.what = "load balancer", .why = "no tracefs"}}})),
             Catch::EndsWith("\nleft out: load balancer: no tracefs\n"));
}

}  // namespace card_text_test
