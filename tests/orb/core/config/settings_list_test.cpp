// Tests the table that is made of the tables of all components.
#include "orb/core/config/settings_list.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/system/temp_directory.h"

namespace settings_list_test {

using namespace corelane;
using namespace corelane::core;

namespace {

// Returns what is wrong with a configuration file with this text; "" if nothing is.
std::string fault_of_file(const std::string& text) {
  const testing::TempDirectory directory;
  const std::string file = directory / "corelane.toml";
  std::ofstream(file) << text;
  int argc = 0;
  const auto settings = load_settings(argc, nullptr, {{}, {file}});
  return settings ? "" : settings.error().text;
}

struct OfAService {
  bool flag = false;
};
constexpr Setting<OfAService> of_a_service[] = {
    {"service.flag", "off", "A setting", [](OfAService& s, std::string_view) { return s.flag = true, std::string{}; }}};

}  // namespace

TEST_CASE("each setting is declared once, and each place among the first settings is taken once") {
  std::set<std::string_view> keys;
  std::set<unsigned> places;
  std::size_t first = 0;
  for (const SettingsEntry& entry : settings_table()) {
    INFO(entry.key);
    CHECK(keys.insert(entry.key).second);
    if (entry.first == 0) continue;
    ++first;
    CHECK(places.insert(entry.first).second);
  }
  REQUIRE(first == 10);  // "The first ten settings"
  CHECK(*places.rbegin() == first);
}

TEST_CASE("each section of settings is one piece of the table") {
  std::vector<std::string_view> sections;
  for (const SettingsEntry& entry : settings_table()) {
    const std::string_view section = entry.key.substr(0, entry.key.find('.'));
    if (sections.empty() || sections.back() != section) sections.push_back(section);
  }
  const std::set<std::string_view> different(sections.begin(), sections.end());
  CHECK(different.size() == sections.size());
}

TEST_CASE("a file with settings of other programs is read and errors in them are told") {
  CHECK(fault_of_file("[naming]\nstore = \"etcd:http://h\"\netcd_user = \"a\"\n[reserved]\nkeep = 0\n") == "");
  CHECK_THAT(fault_of_file("[naming]\netcd_usr = \"a\"\n"),
             Catch::Contains("unknown key naming.etcd_usr; the nearest known is naming.etcd_user"));
  CHECK_THAT(fault_of_file("[naming]\ndepth = 0\n"),
             Catch::Contains("naming.depth = 0: expected a number from 1 to 1024"));
}

TEST_CASE("values that a service declares are defaults until they are set and are copied with the others") {
  std::vector<SettingsEntry> table;
  add_settings(table, SettingsOf<OfAService>(of_a_service));
  const Settings fresh;
  Settings settings;
  CHECK_FALSE(fresh.services.of<OfAService>().flag);
  CHECK(table.at(0).apply(settings, "on") == "");
  const Settings copy = settings;
  CHECK(copy.services.of<OfAService>().flag);
  CHECK_FALSE(fresh.services.of<OfAService>().flag);
}

}  // namespace settings_list_test
