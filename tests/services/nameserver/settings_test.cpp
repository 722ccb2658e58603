#include "services/nameserver/settings.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace nameserver_settings_test {

using namespace corelane;
using namespace corelane::nameserver;
using namespace std::chrono_literals;

TEST_CASE("a lease lasts no shorter than 100 ms and no longer than a year") {
  NameserverSettings settings;
  const auto table = nameserver_settings();
  const auto entry = std::ranges::find(table, "naming.longest_lease", &Setting<NameserverSettings>::key);
  REQUIRE(entry != table.end());
  for (const char* wrong : {"99999999ns", "31622401s", "soon"}) CHECK(entry->apply(settings, wrong) != "");
  CHECK(settings.longest_lease == 1h);
  CHECK(entry->apply(settings, "100ms") == "");
  CHECK(settings.longest_lease == 100ms);
  CHECK(entry->apply(settings, "31622400s") == "");
  CHECK(settings.longest_lease == 366 * 24h);
}

}  // namespace nameserver_settings_test
