// Part of the suite of tests/support/byte_transport_suite.h: reading by the reactor, that is, callbacks, hand-over to a
// receiver, and time limits.
#pragma once

#include <poll.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "orb/transport/transport_kind.h"
#include "tests/support/byte_transport/common.h"

TEMPLATE_LIST_TEST_CASE("a watcher gets every byte in order", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const corelane::Time before = corelane::os::now();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  const std::string text = pattern(500'000);
  for (std::size_t at = 0; at < text.size(); at += 50'000)
    REQUIRE(send(caller, std::string_view(text).substr(at, 50'000)));
  CHECK(collector->wait_for(text.size()) == text);
  CHECK(collector->last_received() >= before);
  CHECK(collector->last_received() <= corelane::os::now());
}

TEMPLATE_LIST_TEST_CASE("a watcher may answer from its callback", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  struct Echo : Collector {
    explicit Echo(corelane::transport::Connection& to) : end(to) {}
    void on_bytes(corelane::Bytes bytes, corelane::Time) noexcept override { (void)end.send(bytes); }
    corelane::transport::Connection& end;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  called->watch(std::make_shared<Echo>(*called));
  for (int i = 0; i < 20; ++i) {
    REQUIRE(send(caller, "ping"));
    CHECK(read(caller, 4) == "ping");
  }
}

TEMPLATE_LIST_TEST_CASE("reading passes from a watcher to a receiver and back without a loss", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  for (int round = 0; round < 20; ++round) {
    const auto collector = std::make_shared<Collector>();
    called->watch(collector);
    REQUIRE(send(caller, "watched"));
    CHECK(collector->wait_for(7) == "watched");
    called->unwatch();
    REQUIRE(send(caller, "received"));
    CHECK(read(called, 8) == "received");
    CHECK(collector->text() == "watched");
  }
}

TEMPLATE_LIST_TEST_CASE("a watcher may take itself away and the rest is for the receiver", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  struct Once : Collector {
    explicit Once(corelane::transport::Connection& of) : end(of) {}
    void on_bytes(corelane::Bytes bytes, corelane::Time received) noexcept override {
      end.unwatch();
      Collector::on_bytes(bytes, received);
    }
    corelane::transport::Connection& end;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto once = std::make_shared<Once>(*called);
  called->watch(once);
  REQUIRE(send(caller, "x"));
  REQUIRE(once->wait_for(1) == "x");
  REQUIRE(send(caller, "the rest"));
  CHECK(read(called, 8) == "the rest");
  CHECK(once->text() == "x");
}

TEMPLATE_LIST_TEST_CASE("a thread that polls the descriptor gets what a watcher left after taking itself away", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  struct HandOver : Collector {
    explicit HandOver(corelane::transport::Connection& of) : end(of) {}
    void on_bytes(corelane::Bytes, corelane::Time) noexcept override {
      end.unwatch();
      handed.put(true);
    }
    corelane::transport::Connection& end;
    Mailbox<bool> handed;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto watcher = std::make_shared<HandOver>(*called);
  called->watch(watcher);
  REQUIRE(send(caller, "first"));
  watcher->handed.take();
  CHECK_FALSE(receive(called, corelane::Time{}));
  REQUIRE(send(caller, "second"));
  pollfd readable{.fd = called->descriptor(), .events = POLLIN, .revents = 0};
  REQUIRE(poll(&readable, 1, -1) == 1);
  CHECK(*receive(called, corelane::Time{}) == 6);
}

TEMPLATE_LIST_TEST_CASE("an idle connection is closed and one with traffic is not before it rests", "",
                        ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  constexpr auto timeout = 200ms;
  StreamHarness<TestType> harness({.idle_timeout = timeout});
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  REQUIRE(send(caller, "x"));
  called->watch(collector);
  collector->wait_for(1);
  CHECK(collector->closed.take().minor == corelane::minor::idle_timeout);
  CHECK(corelane::os::now() >= collector->last_received() + timeout);
}

TEMPLATE_LIST_TEST_CASE("an idle connection that is renewed stays", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  constexpr auto timeout = 100ms;
  StreamHarness<TestType> harness({.idle_timeout = timeout});
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  const corelane::Time begin = corelane::os::now();
  called->watch(collector);
  // This thread may be late. Then the connection may close, but never if all renewals came in time.
  corelane::Time renewed = begin;
  corelane::Duration longest{};  // from one renewal to the end of the next
  while (called->is_open() && renewed < begin + 4 * timeout) {
    const corelane::Time asked = corelane::os::now();
    called->renew();
    longest = std::max(longest, corelane::os::now() - renewed);
    renewed = asked;
    std::this_thread::yield();
  }
  collector->closed.take();
  CHECK(std::max(longest, corelane::os::now() - renewed) >= timeout);
}

TEMPLATE_LIST_TEST_CASE("a peer that stalls in a message is cut off", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  const bool in_callback = GENERATE(true, false);
  struct Impatient : Collector {
    explicit Impatient(corelane::transport::Connection& of) : end(of) {}
    void on_bytes(corelane::Bytes bytes, corelane::Time received) noexcept override {
      end.expect_by(received + 10ms);
      Collector::on_bytes(bytes, received);
    }
    corelane::transport::Connection& end;
  };
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = in_callback ? std::make_shared<Impatient>(*called) : std::make_shared<Collector>();
  called->watch(collector);
  REQUIRE(send(caller, "half a head"));
  if (!in_callback) called->expect_by(corelane::os::now() + 10ms);
  const corelane::Error reason = collector->closed.take();
  CHECK(reason.kind == corelane::ErrorKind::timeout);
  CHECK(reason.minor == corelane::minor::deadline_passed);
}

TEMPLATE_LIST_TEST_CASE("a deadline taken back closes nothing", "", ByteTransports) {
  using namespace corelane::testing;
  using namespace std::chrono_literals;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<Collector>();
  called->watch(collector);
  Mailbox<bool> passed;        // by the same reactor, after the deadline's own timer
  harness.reactor->post([&] {  // nothing checks the deadline in between
    const corelane::Time deadline = corelane::os::now() + 5ms;
    called->expect_by(deadline);
    called->expect_by(corelane::never);
    harness.reactor->schedule(deadline + 1ms, [&] { passed.put(true); });
  });
  passed.take();
  CHECK(called->is_open());
}

TEMPLATE_LIST_TEST_CASE("a reactor that stops closes what it watches and answers later watchers", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto first = std::make_shared<Collector>(), second = std::make_shared<Collector>();
  called->watch(first);
  harness.reactor->stop();
  CHECK(first->closed.take().minor == corelane::minor::shutting_down);
  caller->watch(second);
  CHECK(second->closed.take().minor == corelane::minor::shutting_down);
  called->unwatch();
}

namespace corelane::testing {

// Pauses reading after each piece.
struct PausingCollector final : Collector {
  explicit PausingCollector(transport::Connection& its) : end(its) {}
  void on_bytes(Bytes bytes, Time received) noexcept override {
    end.pause_reading();
    Collector::on_bytes(bytes, received);
  }
  void on_peer_gone() noexcept override { gone.put(true); }
  transport::Connection& end;
  Mailbox<bool> gone;
};

// A pair of ends. The called end has a PausingCollector, which has got "one" and pauses.
template <typename Kind>
struct PausedPair {
  PausedPair() {
    ends.called->watch(collector);
    REQUIRE(send(ends.caller, "one"));
    CHECK(collector->wait_for(3) == "one");
  }
  StreamHarness<Kind> harness;
  const Pair ends = harness.connect();
  const std::shared_ptr<PausingCollector> collector = std::make_shared<PausingCollector>(*ends.called);
};

// Returns when the reactor has done everything that it knew of.
inline void pass_reactor(transport::Reactor& reactor) {
  Mailbox<bool> passed;
  for (int i = 0; i < 3; ++i) {
    reactor.post([&] { passed.put(true); });
    passed.take();
  }
}

}  // namespace corelane::testing

TEMPLATE_LIST_TEST_CASE("a watcher that pauses gets no more until it resumes, and then all of it", "", ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  StreamHarness<TestType> harness;
  const auto [caller, called] = harness.connect();
  const auto collector = std::make_shared<PausingCollector>(*called);
  called->watch(collector);
  std::string all;
  for (int round = 0; round < 20; ++round) {
    const std::string text = pattern(GENERATE(1u, 1000u), static_cast<std::uint32_t>(round));
    REQUIRE(send(caller, text));
    if (round > 0) {
      pass_reactor(*harness.reactor);
      CHECK((collector->text() == all));
      called->resume_reading();
    }
    all += text;
    CHECK((collector->wait_for(all.size()) == all));
  }
  CHECK(collector->gone.empty());
}

TEMPLATE_LIST_TEST_CASE("a watcher that pauses hears of its peer's end where nothing is left to be read", "",
                        ByteTransports) {
  using namespace corelane::testing;
  if (!can_run<TestType>()) return;
  const PausedPair<TestType> pair;
  if (GENERATE(false, true)) pass_reactor(*pair.harness.reactor);
  pair.ends.caller->close();
  CHECK(pair.collector->closed.take().minor == corelane::minor::peer_closed);
}

TEMPLATE_LIST_TEST_CASE("bytes that a peer sent before its end wait for a watcher that pauses", "", ByteTransports) {
  using namespace corelane::testing;
  using PeerEnd = corelane::transport::Connection::PeerEnd;
  if (!can_run<TestType>()) return;
  const PausedPair<TestType> pair;
  const auto& [harness, ends, collector] = pair;
  const auto& [caller, called] = ends;
  CHECK(called->peer_end() == PeerEnd::none);
  REQUIRE(send(caller, "two"));
  caller->close();
  // Over a network it is known that a peer sends no more, but not whether the peer still takes something.
  const bool tells_both = called->local().kind->of_this_host;
  if (tells_both) CHECK(collector->gone.take());
  while (called->peer_end() != (tells_both ? PeerEnd::both_directions : PeerEnd::sends_nothing))
    std::this_thread::yield();
  pass_reactor(*harness.reactor);
  CHECK(collector->text() == "one");
  CHECK(collector->closed.empty());
  called->resume_reading();
  CHECK(collector->wait_for(6) == "onetwo");
  CHECK(collector->closed.take().minor == corelane::minor::peer_closed);
}
