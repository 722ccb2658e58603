// What a thread logs as errors, for the exception that follows.
#include "orb/os/said_errors.h"

#include <catch2/catch.hpp>
#include <thread>

#include "orb/os/log.h"
#include "tests/support/quiet.h"

using corelane::os::log::SaidErrors;

TEST_CASE("errors of the thread are heard by all who listen there, whatever the log's level is") {
  const corelane::testing::Quiet quiet;
  const SaidErrors outer;
  corelane::os::log::error("one");
  {
    const SaidErrors inner;
    corelane::os::log::warn("a warning");
    std::thread([] { corelane::os::log::error("another thread's"); }).join();
    corelane::os::log::error("two");
    CHECK(inner.text() == "two");
  }
  corelane::os::log::error("three");
  CHECK(outer.text() == "one; two; three");
}
