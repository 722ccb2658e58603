#include "services/corelane/tune/tuned_parameters.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

namespace tuned_parameters_test {
namespace {

using namespace corelane::tool;
using namespace std::chrono_literals;
using corelane::core::Settings;

// Returns the values of the parameter but the present one; none if it is not tried.
std::vector<std::string> values_of(const std::string& key, const Settings& settings, std::size_t cores = 2) {
  for (const TunedParameter& parameter : tuned_parameters(settings, cores))
    if (parameter.key == key) return {parameter.values.begin() + 1, parameter.values.end()};
  return {};
}

}  // namespace

TEST_CASE("each parameter begins with the present value, and its setting takes all others") {
  for (const TunedParameter& parameter : tuned_parameters({}, 4)) {
    INFO(parameter.key);
    REQUIRE(parameter.values.size() > 1);
    CHECK(parameter.values.front().empty());
    const auto& table = corelane::core::settings_table();
    const auto entry = std::ranges::find(table, parameter.key, &corelane::core::SettingsEntry::key);
    REQUIRE(entry != table.end());
    for (std::size_t i = 1; i < parameter.values.size(); ++i) {
      Settings settings;
      CHECK(entry->apply(settings, parameter.values[i]) == "");
    }
  }
}

TEST_CASE("values that admission counts with are only raised") {
  Settings settings;
  settings.executive.platform.budget = 100us;
  settings.executive.overshoot = 30us;
  CHECK(values_of("platform.budget", settings) == std::vector<std::string>{"200us", "400us"});
  CHECK(values_of("dispatch.overshoot", settings) == std::vector<std::string>{"40us", "80us"});
  settings.executive.platform.budget = 200us;  // of 1 ms
  CHECK(values_of("platform.budget", settings) == std::vector<std::string>{"400us"});
}

TEST_CASE("a setting that a source sets is left alone") {
  Settings settings;
  settings.given.insert("client.wait");
  CHECK(values_of("client.wait", settings).empty());
  CHECK_FALSE(values_of("client.spin", settings).empty());
}

TEST_CASE("values that a setting does not take are left out") {
  const auto threads = values_of("best_effort.threads", {}, 100);
  CHECK(threads == std::vector<std::string>{"100", "200"});  // at most 256
}

TEST_CASE("values become variables, text and sections of a file") {
  const std::vector<TunedParameter> parameters{
      {"client.wait", {"", "park"}}, {"pool.x", {"", "1"}}, {"client.spin", {"", "5us", "7us"}}};
  CHECK(variables_for(parameters, {1, 0, 2}) ==
        std::vector<std::string>{"CORELANE_CLIENT_WAIT=park", "CORELANE_CLIENT_SPIN=7us"});
  CHECK(text_of_values(parameters, {1, 0, 2}) == "client.wait = park, client.spin = 7us");
  CHECK(toml_of(parameters, {1, 1, 2}) == "\n[client]\nwait = \"park\"\nspin = \"7us\"\n\n[pool]\nx = \"1\"\n");
  CHECK(variables_for(parameters, {0, 0, 0}).empty());
  CHECK(text_of_values(parameters, {0, 0, 0}) == "the defaults");
}

}  // namespace tuned_parameters_test
