// Tests damaged TypeCodes and Anys. Each is accepted or refused. What is accepted can be sent on, read back and
// printed. A sanitizer build checks the memory accesses.
#include <catch2/catch.hpp>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "orb/any/any.h"
#include "orb/any/make_type.h"
#include "orb/any/type_codec.h"
#include "orb/any/walk.h"
#include "tests/support/bytes/changing_bytes.h"

using namespace corelane;
using any::Any;
using any::Kind;
using any::TypeCode;
using cdr::Reader;
using cdr::Writer;

namespace {

namespace basic = any::basic;

TypeCode sequence_of(TypeCode content) {
  return any::make_type({.kind = Kind::sequence, .content = std::move(content), .has_content = true});
}

// A recursive union of structures, with arrays, strings, enumerators and Anys.
TypeCode rich_type() {
  const TypeCode colour = any::make_type(
      {.kind = Kind::enumeration, .id = "IDL:C:1.0", .name = "C", .members = {{.name = "red"}, {.name = "green"}}});
  const TypeCode leaf =
      any::make_type({.kind = Kind::structure,
                      .id = "IDL:L:1.0",
                      .name = "L",
                      .members = {{"text", basic::string},
                                  {"wide", basic::wstring},
                                  {"tint", colour},
                                  {"price", any::make_type({.kind = Kind::fixed, .digits = 4, .scale = 2})},
                                  {"more", basic::any}}});
  return any::make_type(
      {.kind = Kind::union_,
       .id = "IDL:U:1.0",
       .name = "U",
       .members = {{"leaf", leaf, 1},
                   {"children", sequence_of(any::recursive_type("IDL:U:1.0")), 2},
                   {"row", any::make_type({.kind = Kind::array, .content = colour, .has_content = true, .length = 3}),
                    0}},
       .content = basic::short_,
       .has_content = true,
       .default_index = 2});
}

void write_leaf(Writer& writer) {
  writer.write(std::int16_t{1});
  writer.write_string("text");
  encode(writer, std::wstring(L"wide"));
  writer.write(std::uint32_t{1});
  writer.write_block("\x01\x23\x4c", 3);
  encode(writer, TypeCode(basic::long_));
  writer.write(std::int32_t{7});
}

// Returns the bytes of an Any of that type, with two leaves and a row.
std::vector<std::byte> rich_any() {
  Writer writer;
  encode(writer, rich_type());
  writer.write(std::int16_t{2});
  writer.write_length(3);
  write_leaf(writer);
  write_leaf(writer);
  writer.write(std::int16_t{9});
  for (std::uint32_t i = 0; i < 3; ++i) writer.write(i % 2);
  return writer.to_vector();
}

// Returns whether the bytes are accepted. Checks that an accepted value can be sent on, read back and printed.
bool survives(const std::vector<std::byte>& wire) {
  Reader reader(wire);
  Any value;
  if (!decode(reader, value)) return false;
  Writer writer(ByteOrder::big, 3);
  encode(writer, value);
  if (!writer.ok()) return true;  // it is nested deeper than may be sent
  const std::vector<std::byte> sent = writer.to_vector();
  Reader again(sent, ByteOrder::big, 3);
  Any back;
  if (!decode(again, back)) FAIL("what was taken is refused when it is sent on");
  if (!equivalent(*back.type_code(), *value.type_code())) FAIL("the type changed on its way");
  std::ostringstream text;
  print(text, back);
  return true;
}

}  // namespace

TEST_CASE("a rich Any is whole before it is spoilt") { REQUIRE(survives(rich_any())); }

TEST_CASE("spoilt Anys are taken or refused, and what is taken can be sent on") {
  const std::vector<std::byte> whole = rich_any();
  std::minstd_rand random(20240117);
  int taken = 0;
  for (int round = 0; round < 4'000; ++round) {
    std::vector<std::byte> wire = whole;
    for (std::size_t hits = random() % 3 + 1; hits > 0; --hits) {
      static constexpr unsigned char likely[] = {0, 1, 2, 0xff, 0xfe, 0x7f, 0x80, 11, 15, 16, 19, 20, 21};
      const auto pick = static_cast<unsigned>(random());
      wire[random() % wire.size()] = std::byte(pick % 2 == 0 ? likely[pick / 2 % sizeof likely] : pick / 2 % 256);
    }
    if (random() % 4 == 0) wire.resize(random() % wire.size());
    taken += survives(wire) ? 1 : 0;
  }
  CHECK(taken > 100);  // the damage often leaves the TypeCode intact
}

TEST_CASE("an Any that is taken from memory that changes is whole from then on") {
  const std::vector<std::byte> whole = rich_any();
  testing::ChangingBytes changing(whole.size());
  while (changing.changes() == 0) std::this_thread::yield();
  int taken = 0, spoilt = 0;
  for (int round = 0; round < 5'000; ++round) {
    Reader reader(changing.put(whole));
    Any value;
    if (!decode(reader, value)) continue;
    ++taken;
    Writer writer;  // in the same byte order, so the bytes are sent as they are
    encode(writer, value);
    if (!writer.ok()) continue;
    const std::vector<std::byte> sent = writer.to_vector();
    Reader again(sent);
    spoilt += decode(again, value) ? 0 : 1;
  }
  CHECK(taken > 0);
  CHECK(spoilt == 0);
}
