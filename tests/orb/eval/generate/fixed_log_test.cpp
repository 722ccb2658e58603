#include "orb/eval/generate/fixed_log.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "orb/eval/generate/random_source.h"

namespace fixed_log_test {

using namespace corelane::eval;

namespace {

constexpr double unit = 0x1.0p-57;  // of logarithms
double as_fraction(std::uint64_t value) { return static_cast<double>(value) * 0x1.0p-64; }

}  // namespace

TEST_CASE("the logarithm of a power of two is exact") {
  for (unsigned k = 0; k < 64; ++k) CHECK(log2_of(std::uint64_t{1} << k) == std::uint64_t{k} << log_bits);
}

TEST_CASE("logarithms, powers and roots are those of the standard library to the last digits of a double") {
  Random random = random_of(1, 0);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t x = fraction(random);
    CHECK(static_cast<double>(log2_of(x)) * unit == Approx(std::log2(static_cast<double>(x))).epsilon(1e-15));
    const FixedLog log = random() >> 5;  // up to 4
    CHECK(as_fraction(two_to_minus(log)) == Approx(std::exp2(-static_cast<double>(log) * unit)).epsilon(1e-14));
    const std::uint64_t k = 1 + below(random, 100);
    CHECK(as_fraction(root_of(x, k)) == Approx(std::pow(as_fraction(x), 1.0 / static_cast<double>(k))).epsilon(1e-13));
  }
}

TEST_CASE("fixed logarithms have these digits on every machine") {
  CHECK(log2_of(3) == 0x032b'8034'73f7'ad0f);
  CHECK(log2_of(1'000'000'007) == 0x3bcb'71d5'a86f'62d0);
  CHECK(two_to_minus(FixedLog{1} << (log_bits - 1)) == 0xb504'f333'f9de'6483);
  CHECK(two_to_minus(0) == UINT64_MAX);
  CHECK(two_to_minus(FixedLog{64} << log_bits) == 0);
  CHECK(root_of(std::uint64_t{1} << 63, 2) == 0xb504'f333'f9de'6483);
}

}  // namespace fixed_log_test
