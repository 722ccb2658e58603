#include "orb/eval/generate/random_source.h"

#include "orb/eval/generate/fixed_log.h"

namespace corelane::eval {
namespace {

constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;

// SplitMix64 (Steele, Lea & Flood 2014). It spreads a small difference over all bits.
constexpr std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ x >> 27) * 0x94d0'49bb'1331'11eb;
  return x ^ x >> 31;
}

}  // namespace

Random random_of(std::uint64_t seed, std::uint64_t set, Purpose purpose) {
  const std::uint64_t state = mixed(mixed(seed + golden) + golden * (set + 1));
  return Random(purpose == Purpose::tasks ? state : mixed(state + golden * static_cast<std::uint64_t>(purpose)));
}

std::uint64_t next_small(std::uint64_t& state) noexcept { return mixed(state += golden); }

// Lemire 2019: the upper half of a product, without the products that would be too frequent by one.
std::uint64_t below(Random& random, std::uint64_t bound) {
  const std::uint64_t surplus = (0 - bound) % bound;  // 2^64 modulo bound
  for (;;) {  // a round fails with probability surplus / 2^64, which is less than a half
    const UnsignedWide product = UnsignedWide{random()} * bound;
    if (static_cast<std::uint64_t>(product) >= surplus) return static_cast<std::uint64_t>(product >> 64);
  }
}

std::uint64_t fraction(Random& random) { return random() | 1; }

}  // namespace corelane::eval
