#include "orb/cdr/long_double.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace corelane;
using cdr::Binary128;
using cdr::Reader;
using cdr::Writer;

namespace {

using Limits = std::numeric_limits<long double>;
constexpr bool is_x87 = Limits::digits == 64;

long double rounded(std::uint64_t high, std::uint64_t low) { return cdr::from_binary128({high, low}); }

}  // namespace

TEST_CASE("long double has the bits of binary128") {
  CHECK(cdr::to_binary128(1.0L) == Binary128{0x3fff'0000'0000'0000, 0});
  CHECK(cdr::to_binary128(-2.5L) == Binary128{0xc000'4000'0000'0000, 0});
  CHECK(cdr::to_binary128(0.0L) == Binary128{0, 0});
  CHECK(cdr::to_binary128(-0.0L) == Binary128{0x8000'0000'0000'0000, 0});
  CHECK(cdr::to_binary128(Limits::infinity()) == Binary128{0x7fff'0000'0000'0000, 0});
}

TEST_CASE("every long double comes back as it was in both byte orders") {
  const long double value =
      GENERATE(0.0L, 1.0L, -1.0L, 3.14159265358979323846L, 1.0L / 3, Limits::max(), Limits::lowest(), Limits::min(),
               Limits::denorm_min(), Limits::min() - Limits::denorm_min(), Limits::epsilon(), Limits::infinity());
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    Writer writer(order);
    encode(writer, value);
    REQUIRE(writer.size() == 16);
    Reader reader(writer.bytes(), order);
    long double out = 7;
    REQUIRE(decode(reader, out));
    CHECK(out == value);
    CHECK(std::signbit(out) == std::signbit(value));
  }
}

TEST_CASE("the most significant byte comes first in big endian and last in little") {
  Writer big(ByteOrder::big), little(ByteOrder::little);
  encode(big, -1.0L);
  encode(little, -1.0L);
  CHECK(big.bytes()[0] == std::byte{0xbf});
  CHECK(little.bytes()[15] == std::byte{0xbf});
}

TEST_CASE("a NaN stays a NaN") {
  CHECK(std::isnan(cdr::from_binary128(cdr::to_binary128(Limits::quiet_NaN()))));
  CHECK(std::isnan(rounded(0x7fff'0000'0000'0000, 1)));  // set only in bits that x87 lacks
}

TEST_CASE("bits that the type lacks are rounded to nearest and ties to even") {
  if (!is_x87) return;
  const std::uint64_t one = 0x3fff'0000'0000'0000, half = std::uint64_t{1} << 48, last = half * 2;
  CHECK(rounded(one, half) == 1.0L);
  CHECK(rounded(one, half + 1) == 1.0L + Limits::epsilon());
  CHECK(rounded(one, half - 1) == 1.0L);
  CHECK(rounded(one, last + half) == 1.0L + 2 * Limits::epsilon());
  CHECK(rounded(0x3fff'ffff'ffff'ffff, ~std::uint64_t{0}) == 2.0L);  // carries into the exponent
  CHECK(rounded(0x7ffe'ffff'ffff'ffff, ~std::uint64_t{0}) == Limits::infinity());
  CHECK(rounded(0x0000'ffff'ffff'ffff, ~std::uint64_t{0}) == Limits::min());  // from the denormals into the normals
}

TEST_CASE("a long double that is cut short is refused") {
  Writer writer;
  encode(writer, 1.0L);
  Reader reader(writer.bytes().first(15));
  long double out = 0;
  CHECK_FALSE(decode(reader, out));
}
