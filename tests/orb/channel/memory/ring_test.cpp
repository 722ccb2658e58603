// Tests the ring alone, in plain memory: what the writer puts in, and what the reader makes of it.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "orb/channel/memory/chunk_pool.h"
#include "orb/channel/memory/ring_reader.h"
#include "orb/channel/memory/ring_writer.h"
#include "tests/support/channel_pair.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr std::uint32_t slots = 64;

class Ring {
 public:
  std::vector<Slot> memory = std::vector<Slot>(slots);
  std::unique_ptr<Control> page = std::make_unique<Control>();
  RingWriter writer{memory.data(), RingGeometry(slots), *page};
  RingReader reader{memory.data(), RingGeometry(slots), *page};

  Put put(std::string_view text, RecordKind kind = RecordKind::message) {
    const Bytes part = as_bytes(text);
    return writer.put(kind, {&part, 1}, text.size());
  }
  std::optional<std::string> take() {
    if (reader.peek() != Look::record) return std::nullopt;
    std::string text = as_text(reader.front().payload);
    reader.pop();
    return text;
  }
  // The short ways for small messages, which make no call.
  bool put_short(std::string_view text) { return writer.put_short(as_bytes(text)); }
  std::optional<std::string> take_short(std::size_t room = Slot::payload_size) {
    std::string text(room, '?');
    const auto size = reader.take_short(std::as_writable_bytes(std::span(text)));
    return size ? std::optional(text.substr(0, *size)) : std::nullopt;
  }
  void spoil(std::uint64_t length, std::uint64_t kind) {
    memory[0].kind = kind;
    memory[0].commit = std::uint64_t{1} << 32 | length;
  }
};

// Returns payload that looks like commit words of the next lap. The reader must never take it for one.
std::string looks_like_records(std::size_t size, std::uint32_t lap) {
  std::string text(size, '\0');
  const std::uint64_t word = std::uint64_t{lap} << 32 | 8;
  for (std::size_t at = 0; at + 8 <= size; at += 8) std::memcpy(&text[at], &word, 8);
  return text;
}

}  // namespace

TEST_CASE("a fresh ring holds nothing") { CHECK_FALSE(Ring().take()); }

TEST_CASE("records keep their order, their boundaries and their bytes at every length and place") {
  Ring ring;
  const std::size_t longest = RingGeometry(slots).longest_payload();
  for (std::size_t length = 0; length <= longest; length += length < 200 ? 1 : 37) {
    const std::string text = filled(length, static_cast<std::uint32_t>(length + 1));
    REQUIRE(ring.put(text) == Put::done);
    REQUIRE(ring.take() == text);
    REQUIRE(ring.put("next") == Put::done);
    REQUIRE(ring.take() == "next");
    REQUIRE_FALSE(ring.take());
  }
}

TEST_CASE("no lap is 0, also not after 2^32 of them") {
  const RingGeometry geometry(slots);
  constexpr std::uint64_t last = 0xffff'fffe;  // counted from 0
  CHECK(geometry.lap(0) == 1);
  CHECK(geometry.lap(slots - 1) == 1);
  CHECK(geometry.lap(slots) == 2);
  CHECK(geometry.lap(last * slots) == 0xffff'ffff);
  CHECK(geometry.lap((last + 1) * slots) == 1);
  CHECK(geometry.lap((last + 2) * slots) == 2);
}

TEST_CASE("small messages that go the short way and records that go the long one keep their order, lap after lap") {
  Ring ring;
  for (std::uint32_t i = 0; i < 20 * slots; ++i) {
    const std::string text = filled(i % (Slot::payload_size + 1), i);
    // put_short() works until a lap is used up.
    if (i % 3 == 0 || !ring.put_short(text)) REQUIRE(ring.put(text) == Put::done);
    if (i % 50 == 0) REQUIRE(ring.put(filled(300, i)) == Put::done);
    REQUIRE((i % 2 == 0 ? ring.take_short() : ring.take()) == text);
    CHECK(ring.page->claimed == ring.page->released);
    if (i % 50 == 0) {
      REQUIRE_FALSE(ring.take_short());  // the record is longer than one slot
      REQUIRE(ring.take() == filled(300, i));
    }
    REQUIRE_FALSE(ring.take_short());
  }
}

TEST_CASE("the short way takes nothing that needs the long one") {
  Ring ring;
  CHECK_FALSE(ring.put_short(std::string(Slot::payload_size + 1, 'x')));
  CHECK(ring.writer.position() == 0);
  while (ring.put_short("x")) {
  }
  CHECK(ring.writer.position() == slots - 1);  // one slot stays free
  CHECK_FALSE(ring.take_short(0));             // longer than the buffer, so it stays
  CHECK(ring.page->claimed == 0);
  CHECK(ring.take_short(1) == "x");
  REQUIRE(ring.reader.peek() == Look::record);
  CHECK_FALSE(ring.take_short());  // the record is being read
  ring.reader.pop();
  Ring loan;
  REQUIRE(loan.put(std::string(sizeof(LoanNote), 'n'), RecordKind::loan) == Put::done);
  CHECK_FALSE(loan.take_short());
  Ring spoilt;
  spoilt.spoil(0xffff'ffff, 1);
  CHECK_FALSE(spoilt.take_short());
}

TEST_CASE("a small message in front of what looks like a record of the next lap is alone") {
  Ring ring;
  REQUIRE(ring.put(looks_like_records(64 * 20, 2)) == Put::done);
  REQUIRE(ring.take());
  while (ring.writer.position() < slots) REQUIRE((ring.put("x") == Put::done && ring.take() == "x"));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(ring.put_short("y"));
    REQUIRE(ring.take_short() == "y");
    REQUIRE_FALSE(ring.take_short());
  }
}

TEST_CASE("a record of several parts arrives as one") {
  Ring ring;
  const Bytes parts[] = {as_bytes("one "), {}, as_bytes("message")};
  REQUIRE(ring.writer.put(RecordKind::message, parts, 11) == Put::done);
  CHECK(ring.take() == "one message");
}

TEST_CASE("a full ring says so, and takes more as soon as a record is released") {
  Ring ring;
  std::uint32_t count = 0;
  while (ring.put("x") == Put::done) ++count;
  CHECK(count == slots - 1);  // one slot stays free
  CHECK_FALSE(ring.writer.has_room(1));
  CHECK(ring.writer.has_room(slots * 64));  // so that the writer gets too_long and does not wait
  CHECK(ring.put("y") == Put::full);
  CHECK(ring.take() == "x");
  CHECK(ring.writer.has_room(1));
  CHECK(ring.put("y") == Put::done);
  CHECK(ring.put("y") == Put::full);
}

TEST_CASE("the longest record fits wherever the ring stands, and a longer one never") {
  for (std::uint32_t before = 0; before < slots; ++before) {
    Ring ring;
    for (std::uint32_t i = 0; i < before; ++i) {
      REQUIRE(ring.put("x") == Put::done);
      REQUIRE(ring.take() == "x");
    }
    const std::string longest = filled(RingGeometry(slots).longest_payload(), before);
    REQUIRE(ring.put(longest) == Put::done);
    REQUIRE(ring.put(longest + "x") == Put::too_long);
    REQUIRE(ring.take() == longest);
  }
}

TEST_CASE("a length that no memory has is too long, whatever it comes to in slots") {
  Ring ring;
  CHECK(ring.writer.put(RecordKind::message, {}, ~std::size_t{0}) == Put::too_long);
  CHECK(ring.writer.position() == 0);
}

TEST_CASE("payload that looks like records of the next lap is never taken for one") {
  Ring ring;
  for (std::uint32_t lap = 1; lap < 200; ++lap) {
    const std::string text = looks_like_records(100 + 64 * (lap % 20), lap + 1);
    REQUIRE(ring.put(text) == Put::done);
    REQUIRE(ring.take() == text);
    REQUIRE_FALSE(ring.take());
    while (ring.writer.position() / slots < lap) {
      REQUIRE(ring.put("x") == Put::done);
      REQUIRE(ring.take() == "x");
      REQUIRE_FALSE(ring.take());
    }
  }
}

TEST_CASE("the reader's claim covers a record before any thread uses it, not earlier") {
  Ring ring;
  REQUIRE(ring.put("x") == Put::done);
  const std::uint64_t first = ring.writer.position();
  REQUIRE(ring.put("y") == Put::done);
  CHECK(claimed_by(*ring.page) < first);
  REQUIRE(ring.reader.peek() == Look::record);
  CHECK(claimed_by(*ring.page) == first);
  CHECK(ring.page->released == 0);
}

TEST_CASE("a header that no writer writes spoils the ring") {
  const auto [length, kind] = GENERATE(table<std::uint64_t, std::uint64_t>({
      {RingGeometry(slots).longest_payload() + 1, 1},  // longer than any record
      {0xffff'ffff, 1},
      {0xffff'ffff, 2},
      {15, 2},  // not a note of a loan
      {17, 2},
      {8, 0},  // unknown kinds
      {8, 4},
      {8, ~std::uint64_t{0}},
  }));
  Ring ring;
  ring.spoil(length, kind);
  CHECK(ring.reader.peek() == Look::spoiled);
}

TEST_CASE("a record beyond the end of the ring spoils it") {
  Ring ring;
  for (std::uint32_t i = 0; i < slots - 1; ++i) ring.put("x"), ring.take();
  ring.memory[slots - 1].kind = 1;
  ring.memory[slots - 1].commit = std::uint64_t{1} << 32 | 49;
  CHECK(ring.reader.peek() == Look::spoiled);
}

TEST_CASE("padding that leads to padding spoils the ring") {
  Ring ring;
  ring.put("x"), ring.take();
  ring.memory[0].kind = ring.memory[1].kind = 3;
  ring.memory[1].commit = std::uint64_t{1} << 32;
  CHECK(ring.reader.peek() == Look::empty);  // it leads to the next lap
  ring.memory[0].commit = std::uint64_t{2} << 32;
  ring.memory[0].kind = 3;
  CHECK(ring.reader.peek() == Look::empty);
}

TEST_CASE("a reader's position that goes back or beyond the writer's spoils the ring") {
  const std::uint64_t position = GENERATE(std::uint64_t{0}, std::uint64_t{1000}, ~std::uint64_t{0});
  Ring ring;
  for (std::uint32_t i = 0; i < slots + 10; ++i) ring.put("x"), ring.take();
  ring.page->released = position;
  Put last = Put::done;
  for (std::uint32_t i = 0; i <= 2 * slots && last == Put::done; ++i) last = ring.put("x");
  CHECK(last == Put::spoiled);
}

TEST_CASE("a writer and a reader on two threads pass every record whole") {
  Ring ring;
  constexpr std::uint32_t records = 20'000;
  std::thread writer([&] {
    std::mt19937 random(1);
    for (std::uint32_t i = 0; i < records;) {
      const std::string text = filled(random() % 500, i);
      while (ring.put(text) == Put::full) std::this_thread::yield();
      ++i;
    }
  });
  std::mt19937 random(1);
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < records;) {
    const auto text = ring.take();
    if (!text) {
      std::this_thread::yield();
      continue;
    }
    wrong += *text != filled(random() % 500, i++) ? 1 : 0;
  }
  writer.join();
  CHECK(wrong == 0);
}

// ---- Chunks

namespace {

struct Lender {
  std::unique_ptr<Control> page = std::make_unique<Control>();
  ChunkPool pool{Shape{.slots = 64, .chunks = 8, .chunk_size = 4096}, *page};

  void give_back(std::uint32_t first) { ++page->returned[first]; }
};

}  // namespace

TEST_CASE("chunks are lent in runs that do not overlap until none fits") {
  Lender lender;
  CHECK(lender.pool.lend(1) == 0u);
  CHECK(lender.pool.lend(4097) == 1u);
  CHECK(lender.pool.lend(3 * 4096) == 3u);
  CHECK_FALSE(lender.pool.lend(3 * 4096));
  CHECK(lender.pool.lend(2 * 4096) == 6u);
  CHECK_FALSE(lender.pool.lend(1));
}

TEST_CASE("chunks that came back, in any order, are lent again") {
  Lender lender;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(lender.pool.lend(2 * 4096) == 2 * i);
    lender.give_back(4);
    lender.give_back(2);
    REQUIRE(lender.pool.lend(4 * 4096) == 2u);
    lender.give_back(2);
    lender.give_back(0);
    lender.give_back(6);
    REQUIRE(lender.pool.lend(8 * 4096) == 0u);
    lender.give_back(0);
  }
}

TEST_CASE("half a megabyte of chunks goes round, however large the pool is") {
  constexpr std::uint32_t size = 64 * 1024;
  const auto page = std::make_unique<Control>();
  ChunkPool pool(Shape{.slots = 64, .chunks = 32, .chunk_size = size}, *page);
  for (int round = 0; round < 3; ++round)
    for (std::uint32_t i = 0; i < 8; ++i) {
      REQUIRE(pool.lend(size) == i);
      ++page->returned[i];
    }
  for (int i = 0; i < 3; ++i) {  // more than half a megabyte at once: always the same chunk
    REQUIRE(pool.lend(16 * size) == 0u);
    ++page->returned[0];
  }
}

TEST_CASE("a loan that was never sent is free at once") {
  Lender lender;
  REQUIRE(lender.pool.lend(8 * 4096) == 0u);
  lender.pool.cancel(0);
  CHECK(lender.pool.lend(8 * 4096) == 0u);
}

TEST_CASE("no chunks are lent for nothing, nor for more than there are") {
  Lender lender;
  CHECK_FALSE(lender.pool.lend(0));
  CHECK_FALSE(lender.pool.lend(8 * 4096 + 1));
  CHECK_FALSE(lender.pool.lend(~std::uint64_t{0}));
}
