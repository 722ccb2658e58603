#include "orb/dispatch/serving/waiting_sources.h"

#include <sys/eventfd.h>

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "orb/dispatch/serving/source_poll.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"

using namespace corelane;
using namespace corelane::dispatch;
using namespace std::chrono_literals;

namespace {

// A connection whose descriptor is readable when the test says so.
class BellSource final : public RequestSource {
 public:
  Found next(JobPtr&, MutableBytes, Time) noexcept override { return Found::nothing; }
  void leave() noexcept override {}
  void finish(JobPtr) noexcept override {}
  void send_kept() noexcept override {}
  bool detach() noexcept override { return false; }
  Next finish_detached(JobPtr) noexcept override { return {}; }
  Next take_waiting() noexcept override { return {}; }
  bool begin_wait(WaitsFor) noexcept override { return false; }
  bool end_wait(WaitsFor) noexcept override { return false; }
  bool arm() noexcept override { return true; }
  int descriptor() const noexcept override { return bell_.get(); }
  bool unblocked() noexcept override { return true; }
  bool block() noexcept override { return false; }
  std::optional<std::uint32_t> end_events() const noexcept override { return std::nullopt; }
  Time expires_at() const noexcept override { return never; }
  bool expire(Time) noexcept override { return false; }
  bool evict(bool) noexcept override { return false; }
  void close() noexcept override {}
  void send() const { REQUIRE(eventfd_write(bell_.get(), 1) == 0); }

 private:
  const os::Fd bell_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
};

// Returns which sources have events now. Null: the poll was rung.
std::vector<const RequestSource*> events_of(SourcePoll& poll) {
  std::array<epoll_event, 4> room;
  std::vector<const RequestSource*> found;
  for (const epoll_event& event : poll.wait(room, false)) found.push_back(SourcePoll::source_of(event));
  return found;
}

}  // namespace

TEST_CASE("connections with something to serve are taken in their order") {
  const auto first = std::make_shared<BellSource>();
  const auto second = std::make_shared<BellSource>();
  WaitingSources waiting;
  CHECK(waiting.empty());
  CHECK_FALSE(waiting.pop_ready());
  waiting.push_ready(*first);
  waiting.push_ready(*second);
  CHECK_FALSE(waiting.empty());
  CHECK(waiting.pop_ready() == first);
  CHECK(waiting.pop_ready() == second);
  CHECK(waiting.empty());
  waiting.push_ready(*first);
  CHECK(waiting.pop_ready() == first);
}

TEST_CASE("a connection with requests that may run is taken once, however often it is pushed") {
  const auto source = std::make_shared<BellSource>();
  WaitingSources waiting;
  CHECK_FALSE(waiting.pop_helped());
  CHECK(waiting.push_helped(source));
  CHECK_FALSE(waiting.push_helped(source));
  CHECK_FALSE(waiting.empty());
  CHECK(waiting.pop_helped() == source);
  CHECK_FALSE(waiting.pop_helped());
  CHECK(waiting.push_helped(source));
  waiting.clear();
  CHECK(waiting.empty());
  CHECK(source.use_count() == 1);
}

TEST_CASE("the poll tells once of a connection that it watches, and not of one that it does not watch yet") {
  BellSource source;
  SourcePoll poll;
  REQUIRE(poll.open());
  source.send();
  REQUIRE(poll.add(source));
  CHECK(events_of(poll).empty());
  poll.watch_bytes(&source, source.descriptor());
  CHECK(events_of(poll) == std::vector<const RequestSource*>{&source});
  CHECK(events_of(poll).empty());
  poll.watch_bytes(&source, source.descriptor());
  poll.remove(source);
  CHECK(events_of(poll).empty());
}

TEST_CASE("the poll is woken by an earlier time to expire, and not by a later one") {
  SourcePoll poll;
  REQUIRE(poll.open());
  const Time now = os::now();
  CHECK_FALSE(poll.take_expiry(now));
  poll.note_expiry(now + 1h);
  CHECK(events_of(poll) == std::vector<const RequestSource*>{nullptr});
  poll.quiet();
  poll.note_expiry(now + 2h);
  CHECK(events_of(poll).empty());
  CHECK_FALSE(poll.take_expiry(now));
  CHECK(poll.take_expiry(now + 1h));
  CHECK_FALSE(poll.take_expiry(now + 1h));  // it is forgotten
}
