#include "services/corelane/real_run/cause_counts.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace corelane;
using namespace corelane::tool;
using eval::MissCause;

TEST_CASE("misses are counted by cause") {
  const std::vector<eval::JobRecord> misses{
      {.cause = MissCause::host}, {.cause = MissCause::scheduling}, {.cause = MissCause::host}};
  CauseCounts counts;
  counts.add(misses);
  CHECK(counts.of(MissCause::host) == 2);
  CHECK(counts.of(MissCause::scheduling) == 1);
  CHECK(counts.of(MissCause::overrun) == 0);
  CHECK(counts.all() == 3);
  CHECK(counts.text() == "3 misses: scheduling 1, overrun 0, host 2, unknown 0");
  counts.add(misses);
  CHECK(counts.all() == 6);
}

TEST_CASE("no job was late in a run without misses") {
  CHECK(CauseCounts{}.text() == "0 misses: scheduling 0, overrun 0, host 0, unknown 0");
}
