#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/any/containers.h"
#include "orb/any/desc_of.h"
#include "orb/any/make_type.h"
#include "orb/any/type_codec.h"
#include "orb/base/minor.h"

namespace type_test {

using namespace corelane;
using any::Kind;
using any::MemberDesc;
using any::TypeCode;
using any::TypeDesc;
using cdr::Reader;
using cdr::Writer;

namespace {

namespace basic = any::basic;

constexpr MemberDesc colours[] = {{"red"}, {"green"}};
constexpr TypeDesc colour{.kind = Kind::enumeration, .id = "IDL:Colour:1.0", .name = "Colour", .members = colours};
constexpr TypeDesc count{.kind = Kind::alias, .id = "IDL:Count:1.0", .name = "Count", .content = &basic::long_};
constexpr TypeDesc counts{.kind = Kind::sequence, .content = &count, .length = 7};
constexpr TypeDesc grid{.kind = Kind::array, .content = &counts, .length = 3};
constexpr TypeDesc price{.kind = Kind::fixed, .digits = 9, .scale = 2};
constexpr TypeDesc short_text{.kind = Kind::string, .length = 5};
constexpr TypeDesc echo{.kind = Kind::objref, .id = "IDL:Echo:1.0", .name = "Echo"};
constexpr MemberDesc point_members[] = {{"x", &basic::double_}, {"colour", &colour}, {"other", &colour},
                                        {"grid", &grid},        {"price", &price},   {"text", &short_text},
                                        {"echo", &echo}};
constexpr TypeDesc point{.kind = Kind::structure, .id = "IDL:Point:1.0", .name = "Point", .members = point_members};
constexpr MemberDesc choices[] = {{"a", &basic::long_, 1}, {"b", &basic::string, -3}, {"c", &basic::any}};
constexpr TypeDesc choice{.kind = Kind::union_,
                          .id = "IDL:U:1.0",
                          .name = "U",
                          .members = choices,
                          .content = &basic::short_,
                          .default_index = 2};
constexpr MemberDesc state[] = {{"hidden", &basic::octet, 0, 0}, {"open", &basic::wstring, 0, 1}};
constexpr TypeDesc base_value{.kind = Kind::value, .id = "IDL:B:1.0", .name = "B", .members = state};
constexpr TypeDesc value{
    .kind = Kind::value, .id = "IDL:V:1.0", .name = "V", .members = state, .content = &base_value, .modifier = 3};

// struct Node { string name; sequence<Node> children; }
extern const TypeDesc node;
constexpr TypeDesc nodes{.kind = Kind::sequence, .content = &node};
constexpr MemberDesc node_members[] = {{"name", &basic::string}, {"children", &nodes}};
constexpr TypeDesc node{.kind = Kind::structure, .id = "IDL:Node:1.0", .name = "Node", .members = node_members};

const TypeDesc* any_type() {
  return GENERATE(&basic::null, &basic::void_, &basic::longlong, &basic::longdouble, &basic::any, &basic::type_code,
                  &basic::object, &basic::wstring, &colour, &count, &counts, &grid, &price, &short_text, &point,
                  &choice, &value, &node);
}

std::vector<std::byte> wire_of(const TypeCode& type, ByteOrder order = native_order, std::size_t offset = 0) {
  Writer writer(order, offset);
  encode(writer, type);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

TypeCode read(const std::vector<std::byte>& wire, ByteOrder order = native_order, std::size_t offset = 0) {
  Reader reader(wire, order, offset);
  TypeCode type;
  REQUIRE(decode(reader, type));
  CHECK(reader.remaining() == 0);
  return type;
}

std::uint32_t refusal(const Writer& writer) {
  Reader reader(writer.bytes());
  TypeCode type;
  CHECK_FALSE(decode(reader, type));
  return reader.minor();
}

constexpr std::uint32_t indirection = 0xffff'ffff;
std::uint32_t number(Kind kind) { return static_cast<std::uint32_t>(kind); }

// Writes the head of a type with members: its kind, and an encapsulation that opens with id and name.
Writer::Encapsulation open(Writer& writer, Kind kind, std::string_view id = "IDL:X:1.0") {
  writer.write(number(kind));
  const auto mark = writer.begin_encapsulation();
  writer.write_string(id);
  writer.write_string("X");
  return mark;
}

}  // namespace

TEST_CASE("every TypeCode comes back equal from both byte orders and any alignment") {
  const TypeDesc* type = any_type();
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little})
    for (std::size_t offset = 0; offset < 8; ++offset) {
      const TypeCode out = read(wire_of(*type, order, offset), order, offset);
      CHECK(equal(*out, *type));
      CHECK(equivalent(*out, *type));
    }
}

TEST_CASE("a union without a default member is read whatever negative number says so") {
  const std::int32_t none = GENERATE(-1, -2, -7);
  Writer writer;
  const auto mark = open(writer, Kind::union_);
  writer.write(number(Kind::boolean));
  writer.write(none);
  writer.write(std::uint32_t{2});
  for (const bool label : {false, true}) {
    writer.write(label);
    writer.write_string(label ? "yes" : "no");
    writer.write(number(Kind::long_));
  }
  writer.end_encapsulation(mark);
  const TypeCode type = read(writer.to_vector());
  CHECK(type->default_index == -1);
  CHECK(type->members.size() == 2);
  CHECK(equal(*read(wire_of(type)), *type));
}

TEST_CASE("a TypeCode that arrived is written like the one it came from") {
  const TypeDesc* type = any_type();
  CHECK(wire_of(read(wire_of(*type))) == wire_of(*type));
}

TEST_CASE("a recursive type is read as a circle") {
  const TypeCode out = read(wire_of(node));
  CHECK(out->members[1].type->content == &*out);
}

TEST_CASE("a type written twice is an indirection the second time") {
  const TypeCode out = read(wire_of(point));
  CHECK(out->members[1].type == out->members[2].type);
}

TEST_CASE("an enum's TypeCode may have names of length 0") {
  Writer writer;
  const auto mark = open(writer, Kind::enumeration);
  writer.write(std::uint32_t{3});
  for (int i = 0; i < 3; ++i) writer.write(std::uint32_t{0});
  writer.end_encapsulation(mark);
  const TypeCode type = read(writer.to_vector());
  REQUIRE(type->members.size() == 3);
  CHECK(type->members[2].name.empty());
}

TEST_CASE("an indirection may lead to any TypeCode with a list of parameters") {
  const Kind kind = GENERATE(Kind::sequence, Kind::array, Kind::alias);
  Writer writer;
  const auto mark = open(writer, Kind::structure, "IDL:Pair:1.0");
  writer.write(std::uint32_t{2});
  writer.write_string("first");
  writer.align(4);
  const auto first = static_cast<std::int32_t>(writer.size());
  writer.write(number(kind));
  const auto inner = writer.begin_encapsulation();
  if (kind == Kind::alias) {
    writer.write_string("IDL:A:1.0");
    writer.write_string("A");
  }
  writer.write(number(Kind::long_));
  if (kind != Kind::alias) writer.write(std::uint32_t{3});
  writer.end_encapsulation(inner);
  writer.write_string("second");
  writer.write(indirection);
  writer.write(first - static_cast<std::int32_t>(writer.size()));
  writer.end_encapsulation(mark);
  const TypeCode type = read(writer.to_vector());
  REQUIRE(type->members.size() == 2);
  CHECK(type->members[1].type == type->members[0].type);
  CHECK(type->members[1].type->kind == kind);
}

TEST_CASE("the parts of a TypeCode outlive it") {
  TypeCode content;
  {
    const TypeCode out = read(wire_of(grid));
    content = out.part(*out->content);
  }
  CHECK(equal(*content, counts));
}

TEST_CASE("equal looks at names and aliases and equivalent does not") {
  CHECK_FALSE(equal(count, basic::long_));
  CHECK(equivalent(count, basic::long_));
  const TypeCode renamed = any::make_type({.kind = Kind::enumeration, .id = "IDL:Colour:1.0", .name = "Other"});
  CHECK_FALSE(equal(colour, *renamed));
  CHECK(equivalent(colour, *renamed));
  CHECK_FALSE(equivalent(colour, node));
  CHECK_FALSE(equivalent(short_text, basic::string));
  CHECK_FALSE(equivalent(counts, any::sequence_desc<std::int32_t>));
}

TEST_CASE("types of C++ have their TypeCode at compile time") {
  CHECK(any::desc_of<std::vector<std::int16_t>>->content == &basic::short_);
  static_assert(any::desc_of<std::array<std::array<float, 3>, 2>>->content->length == 3);
  static_assert(!any::Described<std::vector<int*>>);
  CHECK(any::desc_of<std::map<std::string, bool>>->content->members[1].type == &basic::boolean);
}

// Types made at run time.

TEST_CASE("a type made at run time equals the generated one") {
  const TypeCode made =
      any::make_type({.kind = Kind::structure,
                      .id = "IDL:Node:1.0",
                      .name = "Node",
                      .members = {{"name", basic::string},
                                  {"children", any::make_type({.kind = Kind::sequence,
                                                               .content = any::recursive_type("IDL:Node:1.0"),
                                                               .has_content = true})}}});
  CHECK(any::is_complete(*made));
  CHECK(equal(*made, node));
  CHECK(wire_of(made) == wire_of(node));
}

TEST_CASE("a recursive type without its enclosing type is not written") {
  const TypeCode waiting = any::recursive_type("IDL:Node:1.0");
  CHECK_FALSE(any::is_complete(*waiting));
  Writer writer;
  encode(writer, waiting);
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().kind == ErrorKind::bad_typecode);
}

TEST_CASE("a compact TypeCode has no names and is equivalent") {
  const TypeCode small = compact(node);
  CHECK(small->members[0].name.empty());
  CHECK(equivalent(*small, node));
  CHECK(small->members[1].type->content == &*small);
}

// Error paths.

TEST_CASE("unknown kinds are refused") {
  const auto kind = GENERATE(as<std::uint32_t>{}, any::kinds, 13, 0xfffffffe);
  CAPTURE(kind);
  Writer writer;
  writer.write(kind);
  writer.write(std::uint32_t{0});
  CHECK(refusal(writer) == minor::bad_typecode);
}

TEST_CASE("indirections to nowhere are refused") {
  const std::int32_t offset = GENERATE(0, 4, -4, -5, -6, -8, -1000, INT32_MIN, INT32_MAX);
  Writer writer;
  writer.write(number(Kind::sequence));
  const auto mark = writer.begin_encapsulation();
  writer.write(indirection);
  writer.write(offset);
  writer.write(std::uint32_t{0});
  writer.end_encapsulation(mark);
  CHECK(refusal(writer) == minor::bad_indirection);
}

TEST_CASE("an alias of itself is refused") {
  Writer writer;
  const auto mark = open(writer, Kind::alias);
  writer.write(indirection);
  const auto here = static_cast<std::int32_t>(writer.size());
  writer.write(-here);
  writer.end_encapsulation(mark);
  CHECK(refusal(writer) == minor::bad_typecode);
}

TEST_CASE("16000 nested sequences are refused at the 64th level") {
  // Built from the inside out: the length of an encapsulation is known only after its content.
  std::vector<std::byte> bytes;
  for (int level = 0; level < 16'000; ++level) {
    Writer head;
    head.write(number(Kind::sequence));
    head.write(static_cast<std::uint32_t>(bytes.size() + 8));
    head.write(std::uint32_t{1});  // the byte order, padded
    bytes.insert(bytes.begin(), head.bytes().begin(), head.bytes().end());
    bytes.resize(bytes.size() + 4);
  }
  Reader reader(bytes);
  TypeCode type;
  CHECK_FALSE(decode(reader, type));
  CHECK(reader.minor() == minor::too_deep);
}

TEST_CASE("more members than bytes or than the limit are refused") {
  const std::uint32_t members = GENERATE(0xffff'ffffU, 1000U);
  Writer writer;
  const auto mark = open(writer, Kind::structure);
  writer.write(members);
  writer.end_encapsulation(mark);
  CHECK(refusal(writer) == minor::sequence_too_long);
}

TEST_CASE("a TypeCode with more members than the limit is refused") {
  Writer writer;
  const auto mark = open(writer, Kind::enumeration);
  writer.write_length(any::most_nodes + 1);
  for (std::size_t i = 0; i <= any::most_nodes; ++i) writer.write_string("e");
  writer.end_encapsulation(mark);
  CHECK(refusal(writer) == minor::too_many_nodes);
}

TEST_CASE("a union's discriminator must be one and its default index must fit") {
  const auto [kind, index] =
      GENERATE(table<Kind, std::int32_t>({{Kind::double_, -1}, {Kind::any, -1}, {Kind::long_, 0}, {Kind::long_, 1}}));
  Writer writer;
  const auto mark = open(writer, Kind::union_);
  writer.write(number(kind));
  writer.write(index);
  writer.write(std::uint32_t{0});
  writer.end_encapsulation(mark);
  CHECK(refusal(writer) == minor::bad_typecode);
}

TEST_CASE("a union with the same label twice is refused, but for the label of the default member") {
  const auto [first, default_index, is_refused] =
      GENERATE(table<std::int32_t, std::int32_t, bool>({{7, -1, true}, {7, 0, false}, {7, 2, true}, {8, -1, false}}));
  Writer writer;
  const auto mark = open(writer, Kind::union_);
  writer.write(number(Kind::long_));
  writer.write(default_index);
  writer.write(std::uint32_t{3});
  for (const std::int32_t label : {first, 7, -9}) {
    writer.write(label);
    writer.write_string("");
    writer.write(number(Kind::long_));
  }
  writer.end_encapsulation(mark);
  if (is_refused) {
    CHECK(refusal(writer) == minor::bad_typecode);
  } else {
    CHECK(read(writer.to_vector())->members.size() == 3);
  }
}

// Each value that is read follows the chain, so long chains would multiply the work.
TEST_CASE("a chain of more than 64 aliases or bases is refused") {
  const auto [kind, length] = GENERATE(table<Kind, int>(
      {{Kind::alias, 64}, {Kind::alias, 65}, {Kind::value, 63}, {Kind::value, 64}, {Kind::value, 65}}));
  CAPTURE(static_cast<int>(kind), length);
  Writer writer;
  const auto outer = open(writer, Kind::structure);
  writer.write_length(static_cast<std::size_t>(length));
  std::int64_t last = -1;
  for (int i = 0; i < length; ++i) {  // each member's type refers to that of the member before
    writer.write_string("");
    while (writer.size() % 4 != 0) writer.write(std::uint8_t{0});
    const auto at = static_cast<std::int64_t>(writer.size());
    const auto mark = open(writer, kind);
    if (kind == Kind::value) writer.write(std::int16_t{0});
    if (last < 0) {
      writer.write(number(kind == Kind::value ? Kind::null : Kind::long_));
    } else {
      writer.write(indirection);
      writer.write(static_cast<std::int32_t>(last - static_cast<std::int64_t>(writer.size())));
    }
    if (kind == Kind::value) writer.write_length(0);
    writer.end_encapsulation(mark);
    last = at;
  }
  writer.end_encapsulation(outer);
  if (length > 64) {
    CHECK(refusal(writer) == minor::bad_typecode);
  } else {
    CHECK(read(writer.to_vector())->members.size() == static_cast<std::size_t>(length));
  }
}

TEST_CASE("a union that is its own discriminator is refused") {
  Writer writer;
  const auto mark = open(writer, Kind::union_);
  writer.write(indirection);
  const auto here = static_cast<std::int32_t>(writer.size());
  writer.write(-here);
  writer.end_encapsulation(mark);
  CHECK(refusal(writer) == minor::bad_typecode);
}

TEST_CASE("impossible digits are refused") {
  const auto [digits, scale] = GENERATE(table<std::uint16_t, std::int16_t>({{0, 0}, {32, 0}, {5, 6}, {5, -1}}));
  Writer writer;
  writer.write(number(Kind::fixed));
  writer.write(digits);
  writer.write(scale);
  CHECK(refusal(writer) == minor::bad_typecode);
}

TEST_CASE("a TypeCode cut short anywhere is refused") {
  const std::vector<std::byte> wire = wire_of(value);
  for (std::size_t size = 0; size < wire.size(); ++size) {
    Reader reader(Bytes(wire).first(size));
    TypeCode type;
    if (decode(reader, type)) FAIL("accepted " << size << " bytes");
  }
}

}  // namespace type_test
