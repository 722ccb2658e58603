#include "orb/cdr/reader.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/writer.h"

using namespace corelane;
using cdr::Reader;
using cdr::Writer;

namespace {

// Bytes on the heap with their exact size, so that a sanitizer notices the first byte beyond them.
class Wire {
 public:
  Wire(std::initializer_list<int> bytes) {
    for (const int b : bytes) bytes_.push_back(static_cast<std::byte>(b));
    bytes_.shrink_to_fit();
  }
  Reader big(std::size_t offset = 0) const& { return Reader(bytes_, ByteOrder::big, offset); }
  Reader little() const& { return Reader(bytes_, ByteOrder::little); }
  Reader encapsulation() const& { return Reader::of_encapsulation(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

template <typename T>
T read(Reader& reader) {
  T value{};
  REQUIRE(reader.read(value));
  return value;
}

}  // namespace

TEST_CASE("reader reads either byte order") {
  const Wire wire{1, 2, 3, 4};
  Reader big = wire.big();
  Reader little = wire.little();
  CHECK(read<std::uint32_t>(big) == 0x01020304);
  CHECK(read<std::uint32_t>(little) == 0x04030201);
}

TEST_CASE("reader skips what aligns a value to its size") {
  const Wire wire{1, 0xff, 0, 2, 3, 0xff, 0xff, 0xff, 0, 0, 0, 4};
  Reader reader = wire.big();
  CHECK(read<std::uint8_t>(reader) == 1);
  CHECK(read<std::uint16_t>(reader) == 2);
  CHECK(read<std::uint8_t>(reader) == 3);
  CHECK(read<std::uint32_t>(reader) == 4);
  CHECK(reader.remaining() == 0);
}

TEST_CASE("reader counts alignment from its origin") {
  const Wire wire{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  Reader reader = wire.big(12);
  CHECK(read<std::uint64_t>(reader) == 1);
  CHECK(reader.offset() == 24);
}

TEST_CASE("reader views strings in place without their NUL") {
  const Wire wire{0, 0, 0, 3, 'a', 'b', 0};
  Reader reader = wire.big();
  std::string_view text;
  REQUIRE(reader.read_string(text));
  CHECK(text == "ab");
}

TEST_CASE("reader follows the byte order of an encapsulation") {
  const Wire wire{0, 0, 0, 8, 1, 0, 0, 0, 7, 0, 0, 0, 9};
  Reader reader = wire.big();
  Reader inner = reader.read_encapsulation();
  CHECK(inner.order() == ByteOrder::little);
  CHECK(read<std::uint32_t>(inner) == 7);
  CHECK(read<std::uint8_t>(reader) == 9);
}

TEST_CASE("an encapsulation inherits the environment") {
  cdr::Environment environment;
  const std::byte bytes[] = {std::byte{1}, std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}};
  Reader reader(bytes, ByteOrder::little, 0, &environment);
  CHECK(reader.read_encapsulation().environment() == &environment);
}

TEST_CASE("a copied reader is a cursor of its own") {
  const Wire wire{1, 2};
  Reader first = wire.big();
  Reader second = first;
  CHECK(read<std::uint8_t>(first) == 1);
  CHECK(read<std::uint8_t>(second) == 1);
}

// Edges.

TEST_CASE("a string may end with the last byte and no later") {
  const int length = GENERATE(2, 3, 4);
  const Wire wire{0, 0, 0, length, 'a', 'b', 0};
  Reader reader = wire.big();
  std::string_view text;
  CHECK(reader.read_string(text) == (length == 3));
}

TEST_CASE("a sequence may claim as many elements as its bytes can hold and no more") {
  const int count = GENERATE(1, 2, 3);
  const Wire wire{0, 0, 0, count, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Reader reader = wire.big();
  std::uint32_t claimed = 0;
  CHECK(reader.read_length(claimed, 4) == (count <= 2));
  CHECK(reader.minor() == (count <= 2 ? 0 : minor::sequence_too_long));
}

TEST_CASE("elements of no size are capped by number") {
  const std::uint32_t count =
      GENERATE(Reader::max_empty_elements - 1, Reader::max_empty_elements, Reader::max_empty_elements + 1);
  Writer writer;
  writer.write(count);
  Reader reader(writer.bytes());
  std::uint32_t claimed = 0;
  CHECK(reader.read_length(claimed, 0) == (count <= Reader::max_empty_elements));
  CHECK(reader.minor() == (count <= Reader::max_empty_elements ? 0 : minor::too_many_empty));
}

TEST_CASE("elements of no size are counted over all sequences of a message") {
  const std::uint32_t first = GENERATE(1u, 40'000u, Reader::max_empty_elements);
  Writer writer;
  writer.write(first);
  writer.write(Reader::max_empty_elements - first);
  writer.write(std::uint32_t{1});
  Reader reader(writer.bytes());
  std::uint32_t count = 0;
  CHECK(reader.read_length(count, 0));
  CHECK(reader.read_length(count, 0));
  CHECK_FALSE(reader.read_length(count, 0));
  CHECK(reader.minor() == minor::too_many_empty);
}

TEST_CASE("a count times its element size cannot wrap") {
  const Wire wire{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
  Reader reader = wire.big();
  std::uint32_t count = 0;
  CHECK_FALSE(reader.read_length(count, std::size_t{1} << 63));
  CHECK(reader.minor() == minor::sequence_too_long);
}

TEST_CASE("levels nest to the greatest depth and no deeper") {
  const Wire wire{1};
  Reader reader = wire.big();
  std::vector<std::unique_ptr<Reader::Level>> levels;
  for (int i = 0; i < Reader::max_depth; ++i) {
    levels.push_back(std::make_unique<Reader::Level>(reader));
    REQUIRE(*levels.back());
  }
  levels.pop_back();
  CHECK(Reader::Level(reader));
  levels.push_back(std::make_unique<Reader::Level>(reader));
  CHECK_FALSE(Reader::Level(reader));
  CHECK(reader.minor() == minor::too_deep);
}

TEST_CASE("encapsulations count towards the depth") {
  std::vector<std::byte> bytes;
  for (int i = 0; i < Reader::max_depth + 2; ++i) {
    Writer writer(ByteOrder::big);
    writer.write_order();
    writer.write_octets(bytes);
    bytes = writer.to_vector();
  }
  Reader reader = Reader::of_encapsulation(bytes);
  int depth = 0;
  while (reader.ok() && reader.remaining() != 0) {
    reader = reader.read_encapsulation();
    if (reader.ok()) ++depth;
  }
  CHECK(depth == Reader::max_depth);
  CHECK(reader.minor() == minor::too_deep);
}

// Error paths.

TEST_CASE("reader refuses a value that is cut short") {
  const std::size_t offset = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{7});
  const Wire wire{1, 2, 3, 4, 5, 6, 7};
  Reader reader = wire.big(offset);
  std::uint64_t value = 0;
  CHECK_FALSE(reader.read(value));
  CHECK(reader.error() == Error{ErrorKind::marshal, Completion::no, minor::truncated});
}

TEST_CASE("every octet but 0 is true, and is 1 when it is passed on") {
  const int octet = GENERATE(0, 1, 2, 255);
  const Wire wire{octet};
  Reader reader = wire.big();
  bool value = octet == 0;
  REQUIRE(reader.read(value));
  CHECK(value == (octet != 0));
  Writer writer;
  writer.write(value);
  CHECK(writer.to_vector() == std::vector<std::byte>{std::byte(octet != 0)});
}

TEST_CASE("a string of length 0 is empty, as some ORBs send it") {
  const Wire wire{0, 0, 0, 0, 7};
  Reader reader = wire.big();
  std::string_view text = "before";
  REQUIRE(reader.read_string(text));
  CHECK(text.empty());
  std::uint8_t next = 0;
  REQUIRE(reader.read(next));
  CHECK(next == 7);
}

TEST_CASE("reader refuses a string without a NUL at its end") {
  const Wire wire{0, 0, 0, 2, 'a', 'b', 0};
  Reader reader = wire.big();
  std::string_view text;
  CHECK_FALSE(reader.read_string(text));
  CHECK(reader.minor() == minor::bad_string);
}

TEST_CASE("reader refuses a string with a NUL inside") {
  const Wire wire{0, 0, 0, 3, 'a', 0, 0};
  Reader reader = wire.big();
  std::string_view text;
  CHECK_FALSE(reader.read_string(text));
  CHECK(reader.minor() == minor::bad_string);
}

TEST_CASE("a failed reader stays failed with its first reason") {
  const Wire wire{0, 0, 0, 1, 1, 1};
  Reader reader = wire.big();
  std::string_view text;
  REQUIRE_FALSE(reader.read_string(text));
  std::uint8_t octet = 0;
  CHECK_FALSE(reader.read(octet));
  CHECK_FALSE(reader.skip(1));
  CHECK_FALSE(reader.align(4));
  CHECK(reader.remaining() == 0);
  CHECK(reader.minor() == minor::bad_string);
}

TEST_CASE("an encapsulation needs a byte order that exists") {
  const Wire none{}, bad{2}, good{1};
  CHECK(none.encapsulation().minor() == minor::truncated);
  CHECK(bad.encapsulation().minor() == minor::bad_encapsulation);
  CHECK(good.encapsulation().ok());
}

TEST_CASE("a malformed encapsulation fails the reader around it only when its bytes are missing") {
  const Wire short_wire{0, 0, 0, 9, 1};
  Reader cut = short_wire.big();
  CHECK_FALSE(cut.read_encapsulation().ok());
  CHECK(cut.minor() == minor::sequence_too_long);
  const Wire wire{0, 0, 0, 1, 7, 5};
  Reader around = wire.big();
  CHECK(around.read_encapsulation().minor() == minor::bad_encapsulation);
}
