#include "services/corelane/reproductions/shared_server.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace shared_server_test {

using namespace corelane;
using namespace corelane::tool;
using namespace corelane::tool::reproductions;
using namespace std::chrono_literals;

FrameCounts frames(bool is_highest_locker, bool has_medium_load) {
  return run_shared_server({.is_highest_locker = is_highest_locker, .has_medium_load = has_medium_load, .length = 10s});
}

TEST_CASE("a thread of medium priority delays frames by all that it does if their server has a low priority") {
  const FrameCounts inverted = frames(false, true);
  CHECK(inverted.worst >= medium_demand);
  CHECK(inverted.late > 0);
  CHECK(frames(false, false).worst < frame_period);
}

TEST_CASE(
    "a thread of medium priority does not delay frames at all if their server has the highest locker's priority") {
  const FrameCounts alone = frames(true, false);
  const FrameCounts loaded = frames(true, true);
  CHECK(loaded.worst == alone.worst);
  CHECK(loaded.late == 0);
  CHECK(loaded.frames == alone.frames);
}

TEST_CASE("a frame waits for no more than two requests of the other client") {
  // One runs when the frame begins. Another one may come while the frame computes.
  CHECK(frames(true, true).worst <= frame_demand + 3 * request_demand);
  CHECK(frames(true, true).worst > frame_demand + request_demand);
}

TEST_CASE("every frame that begins is answered") {
  CHECK(frames(true, true).frames == static_cast<std::uint64_t>(10s / frame_period) + 1);
  CHECK(frames(false, true).frames == static_cast<std::uint64_t>(10s / frame_period) + 1);
}

}  // namespace shared_server_test
