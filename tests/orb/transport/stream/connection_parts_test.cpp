// Tests the parts of a StreamConnection that need neither a link nor a reactor.
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "orb/base/errors.h"
#include "orb/os/lock.h"
#include "orb/transport/stream/drain_notice.h"
#include "orb/transport/stream/read_mode.h"
#include "orb/transport/stream/stream_end.h"
#include "orb/transport/stream/stream_observers.h"
#include "orb/transport/stream/traffic_times.h"
#include "orb/transport/stream/turn_account.h"

namespace connection_parts_test {

using namespace corelane;
using namespace corelane::transport;
using namespace std::chrono_literals;

namespace {

class SilentReader final : public Reader {
 public:
  bool try_evict() noexcept override { return false; }
  void on_drained() noexcept override {}
};

class SilentWatcher final : public Watcher {
 public:
  void on_bytes(Bytes, Time) noexcept override {}
  void on_closed(Error) noexcept override {}
};

class SilentMonitor final : public ConnectionMonitor {
 public:
  void on_peer_end() noexcept override {}
  void on_idle() noexcept override {}
};

}  // namespace

TEST_CASE("a connection has one reader at a time") {
  ReadMode mode;
  REQUIRE(mode.begin_receiving());
  CHECK_FALSE(mode.begin_receiving());
  CHECK_FALSE(mode.begin_watching());
  mode.end();
  REQUIRE(mode.begin_watching());
  CHECK_FALSE(mode.begin_receiving());
  mode.end();
  CHECK(mode.begin_receiving());
}

TEST_CASE("without an idle timeout, renewing reads no clock and only expect_by() sets a limit") {
  TrafficTimes times(Duration::zero());
  const Time begun = times.last();
  times.renew();
  CHECK(times.last() == begun);
  CHECK(times.limit() == never);
  CHECK(times.expect_by(begun + 5s));
  CHECK_FALSE(times.expect_by(begun + 5s));
  CHECK(times.limit() == begun + 5s);
  CHECK_FALSE(times.is_overdue(begun + 5s - 1ns));
  CHECK(times.is_overdue(begun + 5s));
}

TEST_CASE("the earlier of the idle timeout and the expected time is the limit") {
  TrafficTimes times(10s);
  const Time begun = times.last();
  CHECK(times.limit() == begun + 10s);
  times.expect_by(begun + 3s);
  CHECK(times.limit() == begun + 3s);
  times.expect_by(never);
  times.note(begun + 4s);
  CHECK(times.limit() == begun + 14s);
  times.renew();
  CHECK(times.last() != begun + 4s);
}

TEST_CASE("a turn reports its bytes, its messages and what was not foreseen") {
  TurnAccount account(PeerId{7});
  account.begin_turn();
  CHECK_FALSE(account.turn(false).messages);
  account.add(10);
  account.add(5);
  account.note_message(true);
  CHECK(account.turn(false).bytes == 15);
  CHECK(account.turn(false).messages);
  CHECK_FALSE(account.turn(false).unforeseen);
  account.note_message(false);
  CHECK(account.turn(false).unforeseen);
  account.begin_turn();
  CHECK(account.turn(false).bytes == 0);
  CHECK_FALSE(account.turn(false).unforeseen);
  SECTION("the end of the connection is an unforeseen message") {
    CHECK(account.turn(true).unforeseen);
    CHECK(account.turn(true).messages);
  }
}

TEST_CASE("the budget of tasks pays from the next turn on, and is asked for once") {
  TurnAccount account(PeerId{7});
  CHECK(account.account_for_turn().share == ReadShare::without_tasks);
  CHECK(account.read_for_tasks());
  CHECK_FALSE(account.read_for_tasks());
  CHECK(account.account().share == ReadShare::without_tasks);
  CHECK(account.account_for_turn().share == ReadShare::with_tasks);
}

TEST_CASE("an ending connection takes nothing more, and a closed one says why") {
  StreamEnd end;
  CHECK(end.takes_more());
  end.refuse_more();
  CHECK(end.is_open());
  CHECK_FALSE(end.takes_more());
  CHECK(end.why_refused() == StreamEnd::closed_here);
  end.close(errors::no_memory);
  CHECK_FALSE(end.is_open());
  CHECK(end.why_refused() == errors::no_memory);
  CHECK(end.reason() == errors::no_memory);
}

TEST_CASE("threads that wait for the end of a connection return when it closes, or at their deadlines") {
  StreamEnd end;
  os::PiMutex mutex;
  bool first = false, second = false;
  {
    const os::LockGuard lock(mutex);
    CHECK_FALSE(end.await(mutex, Time{}));
  }
  const auto wait = [&](bool& closed) {
    const os::LockGuard lock(mutex);
    closed = end.await(mutex, never);
  };
  std::thread one([&] { wait(first); }), other([&] { wait(second); });
  {
    const os::LockGuard lock(mutex);
    end.close(errors::no_memory);
  }
  one.join();
  other.join();
  CHECK(first);
  CHECK(second);
}

TEST_CASE("a reader that asked is told once, when nothing waits any more") {
  DrainNotice notice;
  const auto reader = std::make_shared<SilentReader>();
  std::weak_ptr<Reader> exchanged = reader;
  notice.swap_reader(exchanged);
  CHECK(exchanged.expired());
  CHECK(notice.take_due(false) == nullptr);  // it has not asked
  CHECK_FALSE(notice.ask(false));
  CHECK(notice.take_due(false) == nullptr);
  CHECK(notice.ask(true));
  CHECK(notice.take_due(true) == nullptr);
  CHECK(notice.take_due(false) == reader);
  CHECK(notice.take_due(false) == nullptr);
}

TEST_CASE("a watcher is given back once, and a monitor is not kept") {
  StreamObservers observers;
  const auto watcher = std::make_shared<SilentWatcher>();
  observers.set_watcher(watcher);
  CHECK(observers.watcher() == watcher);
  CHECK(observers.take_watcher() == watcher);
  CHECK(observers.take_watcher() == nullptr);
  CHECK_FALSE(observers.is_monitored());
  auto monitor = std::make_shared<SilentMonitor>();
  observers.set_monitor(monitor);
  CHECK(observers.monitor() == monitor);
  monitor.reset();
  CHECK(observers.monitor() == nullptr);
  CHECK(observers.is_monitored());
}

}  // namespace connection_parts_test
