#include "orb/sim/event_queue.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <cstddef>
#include <vector>

using namespace corelane;
using namespace corelane::sim;
using namespace std::chrono_literals;

namespace event_queue_test {
namespace {

using Class = EventQueue::Class;
using What = EventQueue::What;

// Returns the indices of the events, in their order.
std::vector<std::size_t> all_of(EventQueue& events) {
  std::vector<std::size_t> order;
  while (!events.empty()) {
    const Time next = events.next();
    const EventQueue::Event event = events.take();
    REQUIRE(event.at == next);
    order.push_back(event.index);
  }
  return order;
}

}  // namespace

TEST_CASE("the event with the earliest time is the next one") {
  EventQueue events;
  CHECK(events.empty());
  events.schedule(Time{3ms}, Class::completion, What::reach, 3, 0);
  events.schedule(Time{1ms}, Class::release, What::release, 1, 0);
  events.schedule(Time{2ms}, Class::completion, What::reach, 2, 0);
  CHECK(all_of(events) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("at one instant, completions come before replenishments, and these before releases") {
  EventQueue events;
  events.schedule(Time{1ms}, Class::release, What::release, 3, 0);
  events.schedule(Time{1ms}, Class::replenishment, What::replenished, 2, 0);
  events.schedule(Time{1ms}, Class::completion, What::reach, 1, 0);
  CHECK(all_of(events) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("events of one time and class happen in the order in which they were scheduled") {
  EventQueue events;
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 20; ++i) {
    events.schedule(Time{1ms}, Class::release, What::release, i, 0);
    expected.push_back(i);
  }
  CHECK(all_of(events) == expected);
}

}  // namespace event_queue_test
