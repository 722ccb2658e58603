// Tests how a core of the same cache is found, and the file of slowdowns.
#include "services/corelane/measure/shared_cache.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "tests/services/corelane/measure/measuring.h"
#include "tests/support/system/temp_directory.h"

namespace shared_cache_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::testing;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

std::vector<os::CoreInfo> machine(const char* description) { return os::Topology::synthetic(description)->cores(); }

constexpr CoreId first{0};

}  // namespace

TEST_CASE("other work gets a core of the same cache, not a sibling") {
  CHECK(core_beside(machine("l3:1 core:2 pu:1"), first) == CoreId{1});
  CHECK(core_beside(machine("l3:2 core:1 pu:1"), first) == no_core);
  CHECK(core_beside(machine("l3:1 core:1 pu:2"), first) == no_core);
  CHECK(core_beside(machine("l3:1 core:2 pu:1"), CoreId{9}) == no_core);
}

TEST_CASE("slowdowns are added to a file that says what they are") {
  const TempDirectory directory;
  const std::string path = directory / "slowdowns.toml";
  Slowdown slowdown{.operation = "Plant/Controller.step", .beside = "./load \"x\"", .alone = 2ms, .together = 2500us};
  CHECK(factor_text(slowdown) == "1.25 times");
  CHECK(add_slowdown(path, slowdown) == "");
  slowdown.together = 2ms;
  CHECK(add_slowdown(path, slowdown) == "");
  const std::string text = contents(path);
  CHECK_THAT(text, Contains("never bounds"));
  CHECK_THAT(text,
             Catch::EndsWith("\n[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"./load \\\"x\\\"\""
                             "\nfactor = 1.250\nalone = \"2ms\"\ntogether = \"2500us\"\n"
                             "\n[[slowdown]]\noperation = \"Plant/Controller.step\"\nbeside = \"./load \\\"x\\\"\""
                             "\nfactor = 1.000\nalone = \"2ms\"\ntogether = \"2ms\"\n"));
  CHECK_THAT(add_slowdown(directory / "none/slowdowns.toml", slowdown), Contains("cannot be written"));
}

}  // namespace shared_cache_test
