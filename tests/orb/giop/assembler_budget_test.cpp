// Tests the budget that the incomplete messages of many connections share.
#include <memory>

#include "orb/base/minor.h"
#include "tests/orb/giop/fed_stream.h"

using namespace corelane;
using namespace corelane::giop;
using namespace corelane::giop::fed;
using namespace std::chrono_literals;

TEST_CASE("half messages of all streams together stay within their budget") {
  const auto budget = std::make_shared<Budget>(std::size_t{116});
  Assembler one({}, Role::both, quota_of(budget)), other({}, Role::both, quota_of(budget));
  const auto feed = [](Assembler& to, Bytes bytes) { return to.next(bytes, start); };
  const Wire message = piece(0, 7, false, 100);  // 116 bytes
  REQUIRE(feed(one, Bytes(message).first(48)));
  CHECK(budget->used() == 48);
  REQUIRE(feed(other, Bytes(message).first(68)));
  CHECK(budget->used() == 116);
  const auto refused = feed(other, Bytes(message).subspan(68, 1));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::imp_limit);
  CHECK(refused.error().minor == minor::half_messages);
  CHECK(budget->used() == 48);
  const auto whole = feed(one, Bytes(message).subspan(48));
  REQUIRE(whole);
  CHECK(*whole);
}

TEST_CASE("a half message takes what has come of it, and all of that is counted") {
  const auto budget = std::make_shared<Budget>(std::size_t{1'000'000});
  Assembler stream({}, Role::both, quota_of(budget));
  const Wire message = piece(0, 7, false, 60'000);
  std::size_t most = 0;
  for (const std::byte& each : Bytes(message).first(message.size() - 1)) {
    Bytes one(&each, 1);
    REQUIRE(stream.next(one, start));
    if (budget->used() != stream.held_bytes() || budget->used() < stream.pending_bytes()) FAIL("not counted");
    most = std::max(most, budget->used());
  }
  CHECK(most == message.size() - 1);
}

TEST_CASE("an assembler that finds no room says which request needed it") {
  Wire message = wire("'GIOP' 0102 00 00 00002000 00000007 03 000000 0000 0000 00000001 'k' 000000 00000003 'op' 00");
  message.resize(1000);
  const auto budget = std::make_shared<Budget>(std::size_t{2000});
  const std::size_t known = GENERATE(16u, 17u, 900u);
  Assembler stream({}, Role::server, quota_of(budget));
  Bytes first = Bytes(message).first(known);
  REQUIRE(stream.next(first, start));
  const Wire more(3000);
  Bytes rest(more);
  REQUIRE_FALSE(stream.next(rest, start));
  REQUIRE(stream.refused().has_value() == (known > 16));
  if (known > 16) CHECK(stream.refused()->id == 7);
  if (known > 16) CHECK(stream.refused()->response_expected);
}

TEST_CASE("a stream that was dropped holds nothing") {
  const auto budget = std::make_shared<Budget>(std::size_t{1000});
  Assembler stream({}, Role::both, quota_of(budget));
  Bytes first = Bytes(first_1_2), half = Bytes(reply_1_2).first(14);
  REQUIRE(stream.next(first, start));
  REQUIRE(stream.next(half, start));
  stream.drop();
  CHECK(budget->used() == 0);
  CHECK(stream.held_bytes() == 0);
}

TEST_CASE("a stream gives back what its messages took") {
  const auto budget = std::make_shared<Budget>(std::size_t{1000});
  {
    Assembler stream({}, Role::both, quota_of(budget));
    const auto feed = [&](const Wire& bytes) {
      Bytes input(bytes);
      auto result = stream.next(input, start);
      while (result && *result) result = stream.next(input, start);
      return result.has_value();
    };
    SECTION("whole messages take nothing") {
      REQUIRE(feed(join({reply_1_2, close_1_2, reply_1_2})));
      CHECK(budget->used() == 0);
    }
    SECTION("after the last fragment") {
      REQUIRE(feed(first_1_2));
      CHECK(budget->used() == first_1_2.size());
      REQUIRE(feed(middle_1_2));
      REQUIRE(feed(last_1_2));
      CHECK(budget->used() == 0);
    }
    SECTION("after a cancellation") {
      REQUIRE(feed(first_1_2));
      REQUIRE(feed(wire("'GIOP' 0102 00 02 00000004 00000007")));
      CHECK(budget->used() == 0);
    }
    SECTION("after a fault") {
      REQUIRE(feed(first_1_2));
      CHECK_FALSE(feed(wire("'JUNK' 0102 00 02 00000004 00000007")));
      CHECK(budget->used() == 0);
    }
    SECTION("at its end") {
      REQUIRE(feed(Wire(reply_1_2.begin(), reply_1_2.end() - 1)));
      CHECK(budget->used() == reply_1_2.size() - 1);
    }
  }
  CHECK(budget->used() == 0);
}

TEST_CASE("fragments draw on the budget like any half message") {
  const auto budget = std::make_shared<Budget>(first_1_2.size() + 7);
  Assembler stream({}, Role::both, quota_of(budget));
  Bytes first(first_1_2), middle(middle_1_2);
  REQUIRE(stream.next(first, start));
  const auto refused = stream.next(middle, start);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().minor == minor::half_messages);
}
