// Tests that the errors which a thread logs are collected for the exception that follows.
#include "orb/os/process/error_capture.h"

#include <catch2/catch.hpp>
#include <thread>

#include "orb/os/log.h"
#include "tests/support/system/captured_errors.h"

using corelane::os::log::ErrorCapture;
using corelane::testing::CapturedErrors;

TEST_CASE("an error goes to the innermost collector, and the log has the others") {
  const CapturedErrors log;
  {
    ErrorCapture outer;
    corelane::os::log::error("one");
    {
      ErrorCapture inner;
      corelane::os::log::warn("a warning");
      std::thread([] { corelane::os::log::error("another thread's"); }).join();
      corelane::os::log::error("two");
      corelane::os::log::error("three");
      CHECK(inner.take() == "two; three");
      CHECK(inner.take() == "");
    }
    CHECK(outer.take() == "one");
  }
  CHECK(log.times("error: another thread's") == 1);
  CHECK(log.times("warning: a warning") == 1);
  CHECK(log.times("one") + log.times("two") + log.times("three") == 0);
}

TEST_CASE("errors that are not taken go to the outer collectors, and then to the log, each once") {
  const CapturedErrors log;
  {
    ErrorCapture outer;
    {
      const ErrorCapture inner;
      corelane::os::log::error("one");
    }
    CHECK(log.text() == "");
    CHECK(outer.take() == "one");
    const ErrorCapture inner;
    corelane::os::log::error("two");
  }
  CHECK(log.times("error: two") == 1);
}
