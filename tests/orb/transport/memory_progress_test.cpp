#include "orb/transport/memory_progress.h"

#include <catch2/catch.hpp>
#include <chrono>

using namespace corelane;
using namespace corelane::transport;
using namespace std::chrono_literals;

namespace memory_progress_test {
namespace {

constexpr Duration patience = 1s;
constexpr Time start{10s};

}  // namespace

TEST_CASE("a half message grows by steps that count") {
  MemoryProgress progress;
  progress.count_half_from(1'000, start);
  CHECK_FALSE(progress.half_has_grown(1'000 + MemoryProgress::pace - 1));
  CHECK(progress.half_has_grown(1'000 + MemoryProgress::pace));
  progress.limit_half(500);
  CHECK(progress.half_has_grown(500 + MemoryProgress::pace));
  progress.limit_half(2'000);
  CHECK_FALSE(progress.half_has_grown(500 + MemoryProgress::pace - 1));
}

TEST_CASE("a half message rests when it has not grown for a while in which it could") {
  MemoryProgress progress;
  progress.count_half_from(1'000, start);
  CHECK_FALSE(progress.half_rests(start + patience - 1ns, patience));
  CHECK(progress.half_rests(start + patience, patience));
  progress.let_half_grow(start + patience);
  CHECK_FALSE(progress.half_rests(start + patience, patience));
  CHECK(progress.half_rests(start + 2 * patience, patience));
  CHECK(progress.half_has_grown(1'000 + MemoryProgress::pace));
}

TEST_CASE("a backlog rests when the peer has taken nothing for a while") {
  MemoryProgress progress;
  progress.take_backlog(start);
  CHECK_FALSE(progress.backlog_rests(start + patience - 1ns, patience));
  CHECK(progress.backlog_rests(start + patience, patience));
}

}  // namespace memory_progress_test
