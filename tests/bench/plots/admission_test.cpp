// The figure of README.md is what its program draws.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "orb/os/process/child_process.h"

using corelane::os::ChildProcess;
using corelane::os::program_beside;

TEST_CASE("the figure of admission control is what its program draws") {
  ChildProcess program({program_beside("corelane-plot-admission")});
  const std::string drawn = program.read_all().value();
  CHECK(program.wait()->text() == "exit status 0");
  std::ifstream file(CORELANE_FIGURES "/admission.svg");
  CHECK(drawn == std::string(std::istreambuf_iterator<char>(file), {}));
}
