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

// Schedules an event of this class. The order does not depend on what happens then.
void schedule(EventQueue& events, Duration at, Class order, std::size_t index) {
  events.schedule(Time{at}, order, EventQueue::What::reach, index, 0);
}

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
  schedule(events, 3ms, Class::completion, 3);
  schedule(events, 1ms, Class::release, 1);
  schedule(events, 2ms, Class::completion, 2);
  CHECK(all_of(events) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("at one instant, completions come before replenishments, and these before releases") {
  EventQueue events;
  schedule(events, 1ms, Class::release, 3);
  schedule(events, 1ms, Class::replenishment, 2);
  schedule(events, 1ms, Class::completion, 1);
  CHECK(all_of(events) == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("events of one time and class happen in the order in which they were scheduled") {
  EventQueue events;
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < 20; ++i) {
    schedule(events, 1ms, Class::release, i);
    expected.push_back(i);
  }
  CHECK(all_of(events) == expected);
}

}  // namespace event_queue_test
