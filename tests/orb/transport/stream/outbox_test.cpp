// Tests the outbox alone, which keeps what waits for a link: how much may wait, and which sender is next.
#include "orb/transport/stream/outbox.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "orb/os/lock.h"
#include "tests/support/stream_harness.h"

namespace outbox_test {

using namespace corelane;
using namespace corelane::testing;
using namespace std::chrono_literals;
using transport::Outbox;

namespace {

constexpr std::size_t limit = 10;

// An outbox with its connection's lock.
class Box {
 public:
  explicit Box(Duration patience = 1h) : outbox(limit, patience, nullptr) {}

  void append(std::size_t bytes) {
    const std::string text(bytes, 'x');
    const Bytes part = bytes_of(text);
    outbox.append(std::span<const Bytes>{&part, 1}, 0);
  }
  std::optional<Error> await_room(std::size_t bytes, Time until) {
    const os::LockGuard lock(mutex);
    return outbox.await_room(mutex, bytes, until);
  }
  // Acts as a peer that takes everything.
  void take() {
    const os::LockGuard lock(mutex);
    outbox.consume(outbox.front().size());
  }
  // Starts a thread that waits for room, and fills the outbox as soon as it may. The thread waits when this returns.
  std::jthread sender(int number) {
    const auto has_lock = std::make_shared<std::binary_semaphore>(0);
    std::jthread thread([this, number, has_lock] {
      const os::LockGuard lock(mutex);
      has_lock->release();
      if (outbox.await_room(mutex, limit / 2, never)) return;
      append(limit / 2);
      sent.push_back(number);
    });
    has_lock->acquire();
    const os::LockGuard until_it_waits(mutex);
    return thread;
  }

  Outbox outbox;
  os::PiMutex mutex;
  std::vector<int> sent;
};

}  // namespace

TEST_CASE("a sender that may wait can use half of the room, a sender that may not wait can use all") {
  Box box;
  CHECK(box.outbox.has_room(limit + 1));  // nothing waits yet
  box.append(4);
  CHECK(box.outbox.has_room(6));
  CHECK_FALSE(box.outbox.has_room(7));
  CHECK_FALSE(box.await_room(1, Time{}));
  CHECK(box.await_room(2, Time{}) == Outbox::no_room);
}

TEST_CASE("the rest of a message waits where it lies, before what is appended") {
  Box box;
  const Bytes parts[] = {bytes_of("abc"), bytes_of("defg")};
  box.outbox.lend(parts, 2);
  CHECK(box.outbox.lent(parts) == 5);
  CHECK_FALSE(box.outbox.empty());
  CHECK(box.outbox.front().data() == parts[0].data() + 2);
  CHECK(box.outbox.has_room(limit - 5));
  CHECK_FALSE(box.outbox.has_room(limit - 4));
  box.append(2);
  box.take();
  CHECK(box.outbox.front().data() == parts[1].data());
  SECTION("until the link has taken it") {
    box.take();
    CHECK(box.outbox.lent(parts) == 0);
    CHECK(text_of(box.outbox.front()) == "xx");
  }
  SECTION("until it is copied") {
    box.outbox.consume(1);
    box.outbox.end_loan(parts);
    CHECK(box.outbox.lent(parts) == 0);
    CHECK(text_of(box.outbox.front()) == "efg");
    box.take();
    CHECK(text_of(box.outbox.front()) == "xx");
  }
  SECTION("until the connection ends") {
    const os::LockGuard lock(box.mutex);
    box.outbox.close();
    box.outbox.end_loan(parts);
    CHECK(box.outbox.empty());
  }
}

TEST_CASE("a sender whose message was taken ends nobody else's loan") {
  Box box;
  const Bytes first[] = {bytes_of("ab")}, second[] = {bytes_of("cde")};
  box.outbox.lend(first, 0);
  box.take();
  box.outbox.lend(second, 1);
  CHECK(box.outbox.lent(first) == 0);
  CHECK(box.outbox.lent(second) == 2);
  box.outbox.end_loan(first);
  CHECK(box.outbox.front().data() == second[0].data() + 1);
  box.outbox.end_loan(second);
  CHECK(box.outbox.front().data() != second[0].data() + 1);
  CHECK(text_of(box.outbox.front()) == "de");
}

TEST_CASE("a sender that may wait gets room when the link has taken the rest of a message") {
  Box box;
  const Bytes part = bytes_of("0123456789");
  box.outbox.lend(std::span<const Bytes>{&part, 1}, 0);
  std::jthread sender = box.sender(1);
  box.take();
  sender.join();
  CHECK(box.sent == std::vector{1});
}

TEST_CASE("senders get room in the order in which they came") {
  Box box;
  box.append(limit);
  std::jthread first = box.sender(1), second = box.sender(2);
  box.take();
  first.join();
  box.take();
  second.join();
  CHECK(box.sent == std::vector{1, 2});
}

TEST_CASE("a sender that comes while another waits does not overtake it") {
  Box box;
  box.append(limit);
  std::jthread first = box.sender(1);
  CHECK(box.await_room(1, Time{}) == Outbox::no_room);
  box.take();
  first.join();
  CHECK(box.sent == std::vector{1});
}

TEST_CASE("data that the link no longer takes makes room") {
  Box box;
  box.append(limit);
  std::jthread sender = box.sender(1);
  {
    const os::LockGuard lock(box.mutex);
    box.outbox.discard();
  }
  sender.join();
  CHECK(box.sent.size() == 1);
}

// Error paths.

TEST_CASE("a sender that waits for a peer that reads nothing is told so") {
  Box box(0ns);
  box.append(limit);
  CHECK(box.await_room(1, never) == Outbox::stalled);
}

TEST_CASE("no sender waits for a connection that has ended") {
  Box box;
  box.append(limit);
  std::jthread first = box.sender(1), second = box.sender(2);
  {
    const os::LockGuard lock(box.mutex);
    box.outbox.close();
  }
  first.join();
  second.join();
  CHECK_FALSE(box.await_room(limit, Time{}));
}

}  // namespace outbox_test
