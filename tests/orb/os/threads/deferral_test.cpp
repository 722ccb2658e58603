#include "orb/os/threads/deferral.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>

using corelane::os::Deferral;
using corelane::os::UniqueFunction;

namespace {

bool defer(UniqueFunction<void()> function) { return Deferral::defer(function); }

}  // namespace

TEST_CASE("deferred functions run in their order when the deferral is run") {
  std::string order;
  Deferral later;
  CHECK(defer([&] { order += 'a'; }));
  CHECK(defer([&] { order += 'b'; }));
  CHECK(order.empty());
  later.run();
  CHECK(order == "ab");
  later.run();
  CHECK(order == "ab");
}

TEST_CASE("the end of a deferral runs what is left") {
  bool ran = false;
  {
    const Deferral later;
    CHECK(defer([&] { ran = true; }));
  }
  CHECK(ran);
}

TEST_CASE("the innermost deferral takes the work and hands back to the outer one") {
  std::string order;
  Deferral outer;
  {
    const Deferral inner;
    CHECK(defer([&] { order += 'i'; }));
  }
  CHECK(order == "i");
  CHECK(defer([&] { order += 'o'; }));
  outer.run();
  CHECK(order == "io");
}

TEST_CASE("nothing is deferred without a deferral, on another thread, or by what already runs") {
  CHECK_FALSE(defer([] {}));
  Deferral later;
  std::thread([] { CHECK_FALSE(defer([] {})); }).join();
  bool again = true;
  CHECK(defer([&] { again = defer([] {}); }));
  later.run();
  CHECK_FALSE(again);
}
