#include "orb/sched/core_allocator.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string_view>
#include <vector>

#include "orb/base/registry.h"

namespace core_allocator_test {

using namespace corelane;
using namespace corelane::sched;
using namespace std::chrono_literals;

namespace {

Contract percent(int share) { return make_contract(100ms, share * 1ms); }

CoreAllocator allocator(std::string_view strategy, std::size_t cores) {
  return CoreAllocator(*find_named(allocation_strategies(), strategy), cores);
}

// Places the tasks one after the other.
std::vector<std::size_t> places(std::string_view strategy, std::size_t cores, const std::vector<int>& shares) {
  CoreAllocator at = allocator(strategy, cores);
  std::vector<std::size_t> result;
  for (const int share : shares) {
    result.push_back(at.core_for(percent(share)));
    at.add(result.back(), percent(share));
  }
  return result;
}

}  // namespace

TEST_CASE("worst fit allocates each task to the least loaded core") {
  CHECK(places("worst-fit", 2, {60, 30, 20, 20}) == std::vector<std::size_t>{0, 1, 1, 1});
}

TEST_CASE("the strategy decides among the cores that a task fits on") {
  CHECK(places("first-fit", 2, {60, 30, 20, 20}) == std::vector<std::size_t>{0, 0, 1, 1});
  CHECK(places("best-fit", 2, {50, 70, 20, 20}) == std::vector<std::size_t>{0, 1, 1, 0});
  CHECK(places("next-fit", 3, {60, 60, 30, 20}) == std::vector<std::size_t>{0, 1, 1, 2});
}

TEST_CASE("a task that leaves makes room on its core") {
  CoreAllocator at = allocator("worst-fit", 2);
  at.add(0, percent(60));
  CHECK(at.core_for(percent(10)) == 1);
  at.remove(0, percent(60));
  CHECK(at.core_for(percent(10)) == 0);
}

// Edges.

TEST_CASE("a task that fills a core fits there") {
  CHECK(places("first-fit", 2, {60, 40}) == std::vector<std::size_t>{0, 0});
  CHECK(places("first-fit", 2, {60, 41}) == std::vector<std::size_t>{0, 1});
}

TEST_CASE("a task that fits on no core goes to the least loaded one, whatever the strategy") {
  for (const char* const strategy : {"worst-fit", "first-fit", "best-fit", "next-fit"}) {
    CAPTURE(strategy);
    CHECK(places(strategy, 2, {80, 70, 40}).back() == 1);
  }
}

TEST_CASE("one core gets all tasks") {
  CHECK(places("best-fit", 1, {80, 70, 40}) == std::vector<std::size_t>{0, 0, 0});
}

}  // namespace core_allocator_test
