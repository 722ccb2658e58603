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
  for (std::uint32_t i = 0; i < RequestIds::block; ++i) (void)ids.next(start);  // the last of them begins a block
  const std::uint32_t before = ids.next(start);
  CHECK(ids.next(start + RequestIds::longest_kept) == before + 1);
  const std::uint32_t elsewhere = others.next(start);
  const std::uint32_t after = ids.next(start + RequestIds::longest_kept + 1ns);
  CHECK(after > elsewhere);
}

TEST_CASE("calls that are made once or seldom waste hardly any request ids") {
  const std::uint32_t before = RequestIds().next(start);
  for (int i = 0; i < 1'000; ++i) (void)RequestIds().next(start);
  RequestIds seldom;
  for (int i = 0; i < 1'000; ++i) (void)seldom.next(start + i * 2s);
  CHECK(RequestIds().next(start) - before <= 3'001);
}

TEST_CASE("a call that is made often draws request ids seldom") {
  RequestIds often;
  int draws = 0;
  for (int i = 0; i < 64'000; ++i) {
    const std::uint32_t id = often.next(start);
    draws += often.next(start) - id != 1 ? 1 : 0;
    (void)RequestIds().next(start);  // so that a new block does not follow the old one
  }
  CHECK(draws < 64'000 / 16);
}
