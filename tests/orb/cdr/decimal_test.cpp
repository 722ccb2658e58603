#include "orb/cdr/decimal.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/codec.h"
#include "tests/orb/cdr/octets.h"
#include "tests/support/law.h"

using namespace corelane;
using namespace corelane::testing;
using cdr::Decimal;
using cdr::Reader;
using cdr::Writer;

namespace {

Decimal decimal(std::string_view text) { return Decimal::parse(text).value(); }
std::string text(const Expected<Decimal>& value) { return value ? value->to_string() : "error"; }

std::vector<std::byte> wire_of(std::string_view value, int digits, int scale) {
  Writer writer;
  write_decimal(writer, decimal(value), digits, scale);
  REQUIRE(writer.ok());
  return writer.to_vector();
}

// Returns the value that was read, or "refused".
std::string read(const std::vector<std::byte>& wire, int digits, int scale) {
  Reader reader(wire);
  Decimal out;
  if (!read_decimal(reader, out, digits, scale)) return "refused";
  CHECK(reader.remaining() == 0);
  return out.to_string();
}

}  // namespace

TEST_CASE("decimals are read from text and written as text") {
  const auto [in, out] = GENERATE(table<std::string, std::string>(
      {{"0", "0"}, {"-12.50", "-12.50"}, {"007d", "7"}, {".5D", "0.5"}, {"3.", "3"}, {"+1.0", "1.0"}}));
  CHECK(text(Decimal::parse(in)) == out);
}

TEST_CASE("text that is no decimal of 31 digits is refused") {
  const std::string in =
      GENERATE(as<std::string>{}, "", "-", ".", "1e3", "1.2.3", " 1", "12345678901234567890123456789012");
  CHECK_FALSE(Decimal::parse(in));
}

TEST_CASE("sums align their points") {
  CHECK(text(sum(decimal("1.5"), decimal("0.25"))) == "1.75");
  CHECK(text(sum(decimal("1.5"), decimal("-2.25"))) == "-0.75");
  CHECK(text(sum(decimal("-1"), decimal("1"))) == "0");
  CHECK(text(sum(decimal("9999999999999999999999999999999"), decimal("1"))) == "error");
}

TEST_CASE("products keep every digit that fits") {
  CHECK(text(product(decimal("1.5"), decimal("-0.25"))) == "-0.375");
  CHECK(text(product(decimal("1234567890123456.7"), decimal("1000000000000000.1"))) ==
        "1234567890123456823456789012345");
  CHECK(text(product(decimal("9999999999999999999"), decimal("9999999999999999999"))) == "error");
}

TEST_CASE("quotients have as many digits behind the point as fit") {
  CHECK(text(quotient(decimal("1"), decimal("3"))) == "0.3333333333333333333333333333333");
  CHECK(quotient(decimal("10"), decimal("-4")).value() == decimal("-2.5"));
  CHECK(text(quotient(decimal("1"), decimal("0.0"))) == "error");
}

TEST_CASE("rounding goes half away from zero and truncation towards it") {
  CHECK(decimal("2.345").rounded(2).to_string() == "2.35");
  CHECK(decimal("-2.345").rounded(2).to_string() == "-2.35");
  CHECK(decimal("-2.349").truncated(2).to_string() == "-2.34");
  CHECK(decimal("9.99").rounded(1).to_string() == "10.0");
  CHECK_FALSE(decimal("-0.001").truncated(2).negative());
}

TEST_CASE("decimals compare by value") {
  CHECK(decimal("1.50") == decimal("1.5"));
  CHECK(decimal("-2") < decimal("-1.99"));
  CHECK(decimal("-0.1") < decimal("0"));
}

TEST_CASE("decimals come from and go to numbers of C++") {
  CHECK(Decimal::of(std::int64_t{INT64_MIN}).to_string() == "-9223372036854775808");
  CHECK(text(Decimal::of(2.375L, 2)) == "2.38");
  CHECK(decimal("-12.5").to_long_double() == -12.5L);
  CHECK_FALSE(Decimal::of(1e40L, 0));
}

TEST_CASE("integer arithmetic of decimals agrees with that of C++") {
  CHECK(holds([](Draw& draw) {
    const std::int64_t a = draw.any<std::int32_t>(), b = draw.any<std::int32_t>();
    const Decimal x = Decimal::of(a), y = Decimal::of(b);
    expect(sum(x, y)->to_string() == std::to_string(a + b), "the sum is the same");
    expect(product(x, y)->to_string() == std::to_string(a * b), "the product is the same");
    if (b != 0) expect(quotient(x, y)->truncated(0).to_string() == std::to_string(a / b), "the quotient is the same");
  }));
}

// The wire.

TEST_CASE("fixed-point values are half octets with the sign last") {
  CHECK(wire_of("123.45", 5, 2) == octets({0x12, 0x34, 0x5c}));
  CHECK(wire_of("-1234.5", 6, 2) == octets({0x01, 0x23, 0x45, 0x0d}));
  CHECK(wire_of("0", 1, 0) == octets({0x0c}));
  CHECK(wire_of("0.05", 2, 2) == octets({0x00, 0x5c}));
}

TEST_CASE("fixed-point values come back") {
  CHECK(read(octets({0x12, 0x34, 0x5c}), 5, 2) == "123.45");
  CHECK(read(octets({0x01, 0x23, 0x45, 0x0d}), 6, 2) == "-1234.50");
  CHECK(read(octets({0x0d}), 1, 0) == "0");
  CHECK(read(wire_of("1234567890123456789012345678901", 31, 0), 31, 0) == "1234567890123456789012345678901");
  CHECK(read(wire_of(".1234567890123456789012345678901", 31, 31), 31, 31) == "0.1234567890123456789012345678901");
}

TEST_CASE("malformed fixed-point values are refused") {
  CHECK(read(octets({0x1a, 0x3c}), 3, 0) == "refused");
  CHECK(read(octets({0x12, 0x34}), 3, 0) == "refused");
  CHECK(read(octets({0x12, 0x3c}), 2, 0) == "refused");  // has a third digit
  CHECK(read(octets({0x12}), 3, 0) == "refused");
}

TEST_CASE("a value with more digits than its type is not written") {
  Writer writer;
  write_decimal(writer, decimal("1000"), 5, 2);
  REQUIRE_FALSE(writer.ok());
  CHECK(writer.error().kind == ErrorKind::data_conversion);
}
