#include "services/corelane/reproductions/reservations.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>

namespace reservations_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;
using namespace std::chrono_literals;

TEST_CASE("each reservation gets exactly its budget in each of its periods, alone and under load") {
  for (const bool has_load : {false, true}) {
    const PeriodUse use = use_in_virtual_time(has_load, 8192ms);
    REQUIRE(use.size() == 2);
    CHECK(use[0].size() == 16'000);
    CHECK(use[1].size() == 1'000);
    for (std::size_t i = 0; i < use.size(); ++i)
      CHECK(std::ranges::all_of(use[i], [&](Duration used) { return used == published_reservations[i].budget; }));
  }
}

TEST_CASE("the published reservations are 20 and 40 percent") {
  CHECK(published_reservations[0].budget * 5 == published_reservations[0].period);
  CHECK(published_reservations[1].budget * 5 == published_reservations[1].period * 2);
}

}  // namespace reservations_test
