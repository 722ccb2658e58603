#include "orb/core/client/request_ids.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <set>

using namespace corelane;
using namespace corelane::core;
using namespace std::chrono_literals;

namespace {

constexpr Time start{1h};

}  // namespace

TEST_CASE("request ids of several calls in turn never repeat") {
  RequestIds first, second;
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < 3 * RequestIds::block; ++i) {
    CHECK(seen.insert(first.next(start)).second);
    CHECK(seen.insert(second.next(start)).second);
  }
}

TEST_CASE("request ids that were drawn long ago are not used") {
  RequestIds ids, others;
  const std::uint32_t before = ids.next(start);
  CHECK(ids.next(start + RequestIds::longest_kept) == before + 1);
  const std::uint32_t elsewhere = others.next(start);
  const std::uint32_t after = ids.next(start + RequestIds::longest_kept + 1ns);
  CHECK(after - elsewhere >= RequestIds::block);
}
