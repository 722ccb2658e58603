// Helpers for tests of byte streams: a reactor, a listener, pairs of connected ends, and functions that act on an end.
// Threads: the test's own and the reactor's.
#pragma once

#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "orb/os/clock.h"
#include "orb/transport/reactor.h"
#include "orb/transport/transport.h"
#include "tests/support/bytes/pattern.h"
#include "tests/support/long_enough.h"

namespace corelane::testing {

inline Time patience() { return os::now() + long_enough; }

inline Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span{text.data(), text.size()}); }
inline std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// Returns `size` bytes. The bytes around a place show where it is.
inline std::string pattern(std::size_t size, std::uint32_t seed = 1) {
  std::string text(size, '\0');
  fill_with_pattern(text.data(), size, seed);
  return text;
}

// A value that one thread puts and another one takes. Its condition variables wait on the system clock, because this
// compiler's ThreadSanitizer does not support the other one.
template <typename T>
class Mailbox {
 public:
  void put(T value) {
    const std::lock_guard lock(mutex_);
    values_.push_back(std::move(value));
    changed_.notify_all();
  }
  T take() {
    std::unique_lock lock(mutex_);
    const bool came = changed_.wait_until(lock, std::chrono::system_clock::now() + std::chrono::seconds{60},
                                          [&] { return !values_.empty(); });
    if (!came) throw std::runtime_error("nothing came in time");
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }
  bool empty() {
    const std::lock_guard lock(mutex_);
    return values_.empty();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> values_;
};

// Collects what a watched connection receives.
class Collector : public transport::Watcher {
 public:
  void on_bytes(Bytes bytes, Time received) noexcept override {
    const std::lock_guard lock(mutex_);
    text_ += text_of(bytes);
    last_received_ = received;
    changed_.notify_all();
  }
  void on_closed(Error reason) noexcept override { closed.put(reason); }

  // Returns the first `size` bytes, once they have come.
  std::string wait_for(std::size_t size) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, std::chrono::system_clock::now() + std::chrono::seconds{60},
                        [&] { return text_.size() >= size; });
    return text_.substr(0, size);
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  Time last_received() {
    const std::lock_guard lock(mutex_);
    return last_received_;
  }

  Mailbox<Error> closed;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
  Time last_received_{};
};

using ConnectionPtr = std::shared_ptr<transport::Connection>;

inline Expected<void> send(const ConnectionPtr& end, std::string_view text) { return end->send(bytes_of(text)); }

inline Expected<void> send_by(const ConnectionPtr& end, Time until, std::string_view text) {
  const Bytes bytes = bytes_of(text);
  std::uint64_t position = 0;
  return end->send_by(until, std::span{&bytes, 1}, position);
}

inline Expected<void> send_if_room(const ConnectionPtr& end, Time rest_until, std::string_view text) {
  const Bytes bytes = bytes_of(text);
  std::uint64_t position = 0;
  return end->send_if_room(rest_until, std::span{&bytes, 1}, position);
}

// Returns exactly `size` bytes, or fewer if the stream ends before.
inline std::string read(const ConnectionPtr& end, std::size_t size, os::WaitStrategy strategy = {}) {
  std::string text(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const auto count = end->receive(std::as_writable_bytes(std::span{text}.subspan(got)), patience(), strategy);
    if (!count || *count == 0) break;
    got += *count;
  }
  text.resize(got);
  return text;
}

// Calls receive() once, for at most 64 bytes.
inline Expected<std::size_t> receive(const ConnectionPtr& end, Time deadline, os::WaitStrategy strategy = {}) {
  std::byte buffer[64];
  return end->receive(buffer, deadline, strategy);
}

struct Pair {
  ConnectionPtr caller, called;
};

// One transport with a listener. Kind: `static std::optional<std::string> missing()` (why it cannot run here),
// `static transport::Endpoint anywhere()`, and a `static std::unique_ptr<transport::Transport> make(Reactor&, limits)`.
template <typename Kind>
class StreamHarness {
 public:
  explicit StreamHarness(const transport::ConnectionLimits& limits = {})
      : reactor(start()), transport(Kind::make(*reactor, limits)), listener(listen()) {}
  ~StreamHarness() {
    if (listener) listener->stop();
    reactor->stop();
  }

  Pair connect() {
    auto caller = transport->connect(listener->endpoint(), patience());
    REQUIRE(caller);
    return {std::move(*caller), accepted.take()};
  }

  std::unique_ptr<transport::Reactor> reactor;
  std::unique_ptr<transport::Transport> transport;
  Mailbox<ConnectionPtr> accepted;
  std::unique_ptr<transport::Listener> listener;

 private:
  static std::unique_ptr<transport::Reactor> start() {
    auto started = transport::Reactor::start();
    REQUIRE(started);
    return std::move(*started);
  }
  std::unique_ptr<transport::Listener> listen() {
    auto made = transport->listen(Kind::anywhere(), [this](ConnectionPtr connection) { accepted.put(connection); });
    REQUIRE(made);
    return std::move(*made);
  }
};

}  // namespace corelane::testing
