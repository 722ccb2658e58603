#include "orb/sim/multicore/core_set.h"

#include <catch2/catch.hpp>

namespace core_set_test {

using corelane::sim::multicore::CoreSet;

TEST_CASE("a set of cores has the cores that were added and not removed") {
  CoreSet set(130);
  CHECK(set.empty());
  for (const std::uint32_t core : {129u, 63u, 64u}) set.add(core);
  CHECK(set.contains(63));
  CHECK_FALSE(set.contains(62));
  set.remove(63);
  CHECK_FALSE(set.contains(63));
  CHECK_FALSE(set.empty());
}

TEST_CASE("the lowest core of a set is found across words, also after a lower one came") {
  CoreSet set(130);
  set.add(129);
  CHECK(set.first() == 129);
  set.add(64);
  CHECK(set.first() == 64);
  set.add(0);
  CHECK(set.first() == 0);
  set.remove(0);
  CHECK(set.first() == 64);
  set.remove(64);
  set.remove(129);
  CHECK(set.empty());
  set.add(63);
  CHECK(set.first() == 63);
}

}  // namespace core_set_test
