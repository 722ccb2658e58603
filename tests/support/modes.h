// The ways to dispatch, for tests whose server must do the same in each of them: chosen by configuration alone.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace corelane::testing {

// Options of a server; the test runs once for each mode.
inline std::vector<std::string> in_each_mode(std::vector<std::string> options = {}) {
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct");
  options.insert(options.end(), {"-ORBDispatchMode", mode});
  return options;
}

}  // namespace corelane::testing
