// Tests decoding of a message whose bytes are still arriving. Bytes that have not come are 0xee, so a decoder that
// reads them too early finds other values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"

namespace arriving_test {

using namespace corelane;
using cdr::Reader;
using cdr::Writer;

namespace {

// A message that comes only as far as it is waited for.
class Coming final : public cdr::Arrival {
 public:
  explicit Coming(const Writer& writer, std::size_t there = 0)
      : whole_(writer.to_vector()), bytes_(whole_.size(), std::byte{0xee}) {
    come(there);
  }
  Reader reader(ByteOrder order = native_order) {
    Reader made(bytes_, order);
    made.expect(*this, there_);
    return made;
  }
  Expected<const std::byte*> await(const std::byte* end) noexcept override {
    const auto wanted = static_cast<std::size_t>(end - bytes_.data());
    if (wanted > most) return Error{ErrorKind::comm_failure, Completion::no, minor::connection_lost};
    ++waits;
    come(std::max(wanted, there_));
    return bytes_.data() + there_;
  }
  std::size_t there() const noexcept { return there_; }

  std::size_t most = SIZE_MAX;  // what will ever come
  int waits = 0;

 private:
  void come(std::size_t there) {
    there_ = std::min(there, whole_.size());
    std::copy_n(whole_.begin(), there_, bytes_.begin());
  }

  const std::vector<std::byte> whole_;
  std::vector<std::byte> bytes_;
  std::size_t there_ = 0;
};

constexpr std::size_t piece = 64 * 1024;

std::vector<std::uint8_t> octets(std::size_t size) {
  std::vector<std::uint8_t> made(size);
  std::iota(made.begin(), made.end(), std::uint8_t{1});
  return made;
}

std::vector<double> numbers(std::size_t size) {
  std::vector<double> made(size);
  std::iota(made.begin(), made.end(), 0.5);
  return made;
}

}  // namespace

TEST_CASE("octets are copied piece by piece as they come") {
  const auto sent = octets(5 * piece + 7);
  Writer writer;
  encode(writer, sent);
  Coming coming(writer, 100);
  Reader reader = coming.reader();
  std::vector<std::uint8_t> got;
  REQUIRE(decode(reader, got));
  CHECK(got == sent);
  CHECK(coming.waits > 4);
  CHECK(reader.available() == 0);
}

TEST_CASE("numbers are copied piece by piece as they come, in either byte order") {
  const auto order = GENERATE(ByteOrder::little, ByteOrder::big);
  const auto sent = numbers(5 * piece / sizeof(double) + 1);
  Writer writer(order);
  writer.write(std::uint8_t{1});
  encode(writer, sent);
  Coming coming(writer, 20);
  Reader reader = coming.reader(order);
  std::uint8_t first = 0;
  std::vector<double> got;
  REQUIRE(reader.read(first));
  REQUIRE(decode(reader, got));
  CHECK(got == sent);
  CHECK(coming.waits > 4);
}

TEST_CASE("values of every kind are read right, however few bytes have come") {
  const auto some = octets(1000);
  Writer writer;
  encode(writer, std::uint16_t{7});
  encode(writer, std::string("text"));
  encode(writer, some);
  encode(writer, 0.25);
  encode(writer, numbers(100));
  encode(writer, std::vector<std::string>{"a", "bc"});
  const std::size_t size = writer.size();
  for (std::size_t there = 0; there <= size; ++there) {
    Coming coming(writer, there);
    Reader reader = coming.reader();
    std::uint16_t number = 0;
    std::string text;
    std::vector<std::uint8_t> bytes;
    double real = 0;
    std::vector<double> reals;
    std::vector<std::string> texts;
    REQUIRE(decode(reader, number));
    REQUIRE(decode(reader, text));
    REQUIRE(decode(reader, bytes));
    REQUIRE(decode(reader, real));
    REQUIRE(decode(reader, reals));
    REQUIRE(decode(reader, texts));
    REQUIRE(number == 7);
    REQUIRE(text == "text");
    REQUIRE(bytes == some);
    REQUIRE(real == 0.25);
    REQUIRE(reals == numbers(100));
    REQUIRE(texts == std::vector<std::string>{"a", "bc"});
    REQUIRE(reader.available() == 0);
  }
}

TEST_CASE("what is read in chunks, in copies of a reader and in encapsulations waits for all of the message") {
  Writer writer;
  encode(writer, std::uint32_t{4});  // the size of a chunk
  encode(writer, std::uint32_t{17});
  Coming coming(writer, 4);
  Reader reader = coming.reader();
  Reader copy = reader;
  reader.enter_chunks();
  CHECK(coming.there() == writer.size());
  std::uint32_t value = 0;
  REQUIRE(reader.read(value));
  CHECK(value == 17);
  REQUIRE(copy.skip(4));
  REQUIRE(copy.read(value));
  CHECK(value == 17);
}

TEST_CASE("a reader fails with the error of what brings the bytes, and has nothing left to read") {
  const auto sent = octets(5 * piece);
  Writer writer;
  encode(writer, sent);
  Coming coming(writer, 100);
  coming.most = 2 * piece;
  Reader reader = coming.reader();
  std::vector<std::uint8_t> got;
  CHECK_FALSE(decode(reader, got));
  CHECK(reader.error().kind == ErrorKind::comm_failure);
  CHECK(reader.error().minor == minor::connection_lost);
  CHECK(reader.available() == 0);
}

TEST_CASE("a length beyond the message is refused before anything is waited for") {
  Writer writer;
  encode(writer, std::uint32_t{0x7fff'ffff});
  encode(writer, numbers(10));
  Coming coming(writer, 4);
  Reader reader = coming.reader();
  std::vector<std::uint8_t> got;
  CHECK_FALSE(decode(reader, got));
  CHECK(reader.minor() == minor::sequence_too_long);
  CHECK(coming.waits == 0);
}

}  // namespace arriving_test
