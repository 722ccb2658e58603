#include "orb/eval/generate/random_source.h"

#include <array>
#include <catch2/catch.hpp>
#include <set>
#include <vector>

namespace random_source_test {

using namespace corelane::eval;

TEST_CASE("the sequence of a seed is the same on every machine") {
  Random random = random_of(1, 0), other = random_of(1, 0);
  const std::array<std::uint64_t, 3> first{random(), random(), random()};
  CHECK(first == std::array<std::uint64_t, 3>{other(), other(), other()});
  CHECK(first == std::array<std::uint64_t, 3>{0x7105'992f'33f3'2d46, 0x5412'2c1b'8803'2cf2, 0xbe93'b4dc'82cf'99b6});
}

TEST_CASE("seeds and sets that differ by one have different sequences") {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    for (std::uint64_t set = 0; set < 100; ++set) firsts.insert(random_of(seed, set)());
  CHECK(firsts.size() == 10'000);
}

TEST_CASE("numbers below a bound are uniform and reach both ends") {
  Random random = random_of(2, 0);
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) ++counts[below(random, counts.size())];
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 400);  // four standard deviations
  CHECK(below(random, 1) == 0);
  CHECK(below(random, UINT64_MAX) < UINT64_MAX);
}

TEST_CASE("a shuffled list has the same items in an order that is as likely as any other") {
  std::array<int, 6> orders{};
  Random random = random_of(3, 0);
  for (int i = 0; i < 60'000; ++i) {
    std::vector<int> items{0, 1, 2};
    shuffle(random, std::span(items));
    CHECK(std::set<int>(items.begin(), items.end()).size() == 3);
    ++orders[static_cast<std::size_t>(items[0] * 2 + (items[1] > items[2] ? 1 : 0))];
  }
  for (const int count : orders) CHECK(std::abs(count - 10'000) < 400);
}

}  // namespace random_source_test
