#include "services/corelane/real_run/gap_count.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane;
using namespace corelane::tool;
using namespace std::chrono_literals;

TEST_CASE("gaps are counted by the second of work") {
  GapCount count{.gaps = 30, .watched = 2s};
  CHECK(count.per_second() == 15);
  count += {.gaps = 10, .watched = 2s};
  CHECK(count == GapCount{.gaps = 40, .watched = 4s});
}

TEST_CASE("gaps excuse late jobs if they come at most twice as often as in the control") {
  const GapCount control{.gaps = 10, .watched = 1s};
  CHECK(is_credible({.gaps = 60, .watched = 3s}, control));
  CHECK(is_credible({.gaps = 61, .watched = 3s}, control));  // one more proves nothing
  CHECK(!is_credible({.gaps = 62, .watched = 3s}, control));
}

// Edges.

TEST_CASE("without work there are no gaps a second") { CHECK(GapCount{}.per_second() == 0); }

TEST_CASE("a control without gaps leaves one gap credible") {
  const GapCount control{.gaps = 0, .watched = 1s};
  CHECK(is_credible({.gaps = 1, .watched = 3s}, control));
  CHECK(!is_credible({.gaps = 2, .watched = 3s}, control));
}
