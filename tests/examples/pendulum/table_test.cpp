// The demo's texts for people: its progress on terminals of several widths.
#include "examples/pendulum/table.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane::pendulum;
using namespace std::chrono_literals;

TEST_CASE("progress has a bar of thirty characters where nothing bounds it") {
  CHECK(progress_of(5s, 10s, "383 forces computed", 0) ==
        "[###############...............]  5.0 s  383 forces computed");
}

TEST_CASE("an overload is shown as expected, in a line for 80 columns") {
  const std::string line = progress_of(5s, 10s, silence_of(true), 80);
  CHECK_THAT(line, Catch::EndsWith("  5.0 s  overloaded, as expected: no time is left for the demo's question"));
  CHECK_THAT(silence_of(false), !Catch::Contains("expected"));
}

TEST_CASE("progress is shorter than the terminal is wide, and loses its bar before its words") {
  CHECK(progress_of(5s, 10s, "9 forces", 50) == progress_of(5s, 10s, "9 forces", 0));
  CHECK(progress_of(5s, 10s, "9 forces", 30) == "[#####.....]  5.0 s  9 forces");
  CHECK(progress_of(5s, 10s, "9 forces", 10) == "[]  5.0 s");
  for (std::size_t columns = 1; columns < 80; ++columns)
    CHECK(progress_of(10s, 10s, "383 forces computed", columns).size() < columns);
}
