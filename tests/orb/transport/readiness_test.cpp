// Tests descriptors that a reactor watches: which handler is called, when, and which handler has gone.
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "orb/os/fd.h"
#include "orb/transport/detail/reactor_impl.h"
#include "tests/support/stream_harness.h"

namespace readiness_test {

using namespace corelane;
using namespace corelane::testing;
using transport::Reactor;
using transport::Readiness;

namespace {

// Does what the test says, on the reactor's thread.
struct Scripted final : transport::ReadinessHandler {
  void on_readable() noexcept override {
    if (read) read();
  }
  void on_writable() noexcept override {
    if (wrote) wrote();
  }
  void on_stopping() noexcept override { readiness.reset(); }

  std::function<void()> read, wrote;
  std::unique_ptr<Readiness> readiness;
};

// A reactor, and our ends of the pairs that it watches. The test uses the other ends. All of them outlive the reactor's
// thread.
struct Waiting {
  Waiting() : reactor(std::move(*Reactor::start())) {}
  ~Waiting() { reactor->stop(); }

  struct End {
    std::shared_ptr<Scripted> handler = std::make_shared<Scripted>();
    os::Fd ours, theirs;
    void say(std::string_view text) const {
      REQUIRE(::send(theirs.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    }
    std::string hear(std::size_t room) const {
      std::string text(room, ' ');
      const ssize_t count = recv(ours.get(), text.data(), room, MSG_DONTWAIT);
      return text.substr(0, count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  };
  End* end() {
    int fds[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
    End& made = *ends.emplace_back(std::make_unique<End>());
    made.ours.reset(fds[0]);
    made.theirs.reset(fds[1]);
    run([&] { made.handler->readiness = reactor->impl()->watch(made.ours.get(), made.handler); });
    REQUIRE(made.handler->readiness);
    return &made;
  }
  void run(const std::function<void()>& function) { REQUIRE(reactor->impl()->run_and_wait(function)); }
  // Returns when the reactor has told everything that happened before.
  void settle() {
    for (int i = 0; i < 3; ++i) run([] {});
  }

  std::vector<std::unique_ptr<End>> ends;
  std::unique_ptr<Reactor> reactor;
};

}  // namespace

TEST_CASE("an armed descriptor is told of once and then again when it is armed again") {
  Waiting waiting;
  auto* const end = waiting.end();
  Mailbox<std::string> heard;
  end->handler->read = [&] { heard.put(end->hear(64)); };
  waiting.run([&] { end->handler->readiness->arm_read(); });
  end->say("one");
  CHECK(heard.take() == "one");
  end->say("two");
  waiting.settle();
  CHECK(heard.empty());
  waiting.run([&] { end->handler->readiness->arm_read(); });
  CHECK(heard.take() == "two");
}

// A connection that has to wait for its turn is in this state: the edge was reported when no reader was armed.
TEST_CASE("bytes and their end that came while no reader was armed are found by arming, though a read had found all") {
  Waiting waiting;
  auto* const end = waiting.end();
  Mailbox<std::string> heard;
  end->handler->read = [&] { heard.put(end->hear(64)); };
  waiting.run([&] { end->handler->readiness->arm_read(); });
  end->say("first");
  CHECK(heard.take() == "first");
  end->say("second");
  SECTION("bytes") {}
  SECTION("bytes, and the end") { REQUIRE(shutdown(end->theirs.get(), SHUT_WR) == 0); }
  waiting.settle();
  waiting.run([&] { end->handler->readiness->arm_read(Readiness::Rest::none); });
  CHECK(heard.take() == "second");
  REQUIRE(shutdown(end->theirs.get(), SHUT_WR) == 0);
  waiting.run([&] { end->handler->readiness->arm_read(Readiness::Rest::none); });
  CHECK(heard.take().empty());
}

TEST_CASE("bytes that are left are reported to a reader that arms, and not to one that says that none are left") {
  Waiting waiting;
  auto* const end = waiting.end();
  Mailbox<std::string> heard;
  end->handler->read = [&] { heard.put(end->hear(2)); };
  waiting.run([&] { end->handler->readiness->arm_read(); });
  end->say("abcd");
  CHECK(heard.take() == "ab");
  waiting.run([&] { end->handler->readiness->arm_read(Readiness::Rest::none); });
  waiting.settle();
  CHECK(heard.empty());
  waiting.run([&] { end->handler->readiness->arm_read(); });
  CHECK(heard.take() == "cd");
}

TEST_CASE("a handler that leaves in its own callback gets no second callback and lives until it returns") {
  Waiting waiting;
  auto* const end = waiting.end();
  Mailbox<int> told;
  const std::weak_ptr<Scripted> lives = end->handler;
  end->handler->wrote = [&] { told.put(2); };
  end->handler->read = [&, self = end->handler.get()] {
    self->readiness.reset();
    end->handler.reset();
    told.put(lives.expired() ? -1 : 1);
  };
  end->say("x");
  waiting.run([&] {  // both are due in one turn
    end->handler->readiness->arm_read();
    end->handler->readiness->arm_write();
  });
  CHECK(told.take() == 1);
  waiting.settle();
  CHECK(told.empty());
  CHECK(lives.expired());
}

TEST_CASE("a handler that another callback ends gets no more events, not even in the same turn") {
  Waiting waiting;
  auto *const one = waiting.end(), *const other = waiting.end();
  Mailbox<int> told;
  const auto ends = [&told](int number, Scripted& victim) {
    return [&told, number, &victim] {
      victim.readiness.reset();
      told.put(number);
    };
  };
  one->handler->read = ends(1, *other->handler);
  other->handler->read = ends(2, *one->handler);
  waiting.run([&] {
    one->handler->readiness->arm_read();
    other->handler->readiness->arm_read();
    one->say("x");
    other->say("x");
  });
  told.take();
  waiting.settle();
  CHECK(told.empty());
}

TEST_CASE("a peer's end is reported to a handler that waits only for room") {
  Waiting waiting;
  auto* const end = waiting.end();
  Mailbox<bool> told;
  const std::string much(4096, 'x');
  while (::send(end->ours.get(), much.data(), much.size(), MSG_DONTWAIT) > 0) continue;
  end->handler->wrote = [&] { told.put(true); };
  waiting.run([&] { end->handler->readiness->arm_write(); });
  waiting.settle();
  CHECK(told.empty());
  end->theirs.reset();
  CHECK(told.take());
}

// Error paths.

TEST_CASE("a descriptor that is watched already is refused and stays watched") {
  Waiting waiting;
  auto* const end = waiting.end();
  Mailbox<std::string> heard;
  end->handler->read = [&] { heard.put(end->hear(64)); };
  waiting.run([&] { CHECK_FALSE(waiting.reactor->impl()->watch(end->ours.get(), std::make_shared<Scripted>())); });
  waiting.run([&] { end->handler->readiness->arm_read(); });
  end->say("x");
  CHECK(heard.take() == "x");
}

}  // namespace readiness_test
