#include "orb/core/skeleton.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace skeleton_test {

using namespace corelane::core;

namespace {
constexpr const char* ids[] = {"IDL:Plant/Controller:1.2", "IDL:Plant/Base:1.0"};
constexpr Upcall operations[] = {{.name = "_get_gain"}, {.name = "configure"}, {.name = "step"}};
constexpr Skeleton controller{ids, operations};
}  // namespace

TEST_CASE("a task's label is its most derived interface and its operation") {
  CHECK(label_of(controller, operations[2]) == "Plant/Controller.step");
  CHECK(label_of({{}, operations}, operations[2]) == "step");
}

TEST_CASE("an operation that is not there is answered with what was probably meant") {
  const auto [name, hint] = GENERATE(table<std::string, std::string>({
      {"stp", "; the nearest is step"},
      {"gain", "; write _get_gain"},
      {"Plant::Controller::step", "; write step"},
      {"Plant/Controller.step", "; write step"},
      {"Controller.stp", "; the nearest is step"},
      {"shutdown", ""},
      {"", ""},
  }));
  CHECK(unknown_operation(controller, name) == "IDL:Plant/Controller:1.2 has no operation " + name + hint);
}

TEST_CASE("among more operations than are compared none is said to be the nearest") {
  std::vector<std::string> names;
  for (int i = 0; i < 17; ++i) names.push_back("set_motor_" + std::to_string(10 + i));
  std::vector<Upcall> upcalls;
  for (const std::string& name : names) upcalls.push_back({.name = name});
  CHECK(unknown_operation({ids, upcalls}, "set_motor_2O") == "IDL:Plant/Controller:1.2 has no operation set_motor_2O");
  upcalls.erase(upcalls.begin());
  CHECK(unknown_operation({ids, upcalls}, "set_motor_2O") ==
        "IDL:Plant/Controller:1.2 has no operation set_motor_2O; the nearest is set_motor_20");
}

TEST_CASE("a long operation name of a peer is shown shortened, and no similar one is looked for") {
  CHECK(unknown_operation(controller, std::string(1'000'000, 's')) ==
        "IDL:Plant/Controller:1.2 has no operation " + std::string(64, 's') + "...");
}

}  // namespace skeleton_test
