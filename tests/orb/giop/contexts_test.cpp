#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/giop/code_sets.h"
#include "orb/giop/corelane_contexts.h"
#include "tests/support/bytes/wire.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::testing;
using test::wire;

namespace {

Duration any_time(Draw& draw) {
  return Duration{static_cast<std::int64_t>(draw.below(std::numeric_limits<std::int64_t>::max()))};
}

ChainContext chain_of(std::initializer_list<std::uint64_t> waits) {
  ChainContext chain;
  for (const std::uint64_t wait : waits) chain.push(wait);
  return chain;
}

ChainContext any_chain(Draw& draw) {
  ChainContext chain;
  do chain.push(draw.number());
  while (draw.flag() && chain.count < ChainContext::most);
  return chain;
}

std::vector<std::byte> copy_of(Bytes bytes) { return {bytes.begin(), bytes.end()}; }

// Checks that every shorter context is refused.
template <typename Bytes_, typename Decode>
void check_truncations(const Bytes_& bytes, std::size_t end, Decode&& decode) {
  for (std::size_t size = 0; size < end; ++size)
    CHECK_FALSE(decode(std::vector<std::byte>(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size))));
}

}  // namespace

TEST_CASE("contract contexts come back as they went") {
  CHECK(holds([](Draw& draw) {
    ContractContext context{TaskId{draw.number()}, JobId{draw.number()}, std::nullopt, any_time(draw)};
    if (draw.flag())
      context.contract = Contract{
          any_time(draw) / 2 + Duration{1}, any_time(draw),       any_time(draw), any_time(draw), any_time(draw),
          draw.any<std::int16_t>(),         OverrunPolicy::cancel};
    for (std::size_t i = 0; context.contract && i < draw.below(max_uses + 1); ++i)
      context.contract->uses[i] = {ResourceId{draw.any<std::uint32_t>() | 1}, any_time(draw)};
    if (context.contract && draw.flag()) context.contract->intensity = draw.any<std::uint16_t>();
    if (draw.flag()) context.time_left = Duration::max();
    const auto out = decode_contract(encode_contract(context));
    expect(out.has_value(), "it is understood");
    expect(*out == context, "it is the same");
  }));
}

TEST_CASE("a contract without resources stays of version 1 and one with them appends to it") {
  Contract contract = make_contract(Duration{10'000'000}, Duration{1'000'000});
  const auto bare = copy_of(encode_contract({.contract = contract}));
  CHECK(bare.size() == 80);
  CHECK(bare[1] == std::byte{1});
  contract.uses[1] = use_of("bus", Duration{200'000});  // the gap before it is closed
  const auto locking = copy_of(encode_contract({.contract = contract}));
  CHECK(locking.size() == 104);
  CHECK(locking[1] == std::byte{2});
  const auto out = decode_contract(locking);
  REQUIRE(out);
  CHECK(out->contract->uses[0] == use_of("bus", Duration{200'000}));
  CHECK(out->contract->uses[1] == ResourceUse{});
}

TEST_CASE("a contract with an intensity has version 3 and the resources where version 2 has them") {
  Contract contract = make_contract(Duration{10'000'000}, Duration{1'000'000});
  contract.intensity = 300;
  const auto bare = copy_of(encode_contract({.contract = contract}));
  CHECK(bare.size() == 88);
  CHECK(bare[1] == std::byte{3});
  CHECK(decode_contract(bare)->contract == contract);
  check_truncations(bare, 86, [](Bytes b) { return decode_contract(b).has_value(); });
  contract.uses[0] = use_of("bus", Duration{200'000});
  auto locking = copy_of(encode_contract({.contract = contract}));
  CHECK(locking.size() == 104);
  CHECK(decode_contract(locking)->contract == contract);
  locking[1] = std::byte{2};  // as a server reads it that knows version 2
  contract.intensity = 0;
  CHECK(decode_contract(locking)->contract == contract);
}

TEST_CASE("a recorded contract context of the other byte order is understood") {
  const auto bytes = wire(
      "00 01 000000000000 0000000000000007 0000000000000003 0000000000989680 00000000007a1200 000000000016e360"
      "00000000000f4240 0000000000000000 fffe 01 0000000000 ffffffffffffffff");
  const auto out = decode_contract(bytes);
  REQUIRE(out);
  CHECK(out->task == TaskId{7});
  CHECK(out->job == JobId{3});
  REQUIRE(out->contract);
  CHECK(*out->contract == Contract{Duration{10'000'000},
                                   Duration{8'000'000},
                                   Duration{1'500'000},
                                   Duration{1'000'000},
                                   {},
                                   -2,
                                   OverrunPolicy::demote});
  CHECK(out->time_left == Duration::max());
}

TEST_CASE("refusal, chain and priority contexts come back as they went") {
  CHECK(holds([](Draw& draw) {
    const RefusalContext refusal{draw.any<std::uint32_t>(),
                                 CoreId{draw.any<std::int16_t>()},
                                 Duration::max(),
                                 any_time(draw),
                                 any_time(draw),
                                 any_time(draw),
                                 any_time(draw),
                                 draw.any<std::uint32_t>(),
                                 any_time(draw),
                                 any_time(draw)};
    expect(*decode_refusal(encode_refusal(refusal)) == refusal, "the refusal is the same");
    const ChainContext chain = any_chain(draw);
    expect(std::ranges::equal(decode_chain(encode_chain(chain))->all(), chain.all()), "the chain is the same");
    const auto priority = draw.any<std::int16_t>();
    expect(*decode_rt_priority(encode_rt_priority(priority)) == priority, "the priority is the same");
  }));
}

TEST_CASE("the priority context is laid out as the standard says") {
  CHECK(*decode_rt_priority(wire("00 00 1234")) == 0x1234);
  CHECK(*decode_rt_priority(wire("01 00 3412")) == 0x1234);
}

TEST_CASE("a context of a later version may be longer") {
  auto bytes = test::copy_of(encode_chain(chain_of({5, 6})));
  bytes[1] = std::byte{9};
  bytes.resize(40);
  CHECK(std::ranges::equal(decode_chain(bytes)->all(), chain_of({5, 6}).all()));
}

TEST_CASE("a chain has one wait at least and as many as fit at most") {
  ChainContext chain;
  CHECK_FALSE(decode_chain(encode_chain(chain)));
  while (chain.push(7)) CHECK(decode_chain(encode_chain(chain)));
  CHECK(chain.count == ChainContext::most);
  auto bytes = test::copy_of(encode_chain(chain));
  bytes.resize(bytes.size() + 8);
  ++chain.count;
  std::memcpy(&bytes[4], &chain.count, sizeof chain.count);
  CHECK(decode_chain(bytes).error() == Error{ErrorKind::marshal, Completion::no, minor::too_many_items});
}

TEST_CASE("detail messages come back as they went") {
  for (const std::string text : {"", "plain", "gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac", "\xf0\x9f\x98\x80!"})
    CHECK(*decode_detail(encode_detail(text)) == text);
}

TEST_CASE("a detail message is UTF-16 that is big endian unless it has a mark") {
  CHECK(*decode_detail(wire("00 000000 00000004 0048 0069")) == "Hi");
  CHECK(*decode_detail(wire("01 000000 04000000 0048 0069")) == "Hi");
  CHECK(*decode_detail(wire("00 000000 00000006 feff 0048 0069")) == "Hi");
  CHECK(*decode_detail(wire("00 000000 00000006 fffe 4800 6900")) == "Hi");
}

TEST_CASE("malformed text in a detail message becomes a replacement character") {
  CHECK(*decode_detail(wire("00 000000 00000004 d800 0041")) ==
        "\xef\xbf\xbd"
        "A");
  CHECK(*decode_detail(wire("00 000000 00000003 0041 00")) == "A");
  CHECK(*decode_detail(encode_detail("\xff"
                                     "A\xc3")) ==
        "\xef\xbf\xbd"
        "A\xef\xbf\xbd");
}

// Error paths.

TEST_CASE("every truncation of a context is refused") {
  check_truncations(copy_of(encode_contract({})), 80, [](Bytes b) { return decode_contract(b).has_value(); });
  Contract locking;
  locking.uses = {use_of("bus", Duration{1}), use_of("log", Duration{2})};
  check_truncations(copy_of(encode_contract({.contract = locking})), 116,
                    [](Bytes b) { return decode_contract(b).has_value(); });
  check_truncations(encode_refusal({}), refusal_size, [](Bytes b) { return decode_refusal(b).has_value(); });
  check_truncations(copy_of(encode_chain(chain_of({1, 2}))), 24, [](Bytes b) { return decode_chain(b).has_value(); });
  check_truncations(encode_rt_priority(1), 4, [](Bytes b) { return decode_rt_priority(b).has_value(); });
  check_truncations(encode_code_sets({}), 12, [](Bytes b) { return decode_code_sets(b).has_value(); });
  const auto detail = encode_detail("text");
  check_truncations(detail, detail.size(), [](Bytes b) { return decode_detail(b).has_value(); });
}

TEST_CASE("a refusal of version 1 says nothing of other processes") {
  const auto whole = encode_refusal({.reason = 1, .closest = CoreId{2}, .others = 600'000});
  std::vector<std::byte> bytes(whole.begin(), whole.begin() + 56);
  bytes[1] = std::byte{1};
  const auto old = decode_refusal(bytes);
  REQUIRE(old);
  CHECK(old->closest == CoreId{2});
  CHECK(old->others == 0);
}

TEST_CASE("a refusal of version 2 proposes no jitter") {
  const auto whole = encode_refusal({.reason = 1, .others = 600'000, .nearest_jitter = Duration{5}});
  std::vector<std::byte> bytes(whole.begin(), whole.begin() + 60);
  bytes[1] = std::byte{2};
  const auto old = decode_refusal(bytes);
  REQUIRE(old);
  CHECK(old->others == 600'000);
  CHECK(old->nearest_jitter == Duration::zero());
}

TEST_CASE("contexts refuse version 0 and times that no clock counts") {
  auto bytes = copy_of(encode_contract({}));
  SECTION("version") { bytes[1] = std::byte{0}; }
  SECTION("time") {
    const std::uint64_t time = std::uint64_t{1} << 63;
    std::memcpy(&bytes[72], &time, sizeof time);
  }
  CHECK(decode_contract(bytes).error().minor == minor::bad_encapsulation);
}

TEST_CASE("a contract context refuses an unknown overrun policy") {
  auto bytes = copy_of(encode_contract({}));
  bytes[66] = std::byte{3};
  CHECK(decode_contract(bytes).error().minor == minor::bad_enum);
}

TEST_CASE("a contract context refuses more resources than a contract has") {
  Contract locking;
  locking.period = Duration{1};
  locking.uses[0] = use_of("bus", Duration{1});
  auto bytes = copy_of(encode_contract({.contract = locking}));
  const std::uint32_t count = 5;
  std::memcpy(&bytes[80], &count, sizeof count);
  CHECK(decode_contract(bytes).error().minor == minor::too_many_items);
}

TEST_CASE("a code set component with a length bomb is refused") {
  CHECK_FALSE(parse_code_sets(wire("00 000000 00010001 ffffffff 00000000 00000000")));
}
