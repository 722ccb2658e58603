// Tests counts with their nouns.
#include "orb/base/text/counted.h"

#include <catch2/catch.hpp>

using corelane::counted;

TEST_CASE("one is singular, and every other count is plural") {
  CHECK(counted(0, "lease") == "0 leases");
  CHECK(counted(1, "lease") == "1 lease");
  CHECK(counted(2, "lease") == "2 leases");
  CHECK(counted(1, "watch", "watches") == "1 watch");
  CHECK(counted(21, "client was", "clients were") == "21 clients were");
}
