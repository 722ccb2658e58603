// Options for tests whose server must do the same in each dispatch mode. Only the configuration chooses the mode.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace corelane::testing {

// Returns options of a server. The test runs once for each mode.
inline std::vector<std::string> in_each_mode(std::vector<std::string> options = {}) {
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct");
  options.insert(options.end(), {"-ORBDispatchMode", mode});
  return options;
}

}  // namespace corelane::testing
