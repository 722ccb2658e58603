#include "orb/cdr/codec.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::testing;
using cdr::Reader;
using cdr::Writer;

namespace user {

enum class Colour : std::uint32_t { red, green, blue };

struct Point {
  std::int16_t x = 0;
  double y = 0;
  std::string name;
  Colour colour = Colour::red;
  friend bool operator==(const Point&, const Point&) = default;
};

// As in generated code: the user's namespace knows nothing of cdr except its types.
void encode(Writer& writer, Colour value) { corelane::cdr::write_enum(writer, value); }
bool decode(Reader& reader, Colour& value) { return corelane::cdr::read_enum(reader, value, 3); }
void encode(Writer& writer, const Point& point) {
  encode(writer, point.x), encode(writer, point.y), encode(writer, point.name), encode(writer, point.colour);
}
bool decode(Reader& reader, Point& point) {
  return decode(reader, point.x) && decode(reader, point.y) && decode(reader, point.name) &&
         decode(reader, point.colour);
}

}  // namespace user

namespace {

// Checks that decode(encode(x)) == x in both byte orders and at every alignment, with nothing left over.
template <typename T>
void round_trip(const T& value) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    for (std::size_t offset = 0; offset < 8; ++offset) {
      Writer writer(order, offset);
      encode(writer, value);
      expect(writer.ok(), "it is written");
      const std::vector<std::byte> wire = writer.to_vector();
      Reader reader(wire, order, offset);
      T out{};
      expect(decode(reader, out), "it is read");
      expect(out == value, "it is the same");
      expect(reader.remaining() == 0, "nothing is left over");
      expect(wire.size() >= cdr::min_encoded_size<T>, "it is no smaller than the least of its type");
    }
  }
}

template <typename Value>
bool comes_back(Value&& value) {
  return holds([&](Draw& draw) { round_trip(value(draw)); });
}
template <typename T>
bool number_comes_back() {
  return comes_back([](Draw& draw) { return draw.any<T>(); });
}
template <typename T>
bool numbers_come_back() {
  return comes_back([](Draw& draw) { return draw.list([](Draw& d) { return d.any<T>(); }); });
}

user::Point point(Draw& draw) {
  return {draw.any<std::int16_t>(), draw.any<double>(), draw.text(), static_cast<user::Colour>(draw.below(3))};
}
std::vector<user::Point> points(Draw& draw) { return draw.list(point); }

// Checks that the value is refused wherever its bytes are cut off.
template <typename T>
void check_truncations(const T& value) {
  Writer writer;
  encode(writer, value);
  for (std::size_t size = 0; size < writer.size(); ++size) {
    const std::vector<std::byte> cut(writer.bytes().begin(),
                                     writer.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    Reader reader(cut);
    T out{};
    CHECK_FALSE(decode(reader, out));
  }
}

}  // namespace

TEST_CASE("integers and octets come back as they went") {
  CHECK(number_comes_back<std::uint8_t>());
  CHECK(number_comes_back<std::int8_t>());
  CHECK(number_comes_back<std::int16_t>());
  CHECK(number_comes_back<std::uint16_t>());
  CHECK(number_comes_back<std::int32_t>());
  CHECK(number_comes_back<std::uint32_t>());
  CHECK(number_comes_back<std::int64_t>());
  CHECK(number_comes_back<std::uint64_t>());
  CHECK(number_comes_back<char>());
  CHECK(number_comes_back<bool>());
}

TEST_CASE("floats come back as they went") {
  CHECK(number_comes_back<float>());
  CHECK(number_comes_back<double>());
}

TEST_CASE("a NaN keeps its bits in either order") {
  const std::uint64_t bits = GENERATE(0x7ff0000000000001ull, 0x7ff8000000000000ull, 0xfff4567812345678ull);
  Writer writer(native_order == ByteOrder::big ? ByteOrder::little : ByteOrder::big);
  writer.write(std::bit_cast<double>(bits));
  Reader reader(writer.bytes(), writer.order());
  double out = 0;
  REQUIRE(decode(reader, out));
  CHECK(std::bit_cast<std::uint64_t>(out) == bits);
}

TEST_CASE("strings come back as they went") {
  CHECK(comes_back([](Draw& draw) { return draw.text(); }));
}

TEST_CASE("sequences of primitives come back as they went") {
  CHECK(numbers_come_back<std::uint8_t>());
  CHECK(numbers_come_back<bool>());
  CHECK(numbers_come_back<std::int16_t>());
  CHECK(numbers_come_back<std::int32_t>());
  CHECK(numbers_come_back<double>());
}

TEST_CASE("nested sequences and structs come back as they went") {
  CHECK(comes_back([](Draw& draw) {
    return draw.list([](Draw& d) { return d.list([](Draw& n) { return n.any<std::int64_t>(); }); });
  }));
  CHECK(comes_back(points));
  CHECK(comes_back([](Draw& draw) { return draw.list(points); }));
}

TEST_CASE("arrays have no count") {
  CHECK(comes_back([](Draw& draw) {
    return std::array<std::int32_t, 3>{draw.any<std::int32_t>(), draw.any<std::int32_t>(), draw.any<std::int32_t>()};
  }));
  Writer writer;
  encode(writer, std::array<std::int32_t, 3>{1, 2, 3});
  CHECK(writer.size() == 12);
}

TEST_CASE("an empty sequence of doubles has no padding") {
  Writer writer;
  encode(writer, std::vector<double>{});
  CHECK(writer.size() == 4);
}

TEST_CASE("a decoded sequence takes the place of what the vector held") {
  Writer writer;
  encode(writer, std::vector<user::Point>{{1, 2, "three", user::Colour::blue}});
  Reader reader(writer.bytes());
  std::vector<user::Point> out(5, {9, 9, "nine", user::Colour::red});
  REQUIRE(decode(reader, out));
  CHECK(out == std::vector<user::Point>{{1, 2, "three", user::Colour::blue}});
}

// Error paths.

TEST_CASE("a value cut short is refused") {
  check_truncations(std::vector<user::Point>{{1, 2, "three", user::Colour::blue}, {4, 5, "", user::Colour::red}});
  check_truncations(std::vector<std::int32_t>{1, 2, 3});
  check_truncations(std::vector<bool>{true, false, true});
  check_truncations(std::string("text"));
  check_truncations(3.0);
}

TEST_CASE("an enumerator out of range is refused") {
  const std::uint32_t number = GENERATE(2u, 3u, 0xffffffffu);
  Writer writer;
  writer.write(number);
  Reader reader(writer.bytes());
  user::Colour colour{};
  CHECK(decode(reader, colour) == (number < 3));
  CHECK(reader.minor() == (number < 3 ? 0 : minor::bad_enum));
}

TEST_CASE("a sequence of booleans takes every octet but 0 as true") {
  Writer writer;
  encode(writer, std::vector<std::uint8_t>{0, 1, 2, 255});
  Reader reader(writer.bytes());
  std::vector<bool> out;
  REQUIRE(decode(reader, out));
  CHECK(out == std::vector<bool>{false, true, true, true});
}

TEST_CASE("a length bomb allocates nothing") {
  Writer writer;
  writer.write(std::uint32_t{0xffffffff});
  writer.write(std::uint32_t{1});
  Reader reader(writer.bytes());
  std::vector<user::Point> points;
  CHECK_FALSE(decode(reader, points));
  CHECK(points.capacity() == 0);
  reader = Reader(writer.bytes());
  std::vector<double> numbers;
  CHECK_FALSE(decode(reader, numbers));
  CHECK(numbers.capacity() == 0);
}

TEST_CASE("a sequence grows with its elements and not with its count") {
  Writer writer;
  writer.write(std::uint32_t{10'000});
  for (int i = 0; i < 10'000; ++i) writer.write(std::uint8_t{0xff});  // room for the count, but no string in them
  Reader reader(writer.bytes());
  std::vector<user::Point> points;
  CHECK_FALSE(decode(reader, points));
  CHECK(points.capacity() <= 4);
}

TEST_CASE("octets come back wherever they lie and into whatever memory the sequence has") {
  const std::size_t size = GENERATE(0u, 1u, 2047u, 2048u, 2049u, 70'000u);
  const std::size_t before = GENERATE(0u, 10u, 1'000'000u);  // octets that the sequence had before
  std::vector<std::uint8_t> block(size);
  for (std::size_t i = 0; i < size; ++i) block[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
  Writer writer;
  encode(writer, block);
  std::vector<std::byte> memory(writer.size() + 64);
  for (std::size_t shift = 0; shift < 64; shift += 4) {  // within a page, relative to the sequence's own memory
    std::memcpy(memory.data() + shift, writer.bytes().data(), writer.size());
    Reader reader(Bytes(memory).subspan(shift, writer.size()));
    std::vector<std::uint8_t> values(before, 9);
    const std::uint8_t* const place = values.data();
    REQUIRE(decode(reader, values));
    CHECK(values == block);
    if (before >= size) CHECK(values.data() == place);
  }
}

TEST_CASE("a sequence of octets that is cut off is refused") {
  Writer writer;
  encode(writer, std::vector<std::uint8_t>(100));
  for (const std::size_t left : {3u, 4u, 103u}) {
    Reader reader(writer.bytes().first(left));
    std::vector<std::uint8_t> values;
    CHECK_FALSE(decode(reader, values));
    CHECK(reader.error().kind == ErrorKind::marshal);
  }
}
