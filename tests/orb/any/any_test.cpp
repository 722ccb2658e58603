#include "orb/any/any.h"

#include <catch2/catch.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "orb/any/make_type.h"
#include "orb/any/type_codec.h"
#include "orb/any/walk.h"
#include "orb/base/minor.h"
#include "orb/cdr/decimal.h"

namespace any_test {

using namespace corelane;
using any::Any;
using any::desc_of;
using any::Kind;
using any::MemberDesc;
using any::TypeCode;
using any::TypeDesc;
using cdr::Reader;
using cdr::Writer;

namespace {

namespace basic = any::basic;

struct Point {
  double x = 0;
  std::string label;
  friend bool operator==(const Point&, const Point&) = default;
};
void encode(Writer& writer, const Point& point) { encode(writer, point.x), encode(writer, point.label); }
bool decode(Reader& reader, Point& point) { return decode(reader, point.x) && decode(reader, point.label); }

constexpr MemberDesc point_members[] = {{"x", &basic::double_}, {"label", &basic::string}};
constexpr TypeDesc point{.kind = Kind::structure, .id = "IDL:Point:1.0", .name = "Point", .members = point_members};
constexpr MemberDesc colours[] = {{"red"}, {"green"}};
constexpr TypeDesc colour{.kind = Kind::enumeration, .id = "IDL:Colour:1.0", .name = "Colour", .members = colours};
constexpr MemberDesc choices[] = {{"tint", &colour, 1}, {"text", &basic::wstring, 2}};
constexpr TypeDesc choice{
    .kind = Kind::union_, .id = "IDL:U:1.0", .name = "U", .members = choices, .content = &basic::octet};
constexpr TypeDesc price{.kind = Kind::fixed, .digits = 4, .scale = 2};
constexpr TypeDesc count{.kind = Kind::alias, .id = "IDL:Count:1.0", .name = "Count", .content = &basic::long_};

template <typename T>
Any any_of(T value, const TypeDesc& type) {
  Any out;
  out.insert(std::move(value), type);
  return out;
}

std::vector<std::byte> wire_of(const Any& value, ByteOrder order, std::size_t offset = 0) {
  Writer writer(order, offset);
  encode(writer, value);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

Any read(const std::vector<std::byte>& wire, ByteOrder order, std::size_t offset = 0) {
  Reader reader(wire, order, offset);
  Any out;
  REQUIRE(decode(reader, out));
  CHECK(reader.remaining() == 0);
  return out;
}

std::string text(const Any& value) {
  std::ostringstream out;
  print(out, value);
  return out.str();
}

ByteOrder order() { return GENERATE(ByteOrder::big, ByteOrder::little); }
ByteOrder other(ByteOrder order) { return order == ByteOrder::big ? ByteOrder::little : ByteOrder::big; }

// Makes a value of a type that has no C++ type here, from its CDR.
template <typename... T>
Any from_cdr(const TypeDesc& type, const T&... parts) {
  Writer writer;
  (encode(writer, parts), ...);
  Reader reader(writer.bytes());
  Any out;
  REQUIRE(out.read_value(reader, type));
  REQUIRE(reader.remaining() == 0);
  return out;
}

}  // namespace

TEST_CASE("an Any gives back what was put in") {
  const Any value = any_of(Point{1.5, "a"}, point);
  Point out;
  REQUIRE(value.extract(out, point));
  CHECK(out == Point{1.5, "a"});
}

TEST_CASE("an Any holds no other type than its own") {
  const Any value = any_of(std::int32_t{7}, basic::long_);
  std::uint32_t other_sign = 1;
  CHECK_FALSE(value.extract(other_sign, basic::ulong));
  std::string string = "before";
  CHECK_FALSE(value.extract(string, basic::string));
  CHECK(string == "before");
  CHECK_FALSE(Any().extract(string, basic::string));
}

TEST_CASE("an alias of the type is the same type") {
  const Any value = any_of(std::int32_t{7}, count);
  std::int32_t out = 0;
  REQUIRE(value.extract(out, basic::long_));
  CHECK(out == 7);
  REQUIRE(read(wire_of(value, ByteOrder::big), ByteOrder::big).extract(out, basic::long_));
}

TEST_CASE("an Any passes both byte orders and is sent on in the other one from any alignment") {
  const ByteOrder first = order();
  const std::vector<Point> points = {{1, "one"}, {2.5, "two and a half"}};
  static constexpr TypeDesc type{.kind = Kind::sequence, .content = &point};
  const Any value = any_of(points, type);
  for (std::size_t offset = 0; offset < 8; ++offset) {
    const Any there = read(wire_of(value, first, offset), first, offset);
    const Any back = read(wire_of(there, other(first), 3), other(first), 3);
    std::vector<Point> out;
    REQUIRE(back.extract(out, type));
    CHECK(out == points);
    CHECK(equal(*back.type_code(), type));
  }
}

TEST_CASE("an Any inside an Any passes") {
  const Any inner = any_of(std::wstring(L"x"), basic::wstring);
  const Any outer = any_of(inner, basic::any);
  const ByteOrder o = order();
  Any out;
  REQUIRE(read(wire_of(outer, o), o).extract(out, basic::any));
  std::wstring string;
  REQUIRE(out.extract(string, basic::wstring));
  CHECK(string == L"x");
}

TEST_CASE("every kind of value is sent on in the other byte order") {
  Writer decimal;
  write_decimal(decimal, cdr::Decimal::parse("12.5").value(), 4, 2);
  Reader in(decimal.bytes());
  Any fixed;
  REQUIRE(fixed.read_value(in, price));
  const std::vector<std::pair<Any, std::string>> values = {
      {fixed, "any(12.50)"},
      {from_cdr(colour, std::uint32_t{1}), "any(green)"},
      {from_cdr(choice, std::uint8_t{1}, std::uint32_t{0}), "any(U{1: tint = red})"},
      {from_cdr(choice, std::uint8_t{2}, std::wstring(L"a\u4e2d")), "any(U{2: text = \"a\\u4e2d\"})"},
      {from_cdr(choice, std::uint8_t{9}), "any(U{9})"},
      {any_of(1.5L, basic::longdouble), "any(1.5)"},
      {any_of(L'x', basic::wchar), "any('x')"},
      {any_of(std::vector<bool>{true, false}, *desc_of<std::vector<bool>>), "any([true, false])"},
      {any_of(std::array<std::int16_t, 2>{1, -2}, *desc_of<std::array<std::int16_t, 2>>), "any([1, -2])"},
      {any_of(TypeCode(point), basic::type_code), "any(TypeCode(IDL:Point:1.0))"},
      {any_of(Point{2, "a\n\""}, point), "any(Point{x = 2, label = \"a\\x0a\\\"\"})"},
      {from_cdr(basic::object, std::string(), std::uint32_t{0}), "any(nil)"},
      {from_cdr(basic::object, std::string("IDL:E:1.0"), std::uint32_t{1}, std::uint32_t{0},
                std::vector<std::uint8_t>{1}),
       "any(object(IDL:E:1.0))"},
      {Any(), "any()"}};
  for (const auto& [value, expected] : values) {
    CHECK(text(value) == expected);
    const Any there = read(wire_of(value, ByteOrder::big, 1), ByteOrder::big, 1);
    const Any back = read(wire_of(there, ByteOrder::little, 6), ByteOrder::little, 6);
    CHECK(text(back) == (expected == "any()" ? "any(nothing)" : expected));
  }
}

// Error paths.

TEST_CASE("an Any nested 100000 deep is refused at the 64th level") {
  Writer writer;
  for (int i = 0; i < 100'000; ++i) writer.write(static_cast<std::uint32_t>(Kind::any));
  writer.write(static_cast<std::uint32_t>(Kind::null));
  Reader reader(writer.bytes());
  Any out;
  CHECK_FALSE(decode(reader, out));
  CHECK(reader.minor() == minor::too_deep);
}

TEST_CASE("an array without end of empty structures is refused") {
  static constexpr TypeDesc empty{.kind = Kind::structure, .id = "IDL:E:1.0", .name = "E"};
  static constexpr TypeDesc inner{.kind = Kind::array, .content = &empty, .length = 0xffff'ffff};
  static constexpr TypeDesc outer{.kind = Kind::array, .content = &inner, .length = 0xffff'ffff};
  Reader reader(Bytes{});
  CHECK_FALSE(skip(reader, outer));
  CHECK(reader.minor() == minor::too_many_empty);
}

TEST_CASE("a structure that holds itself outright is refused") {
  static const TypeDesc* self = nullptr;
  static MemberDesc members[] = {{"self", nullptr}};
  static const TypeDesc type{.kind = Kind::structure, .id = "IDL:S:1.0", .name = "S", .members = members};
  members[0].type = self = &type;
  Reader reader(Bytes{});
  CHECK_FALSE(skip(reader, *self));
  CHECK(reader.minor() == minor::too_deep);
}

TEST_CASE("a bound that is exceeded on the wire is refused") {
  static constexpr TypeDesc bounded{.kind = Kind::string, .length = 2};
  static constexpr TypeDesc list{.kind = Kind::sequence, .content = &basic::octet, .length = 2};
  Writer writer;
  writer.write_string("abc");
  Reader reader(writer.bytes());
  CHECK_FALSE(skip(reader, bounded));
  CHECK(reader.minor() == minor::bound_exceeded);
  Writer octets;
  encode(octets, std::vector<std::uint8_t>{1, 2, 3});
  Reader again(octets.bytes());
  CHECK_FALSE(skip(again, list));
  CHECK(again.minor() == minor::bound_exceeded);
}

TEST_CASE("an Any cut short anywhere is refused") {
  const std::vector<std::byte> wire = wire_of(any_of(Point{1, "one"}, point), ByteOrder::big);
  for (std::size_t size = 0; size < wire.size(); ++size) {
    Reader reader(Bytes(wire).first(size), ByteOrder::big);
    Any out;
    if (decode(reader, out)) FAIL("accepted " << size << " bytes");
  }
}

TEST_CASE("an Any of values without bytes is accepted or refused independently of its padding") {
  static constexpr TypeDesc nothings{
      .kind = Kind::array, .content = &basic::null, .length = Reader::max_empty_elements - 1};
  static constexpr TypeDesc more{.kind = Kind::array, .content = &basic::null, .length = Reader::max_empty_elements};
  const std::vector<std::byte> padding(1000);
  for (const std::size_t size : {std::size_t{0}, padding.size()}) {
    Reader few(Bytes(padding).first(size)), many(Bytes(padding).first(size));
    CHECK(skip(few, nothings));
    CHECK_FALSE(skip(many, more));
  }
}

TEST_CASE("a union finds its members by label, also one that was received, and a copy of it") {
  std::vector<MemberDesc> members;
  for (std::int64_t i = 0; i < 100; ++i) members.push_back({"", &basic::long_, (i * 37) % 100 - 50});
  const std::int32_t default_index = GENERATE(-1, 0, 60);
  const TypeDesc constant{.kind = Kind::union_,
                          .id = "IDL:U:1.0",
                          .members = members,
                          .content = &basic::long_,
                          .default_index = default_index};
  Writer writer;
  encode(writer, TypeCode(constant));
  Reader reader(writer.bytes());
  TypeCode received;
  REQUIRE(decode(reader, received));
  const TypeCode copy = any::compact(received);
  CHECK(received->by_label.size() == (default_index < 0 ? 100 : 99));
  CHECK(copy->by_label.size() == received->by_label.size());
  for (const TypeDesc* type : {&constant, &*received, &*copy}) {
    const auto index_of = [&](std::int64_t label) {
      const MemberDesc* const found = any::selected(*type, label);
      return found == nullptr ? -1 : static_cast<std::int32_t>(found - type->members.data());
    };
    for (std::int32_t i = 0; i < 100; ++i) CHECK(index_of(members[static_cast<std::size_t>(i)].label) == i);
    CHECK(index_of(-51) == default_index);
    CHECK(index_of(50) == default_index);
  }
}

TEST_CASE("the least size of a type is found in few steps, however many parts without bytes it has") {
  std::vector<std::vector<MemberDesc>> members(8);
  std::vector<TypeDesc> types(8);
  const TypeDesc none{.kind = Kind::structure};
  for (std::size_t i = 0; i < types.size(); ++i) {  // two thousand times what the type before has
    members[i].assign(2000, {"", i == 0 ? &none : &types[i - 1]});
    types[i] = {.kind = Kind::structure, .members = members[i]};
  }
  CHECK(any::least_size(types.back()) == 0);
  const MemberDesc some[] = {{"", &none}, {"", &none}, {"", &basic::double_}};
  CHECK(any::least_size({.kind = Kind::structure, .members = some}) == 8);
}

}  // namespace any_test
