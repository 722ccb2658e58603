// Tests the settings whose values are the names of a registry: what they take, list and refuse.
#include "orb/core/config/setting_help.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "orb/core/settings.h"
#include "orb/transport/transport_kind.h"

namespace setting_help_test {

using namespace corelane;
using namespace corelane::core;

namespace {

const SettingsEntry& setting(std::string_view key) {
  const auto& table = settings_table();
  const auto entry = std::ranges::find(table, key, &SettingsEntry::key);
  REQUIRE(entry != table.end());
  return *entry;
}

}  // namespace

TEST_CASE("every admission test can be chosen and on and off choose the usual ones") {
  Settings settings;
  const SettingsEntry& entry = setting("dispatch.admission");
  for (const auto* const test : sched::for_servers(sched::admission_tests())) {
    CHECK(entry.apply(settings, test->name) == "");
    CHECK(settings.executive.admission_test == test);
    CHECK(entry.help.find(std::string(test->name) + ": ") != entry.help.npos);
  }
  CHECK(entry.apply(settings, "on") == "");
  CHECK(settings.executive.admission_test == &sched::admission::response_time);
  CHECK(entry.apply(settings, "off") == "");
  CHECK(settings.executive.admission_test == &sched::admission::none);
  CHECK(entry.apply(settings, "maybe") == "on, off, response-time, liu-layland, hyperbolic, aub or none");
}

TEST_CASE("a test or an allocation that no server has is refused with the places where it works") {
  Settings settings;
  const SettingsEntry& admission = setting("dispatch.admission");
  for (const auto* const test : sched::admission_tests()) {
    if (test->usable_in.server) continue;
    CHECK(admission.apply(settings, test->name) ==
          "on, off, response-time, liu-layland, hyperbolic, aub or none; " + std::string(test->name) +
              " works in the analysis (corelane plan) and the simulator only; " + std::string(test->instead));
    CHECK(admission.help.find(std::string(test->name) + ": ") == admission.help.npos);
  }
  CHECK(setting("dispatch.allocation").apply(settings, "splitting") ==
        "worst-fit, first-fit, best-fit, next-fit or cache-aware; splitting works in the analysis (corelane plan) and "
        "the simulator "
        "only");
  CHECK(settings.executive.admission_test == sched::default_admission_test());
  CHECK(settings.executive.allocation == sched::default_allocation_strategy());
}

TEST_CASE("every allocation strategy can be chosen and is in the help and in the message about a wrong one") {
  Settings settings;
  const SettingsEntry& entry = setting("dispatch.allocation");
  for (const auto* const strategy : sched::for_servers(sched::allocation_strategies())) {
    CHECK(entry.apply(settings, strategy->name) == "");
    CHECK(settings.executive.allocation == strategy);
    CHECK(entry.help.find(std::string(strategy->name) + ": ") != entry.help.npos);
  }
  CHECK(entry.apply(settings, "luckiest-fit") == "worst-fit, first-fit, best-fit, next-fit or cache-aware");
  CHECK(entry.apply(settings, "") != "");
}

TEST_CASE("the help of endpoint.listen has an example of each kind of transport that the setting takes") {
  Settings settings;
  const SettingsEntry& entry = setting("endpoint.listen");
  for (const auto* const kind : transport::transport_kinds()) {
    CHECK(entry.help.find(std::string(kind->example) + ": ") != entry.help.npos);
    CHECK(entry.apply(settings, kind->example) == "");
    CHECK(settings.listen.at(0).kind == kind);
  }
  CHECK(entry.apply(settings, "nonsense").find(transport::endpoint_examples()) != std::string::npos);
}

}  // namespace setting_help_test
