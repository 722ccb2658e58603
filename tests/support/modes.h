// Dispatch modes for tests whose server must do the same in each of them. Only the configuration chooses the mode.
#pragma once

#include <catch2/catch.hpp>
#include <iostream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace corelane::testing {

// Whether this build has the mode leader-followers, which needs ACE.
inline constexpr bool has_followers = CORELANE_ACE;

// Returns options of a server. The test runs once for each mode that makes promises.
inline std::vector<std::string> in_each_mode(std::vector<std::string> options = {}) {
  const std::string mode = GENERATE(as<std::string>{}, "manager", "direct");
  options.insert(options.end(), {"-ORBDispatchMode", mode});
  return options;
}

// Returns a generator of every mode of this build.
inline Catch::Generators::GeneratorWrapper<std::string> every_mode() {
  std::vector<std::string> modes{"manager", "direct"};
  if (has_followers) modes.push_back("leader-followers");
  return Catch::Generators::from_range(modes);
}

// The types for which a suite of tests runs: `Others`, and `ByFollowers` if this build has the mode.
template <typename ByFollowers, typename... Others>
using WithFollowers = std::conditional_t<has_followers, std::tuple<Others..., ByFollowers>, std::tuple<Others...>>;

// For a test of that mode alone. Returns false and says why if the test is to be skipped.
inline bool can_follow() {
  if (!has_followers) std::cout << "SKIPPED: this build has no ACE, which leader-followers needs\n";
  return has_followers;
}

}  // namespace corelane::testing
