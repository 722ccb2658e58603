#include "orb/base/contract.h"

#include <catch2/catch.hpp>
#include <string>

using namespace corelane;
using namespace std::chrono_literals;

namespace {

constexpr Contract sound{.period = 10ms, .deadline = 8ms, .budget = 2ms, .jitter = 1ms, .suspension = 1ms};

// Returns whether the contract is sound. Checks that both functions agree.
bool judged(const Contract& contract) {
  const auto fault = fault_of(contract);
  CHECK(is_sound(contract) == !fault);
  return !fault;
}

std::string fault_in(Contract contract) {
  REQUIRE_FALSE(judged(contract));
  return *fault_of(contract);
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("a resource has the number of its name and never that of none") {
  static_assert(resource_named("bus") == resource_named("bus"));
  CHECK(resource_named("bus") != resource_named("bus2"));
  CHECK(resource_named("a") == ResourceId{0xe40c292c});  // the published value of FNV-1a
  CHECK(resource_named("") != no_resource);
}

TEST_CASE("a contract in range has no fault") { CHECK(judged(sound)); }

TEST_CASE("a contract's defaults are D = T and J = T/10 below D") {
  CHECK(make_contract(10ms, 2ms) == Contract{.period = 10ms, .deadline = 10ms, .budget = 2ms, .jitter = 1ms});
  CHECK(make_contract(10ms, 500us, 1ms).jitter == 100us);
  CHECK(make_contract(10ms, 2ms, 8ms, 3ms) == Contract{.period = 10ms, .deadline = 8ms, .budget = 2ms, .jitter = 3ms});
  CHECK(judged(make_contract(10ms, 500us, 1ms)));
}

// Edges: the ends of each field's range and one beyond.

TEST_CASE("a period is above 0 and at most an hour") {
  const auto with = [](Duration period) {
    Contract contract = sound;
    contract.period = period;
    return contract;
  };
  CHECK_FALSE(judged(with(0ns)));
  CHECK(judged(with(1ns)));
  CHECK(judged(with(1h)));
  CHECK_FALSE(judged(with(1h + 1ns)));
}

TEST_CASE("a deadline is at most an hour") {
  Contract contract = sound;
  contract.deadline = 1h;
  CHECK(judged(contract));
  contract.deadline = 1h + 1ns;
  CHECK_FALSE(judged(contract));
}

TEST_CASE("a budget is above 0 and at most the deadline") {
  Contract contract{.period = 10ms, .deadline = 8ms};
  contract.budget = 0ns;
  CHECK_FALSE(judged(contract));
  contract.budget = 1ns;
  CHECK(judged(contract));
  contract.budget = 8ms;
  CHECK(judged(contract));
  contract.budget = 8ms + 1ns;
  CHECK_FALSE(judged(contract));
}

TEST_CASE("a jitter is at least 0 and below the deadline") {
  Contract contract = sound;
  contract.jitter = -1ns;
  CHECK_FALSE(judged(contract));
  contract.jitter = 0ns;
  CHECK(judged(contract));
  contract.jitter = 8ms - 1ns;
  CHECK(judged(contract));
  contract.jitter = 8ms;
  CHECK_FALSE(judged(contract));
}

TEST_CASE("budget and suspension together are at most the deadline") {
  Contract contract = sound;
  contract.suspension = -1ns;
  CHECK_FALSE(judged(contract));
  contract.suspension = 6ms;
  CHECK(judged(contract));
  contract.suspension = 6ms + 1ns;
  CHECK_FALSE(judged(contract));
}

TEST_CASE("an overrun policy is one of three") {
  Contract contract = sound;
  contract.on_overrun = OverrunPolicy::cancel;
  CHECK(judged(contract));
  contract.on_overrun = static_cast<OverrunPolicy>(3);
  CHECK(fault_in(contract) == "on_overrun = 3 is none of report, demote and cancel");
}

TEST_CASE("durations are a number and a unit") {
  CHECK(parse_duration("7ns") == Duration{7});
  CHECK(parse_duration("1500us") == Duration{1500us});
  CHECK(parse_duration("10ms") == Duration{10ms});
  CHECK(parse_duration("3s") == Duration{3s});
  CHECK(parse_duration("0ns") == Duration{0});
  CHECK(parse_duration("9223372036854775807ns") == Duration::max());
}

TEST_CASE("a duration with a blank or a fraction is told as it is written") {
  const auto [text, right] = GENERATE(table<const char*, std::string>({
      {"10 ms", "10ms"},
      {" 10ms", "10ms"},
      {"1.5ms", "1500us"},
      {"0.25 s ", "250ms"},
      {".5us", "500ns"},
      {"2.000ms", "2ms"},
      {"0.123456789s", "123456789ns"},
  }));
  CHECK(duration_hint(text) == "; a duration has no blank and no fraction: write " + right);
  for (const char* other : {"10ms", "", " ", ".", "ms", ". ms", "10", "1.5", "1.5ns", "1.2.3ms", "1,5ms", "10 min",
                            "1 0 ms", "0.0ms", "-1 ms", "0.1234567890s", "99999999999999999999 s"})
    CHECK(duration_hint(other).empty());
}

TEST_CASE("a duration is spelt shortest and read back the same") {
  CHECK(to_string(1500us) == "1500us");
  CHECK(to_string(10ms) == "10ms");
  CHECK(to_string(2s) == "2s");
  CHECK(to_string(1ns) == "1ns");
  CHECK(to_string(0ns) == "0ns");
  for (const Duration duration : {Duration{1}, Duration{1001}, Duration{5'000'000}, Duration{3600s}, Duration::max()})
    CHECK(parse_duration(to_string(duration)) == duration);
}

// Error paths.

TEST_CASE("a fault names the field and the value found") {
  Contract contract = sound;
  SECTION("period") {
    contract.period = 2h;
    CHECK(mentions(fault_in(contract), "period T = 7200s"));
  }
  SECTION("deadline") {
    contract.deadline = 0ns;
    CHECK(mentions(fault_in(contract), "deadline D = 0ns"));
  }
  SECTION("budget") {
    contract.budget = 9ms;
    CHECK(mentions(fault_in(contract), "budget C = 9ms"));
    CHECK(mentions(fault_in(contract), "D = 8ms"));
  }
  SECTION("jitter") {
    contract.jitter = 8ms;
    CHECK(mentions(fault_in(contract), "jitter J = 8ms"));
  }
  SECTION("suspension") {
    contract.suspension = 7ms;
    CHECK(mentions(fault_in(contract), "suspension S = 7ms"));
  }
}

TEST_CASE("text that is no duration is nothing") {
  for (const char* text : {"", "ns", "10", "10 ms", " 10ms", "10ms ", "-1ms", "+1ms", "1.5ms", "10min", "10MS", "0x1s",
                           "9223372036854775808ns", "18446744073709551616ns", "9223372037s"})
    CHECK_FALSE(parse_duration(text));
}

TEST_CASE("a contract names what is wrong with its resources") {
  const auto with = [](std::array<ResourceUse, max_uses> uses, Duration suspension = {}) {
    const Contract c{.period = 10ms, .deadline = 10ms, .budget = 2ms, .suspension = suspension, .uses = uses};
    CHECK(is_sound(c) == !fault_of(c));
    return fault_of(c).value_or("sound");
  };
  const ResourceId a{7};
  CHECK(with({{{a, 2ms}}}) == "sound");
  CHECK(with({{{}, {a, 1ns}, {}, {ResourceId{8}, 1ms}}}) == "sound");
  CHECK(with({{{a, 2ms + 1ns}}}) == "the longest section of uses[0] = 2000001ns is outside 0 < L <= C = 2ms");
  CHECK(with({{{a, 0ms}}}) == "the longest section of uses[0] = 0ns is outside 0 < L <= C = 2ms");
  CHECK(with({{{a, 1ms}, {a, 1ms}}}) == "uses[1] is the resource of uses[0], too");
  CHECK(with({{{no_resource, 1ms}}}) == "uses[0] = 1ms names no resource");
  CHECK(with({{{a, 1ms}}}, 1ms) == "suspension S = 1ms is not possible for a task that locks resources; use S = 0");
}
