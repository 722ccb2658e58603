// Tests what one thread can wait for: descriptors, a time, and rings from other threads.
#include "orb/os/wait/event_poll.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <thread>

#include "orb/os/clock.h"

namespace event_poll_test {

using namespace corelane;
using namespace std::chrono_literals;
using os::EventPoll;

namespace {

os::Fd made_event() { return os::Fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void signal(const os::Fd& event) {
  const std::uint64_t one = 1;
  REQUIRE(write(event.get(), &one, sizeof one) == sizeof one);
}

// Returns how many events there are, without waiting.
std::size_t told(EventPoll& poll) { return poll.wait(false).size(); }

}  // namespace

TEST_CASE("each event is reported once, without arming again") {
  EventPoll poll;
  const os::Fd event = made_event();
  int owner = 0;
  REQUIRE(poll.add(event.get(), &owner, EPOLLIN));
  CHECK(told(poll) == 0);
  for (int i = 0; i < 3; ++i) {
    signal(event);
    const auto events = poll.wait(true);
    REQUIRE(events.size() == 1);
    CHECK(events[0].owner == &owner);
    CHECK(events[0].what == EPOLLIN);
    CHECK(told(poll) == 0);
  }
}

TEST_CASE("an existing state is reported to a new request for it and not otherwise") {
  EventPoll poll;
  const os::Fd event = made_event();
  int owner = 0;
  REQUIRE(poll.add(event.get(), &owner, EPOLLIN));
  signal(event);
  CHECK(told(poll) == 1);
  poll.change(event.get(), &owner, EPOLLIN);
  CHECK(told(poll) == 1);
  poll.change(event.get(), &owner, 0);
  signal(event);
  CHECK(told(poll) == 0);
  poll.change(event.get(), &owner, EPOLLIN | EPOLLOUT);
  const auto events = poll.wait(false);
  REQUIRE(events.size() == 1);
  CHECK(events[0].what == (EPOLLIN | EPOLLOUT));
}

TEST_CASE("a forgotten descriptor gets no more events, not even those that wait() has returned already") {
  EventPoll poll;
  const os::Fd first = made_event(), second = made_event();
  int owners[2] = {};
  REQUIRE(poll.add(first.get(), &owners[0], EPOLLIN));
  REQUIRE(poll.add(second.get(), &owners[1], EPOLLIN));
  signal(first);
  signal(second);
  const auto events = poll.wait(false);
  REQUIRE(events.size() == 2);
  poll.forget(second.get(), &owners[1]);
  for (const EventPoll::Event& event : events) CHECK((event.owner == nullptr || event.owner == &owners[0]));
  signal(second);
  CHECK(told(poll) == 0);
}

TEST_CASE("an alarm ends the wait when it is time and is told once") {
  EventPoll poll;
  const Time at = os::now() + 2ms;
  poll.set_alarm(at);
  CHECK_FALSE(poll.take_alarm());
  CHECK(poll.wait(true).empty());
  CHECK(os::now() >= at);
  CHECK(poll.take_alarm());
  CHECK_FALSE(poll.take_alarm());
  poll.set_alarm(Time{});  // a time long ago
  CHECK(poll.wait(true).empty());
  CHECK(poll.take_alarm());
}

TEST_CASE("an alarm that was called off does not ring") {
  EventPoll poll;
  const bool has_rung = GENERATE(false, true);
  poll.set_alarm(has_rung ? Time{} : os::now() + 1h);
  if (has_rung) poll.wait(true);
  poll.set_alarm(never);
  poll.ring();
  CHECK(poll.wait(true).empty());
  CHECK_FALSE(poll.take_alarm());
}

TEST_CASE("a ring before the wait ends it and one during it does, too") {
  EventPoll poll;
  poll.ring();
  poll.ring();
  CHECK(poll.wait(true).empty());
  std::jthread ringer([&] { poll.ring(); });
  CHECK(poll.wait(true).empty());
}

// Error paths.

TEST_CASE("a descriptor that cannot be waited for is refused") {
  EventPoll poll;
  int owner = 0;
  CHECK_FALSE(poll.add(-1, &owner, EPOLLIN));
  const os::Fd event = made_event();
  CHECK(poll.add(event.get(), &owner, EPOLLIN));
  CHECK_FALSE(poll.add(event.get(), &owner, EPOLLIN));
}

}  // namespace event_poll_test
