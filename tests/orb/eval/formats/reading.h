// Reads and writes scenarios in the formats of other programs, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "orb/eval/scenario_file.h"
#include "orb/eval/scenario_formats.h"
#include "orb/eval/task_set.h"

namespace corelane::eval::testing {

inline Scenario read(const std::string& text, const FormatOptions& options = {}) {
  auto cells = parse_scenario(text, "file", options);
  if (!cells) FAIL(cells.error().text);
  return std::move(cells->front().scenario);
}

inline std::string fault_in(const std::string& text) {
  const auto cells = parse_scenario(text, "file");
  return cells ? "" : cells.error().text;
}

inline WrittenScenario written(const Scenario& scenario, const std::string& format, const FormatOptions& options = {}) {
  const auto listed = as_listed(scenario);
  REQUIRE(listed);
  auto result = find_named(scenario_formats(), format)->write(*listed, options);
  if (!result) FAIL(result.error().text);
  return *std::move(result);
}

}  // namespace corelane::eval::testing
