#include "orb/eval/host_card/host_card.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/support/system/temp_directory.h"

namespace host_card_test {

using namespace corelane;
using namespace corelane::eval;
using namespace std::chrono_literals;
using Catch::Contains;
using corelane::testing::TempDirectory;

namespace {

CostSummary costs_from(Duration least) {
  return {.min = least, .median = 2 * least, .p99 = 3 * least, .max = 10 * least, .count = 100};
}

WakeLatency wake_up(WakeLoad load, bool real_time, Duration least) {
  return {.load = load,
          .real_time = real_time,
          .late = costs_from(least),
          .timer = costs_from(1us),
          .ready = costs_from(2us),
          .machine = {}};
}

HostCard whole_card() {
  return {
      .key = {.host = "plant\xc3\xa4", .kernel = "6.12 #1", .processor = "Model \"X\""},
      .measured_at = "2026-11-30T09:00:00Z",
      .thorough = true,
      .real_time = true,
      .clock_offsets = {{.from = CoreId{0}, .to = CoreId{3}, .d0 = -14ns, .round_trip = 90ns, .count = 5}},
      .costs = {{HostCost::hop_other_core, costs_from(4us)},
                {HostCost::context_switch, costs_from(1us)},
                {HostCost::migrate_sleeping, costs_from(300ns)}},
      .wake_ups = {wake_up(WakeLoad::idle, true, 6us), wake_up(WakeLoad::kernel, true, 9us),
                   wake_up(WakeLoad::io, false, 1ms)},
      .balancer =
          {{.tasks = 10, .percent = 60, .watched = 30s, .calls = 3, .min = 1us, .mean = 2us, .max = 3us, .total = 6us}},
      .omissions = {{.what = "load balancer", .why = "no tracefs"}}};
}

// Sets an environment variable, or removes it, while it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* const name_;
  std::optional<std::string> before_;
};

std::string fault_of_text(const std::string& text) {
  const auto card = parse_host_card(text, "card.json");
  return card ? "" : card.error().text;
}

// Returns the text of a whole card in which the first `from` is replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = host_card_text(whole_card());
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a host card is the same after it was written and read") {
  const auto read = parse_host_card(host_card_text(whole_card()), "card.json");
  REQUIRE(read);
  CHECK(*read == whole_card());
  CHECK(*parse_host_card(host_card_text(HostCard{}), "card.json") == HostCard{});
}

TEST_CASE("every cost and every load has a name of its own in a host card") {
  HostCard card;
  for (const HostCostName& name : host_costs()) card.costs.emplace(name.cost, costs_from(1us));
  for (const WakeLoadName& load : wake_loads()) card.wake_ups.push_back(wake_up(load.load, true, 1us));
  CHECK(card.costs.size() == 7);
  CHECK(card.wake_ups.size() == 4);
  CHECK(*parse_host_card(host_card_text(card), "card.json") == card);
  CHECK(name_of(WakeLoad::kernel) == "kernel");
}

TEST_CASE("a damaged host card is refused with the place, the fault and the remedy") {
  CHECK_THAT(fault_of_text("{"), Contains("card.json is no host card: ") && Contains("corelane doctor --measure"));
  CHECK_THAT(fault_of_text("[]"), Contains("card.json is no host card: "));
  CHECK_THAT(fault_of_text("{}"), Contains("key 'format' not found"));
  CHECK_THAT(fault_of_text(changed("\"format\": 1", "\"format\": 2")), Contains("format 2 is not the format"));
  CHECK_THAT(fault_of_text(changed("context_switch", "context")), Contains("'context' is no cost"));
  CHECK_THAT(fault_of_text(changed("\"idle\"", "\"lazy\"")), Contains("'lazy' is no load"));
  CHECK_THAT(fault_of_text(changed("\"count\": 100", "\"count\": -1")), Contains("count is negative"));
  CHECK_THAT(fault_of_text(changed("\"min_ns\": 4000", "\"min_ns\": 4.5")), Contains("min_ns is no whole number"));
  CHECK_THAT(fault_of_text(changed("\"min_ns\": 4000", "\"min_ns\": 8001")), Contains("do not ascend"));
  CHECK_THAT(fault_of_text(changed("\"to\": 3", "\"to\": 40000")), Contains("to is no core"));
  CHECK_THAT(fault_of_text(changed("\"tasks\": 10", "\"tasks\": 1000001")), Contains("tasks is too large"));
}

TEST_CASE("a host card that is written replaces the one before, in directories that are made for it") {
  const TempDirectory place;
  const std::string path = place / "a/b/host-card.json";
  REQUIRE(write_host_card(HostCard{}, path));
  REQUIRE(write_host_card(whole_card(), path));
  const auto read = read_host_card(path);
  REQUIRE(read);
  CHECK(*read == whole_card());
}

TEST_CASE("a host card that cannot be written or read says which file, and what to do") {
  const TempDirectory place;
  std::ofstream(place / "file").flush();
  const auto written = write_host_card(HostCard{}, place / "file/host-card.json");
  REQUIRE_FALSE(written);
  CHECK_THAT(written.error().text, Contains(place / "file") && Contains("--output FILE"));
  const auto read = read_host_card(place / "none.json");
  REQUIRE_FALSE(read);
  CHECK_THAT(read.error().text, Contains("none.json does not exist; measure this host: corelane doctor --measure"));
}

TEST_CASE("a host card of another host, kernel or processor is not this host's") {
  const TempDirectory place;
  const std::string path = place / "card.json";
  HostCard card = whole_card();
  card.key = key_of_this_host();
  REQUIRE(write_host_card(card, path));
  CHECK(card_of_this_host(path));
  card.key.kernel = "1.0";
  REQUIRE(write_host_card(card, path));
  const auto refused = card_of_this_host(path);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, Contains("was measured under the kernel '1.0', and here it is '" +
                                            key_of_this_host().kernel + "'; measure this host"));
}

TEST_CASE("a user's host card is in XDG_STATE_HOME, and else below HOME") {
  const Variable home("HOME", "/home/ada");
  {
    const Variable state("XDG_STATE_HOME", "/state");
    CHECK(host_card_path() == "/state/corelane/host-card.json");
  }
  const std::string usual = "/home/ada/.local/state/corelane/host-card.json";
  {
    const Variable state("XDG_STATE_HOME", "relative");
    CHECK(host_card_path() == usual);
  }
  const Variable state("XDG_STATE_HOME", nullptr);
  CHECK(host_card_path() == usual);
  const Variable none("HOME", nullptr);
  CHECK(host_card_path().empty());
}

TEST_CASE("overheads are the p99 or the greatest costs, and the worst wake-up of a real-time thread") {
  const auto usual = overheads_of(whole_card(), CostCharge::p99);
  REQUIRE(usual);
  CHECK(*usual == RunOverheads{.costs = {.dispatch = 3us, .hop = 12us, .migration = 900ns}, .blocking = 27us});
  const auto worst = overheads_of(whole_card(), CostCharge::max);
  REQUIRE(worst);
  CHECK(*worst == RunOverheads{.costs = {.dispatch = 10us, .hop = 40us, .migration = 3us}, .blocking = 90us});
}

TEST_CASE("a card of one core charges hops on that core") {
  HostCard card = whole_card();
  card.costs = {{HostCost::hop_same_core, costs_from(2us)}};
  CHECK(overheads_of(card, CostCharge::p99) == RunOverheads{.costs = {.hop = 6us}, .blocking = 27us});
}

TEST_CASE("a card without wake-ups of a real-time thread has no overheads") {
  HostCard card = whole_card();
  card.wake_ups = {wake_up(WakeLoad::idle, false, 1us)};
  CHECK_FALSE(overheads_of(card, CostCharge::max));
}

}  // namespace host_card_test
