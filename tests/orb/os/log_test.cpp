// What the program says about itself.
#include "orb/os/log.h"

#include <catch2/catch.hpp>

#include "tests/support/captured_errors.h"

using namespace corelane;
using testing::CapturedErrors;

TEST_CASE("a line of the log stays one line whatever others wrote into it") {
  const CapturedErrors errors;
  os::log::warn("from afar: a\nerror: b\x1b[2J\x7f");
  CHECK_THAT(errors.text(), Catch::EndsWith("warning: from afar: a?error: b?[2J?\n"));
}

TEST_CASE("what is below the level is not said") {
  const CapturedErrors errors;
  os::log::debug("a\nb");
  CHECK(errors.text().empty());
}
