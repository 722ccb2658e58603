// Tests calls over one connection whose stream the test controls: who reads while others send, and calls that begin
// while the connection ends.
#include "orb/core/connections/client_connection.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/cdr/writer.h"
#include "orb/dispatch/current.h"
#include "orb/giop/headers.h"
#include "orb/giop/message.h"
#include "orb/os/clock.h"
#include "tests/support/await.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/stream_harness.h"

namespace client_connection_test {

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;

namespace {

constexpr Error no_room{.kind = ErrorKind::timeout, .minor = minor::no_send_room};
constexpr Error late{.kind = ErrorKind::timeout, .minor = minor::deadline_passed};
constexpr Error closed{.kind = ErrorKind::comm_failure, .minor = minor::closed_here};
constexpr std::string_view large = "a large request";

// Returns whether a thread of this process sleeps.
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 3) == ") S";
}

// A stream to a server that the test plays. It has no room for the large request at first.
class Stream final : public transport::Connection {
 public:
  // What a sender that waits finds.
  enum class Room : std::uint8_t { when_given, when_all_is_read, never };

  explicit Stream(Room room) : room_(room) {}

  Expected<std::size_t> receive(MutableBytes buffer, Time deadline, os::WaitStrategy) noexcept override {
    std::unique_lock lock(mutex_);
    if (deadline == Time{} && open_ && arrived_.empty()) return late;
    ++readers_;
    changed_.wait(lock, [&] { return !open_ || !arrived_.empty(); });
    --readers_;
    if (!open_) return closed;
    const std::size_t count = std::min(buffer.size(), arrived_.size());
    std::copy_n(arrived_.begin(), count, buffer.begin());
    arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  Expected<transport::Arrival> take(MutableBytes) noexcept override { return late; }
  Expected<void> send(std::span<const Bytes> parts) noexcept override {
    const std::lock_guard lock(mutex_);
    return put(parts);
  }
  // A thread that waits for room which the test gives sleeps longer than it asked for.
  Expected<void> send_by(Time until, std::span<const Bytes> parts, std::uint64_t&) noexcept override {
    std::unique_lock lock(mutex_);
    const bool is_large = text_of(parts.front()) == large;
    if (is_large && (room_ == Room::never ? open_.load() : room_ == Room::when_all_is_read && !arrived_.empty()))
      return no_room;
    if (is_large && room_ == Room::when_given && !has_room_) {
      if (until == Time{}) return no_room;
      ++senders_;
      changed_.wait(lock, [&] { return has_room_ || !open_; });
      --senders_;
    }
    return put(parts);
  }
  Expected<void> send_if_room(Time rest_until, std::span<const Bytes> parts, std::uint64_t& at) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      rest_until_ = rest_until;
    }
    return send_by(Time{}, parts, at);
  }
  void close_if_stalled(Time) noexcept override { close(); }
  void watch(std::shared_ptr<transport::Watcher>) override {}
  void unwatch() override {}
  void expect_by(Time) noexcept override {}
  void renew() noexcept override {}
  void close() noexcept override {
    if (before_close) std::exchange(before_close, nullptr)();
    const std::lock_guard lock(mutex_);
    open_ = false;
    changed_.notify_all();
  }
  bool is_open() const noexcept override { return open_; }
  const transport::Endpoint& local() const noexcept override { return nowhere_; }
  const transport::Endpoint& peer() const noexcept override { return nowhere_; }
  PeerId id() const noexcept override { return PeerId{1}; }

  // The server sends a message.
  void bring(const cdr::Writer& message) {
    const std::lock_guard lock(mutex_);
    arrived_.insert(arrived_.end(), message.bytes().begin(), message.bytes().end());
    changed_.notify_all();
  }
  void bring_reply_to(std::uint32_t id) {
    cdr::Writer writer;
    giop::begin_reply(writer, {.request_id = id, .status = giop::ReplyStatus::no_exception, .contexts = {}});
    REQUIRE(giop::finish(writer));
    bring(writer);
  }
  void give_room() {
    const std::lock_guard lock(mutex_);
    has_room_ = true;
    changed_.notify_all();
  }
  int readers() const {
    const std::lock_guard lock(mutex_);
    return readers_;
  }
  int senders() const {
    const std::lock_guard lock(mutex_);
    return senders_;
  }
  std::size_t sent() const {
    const std::lock_guard lock(mutex_);
    return sent_;
  }
  // Returns until when the latest first attempt would have waited with the rest of its request.
  Time rest_until() const {
    const std::lock_guard lock(mutex_);
    return rest_until_;
  }

  std::function<void()> before_close;

 private:
  Expected<void> put(std::span<const Bytes>) noexcept {
    if (!open_) return closed;
    ++sent_;
    return {};
  }

  const Room room_;
  const transport::Endpoint nowhere_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> open_{true};
  // Guarded by mutex_.
  std::vector<std::byte> arrived_;
  std::size_t sent_ = 0;
  Time rest_until_ = never;
  int readers_ = 0, senders_ = 0;
  bool has_room_ = false;
};

// A connection over such a stream.
struct Calls {
  explicit Calls(Stream::Room room = Stream::Room::when_given) : stream(std::make_shared<Stream>(room)) {}

  bool start(PendingReply& pending, std::uint32_t id, std::string_view request = "a request") {
    const Bytes bytes = bytes_of(request);
    return connection.start(pending, id, {&bytes, 1}, never);
  }
  bool post(PendingReply& pending, std::uint32_t id, ReplyGroup& group, std::string_view request = "a request") {
    const Bytes bytes = bytes_of(request);
    return connection.post(pending, id, {&bytes, 1}, never, group);
  }
  bool send(std::string_view request) {
    const Bytes bytes = bytes_of(request);
    return connection.send({&bytes, 1}, never).has_value();
  }
  bool wait(PendingReply& pending) { return connection.wait(pending, never, {}) && pending.answered(); }

  const std::shared_ptr<Stream> stream;
  ClientConnection connection{stream, giop::Limits{}};
};

}  // namespace

TEST_CASE("a call that waits for room is not woken to read for the others") {
  Calls calls;
  PendingReply leading, posted, blocked;
  ReplyGroup group;
  REQUIRE(calls.start(leading, 1));
  auto leads = std::async(std::launch::async, [&] { return calls.wait(leading); });
  await("the first call reads", [&] { return calls.stream->readers() == 1; });
  auto sends = std::async(std::launch::async, [&] { return calls.start(blocked, 2, large); });
  await("the second call waits for room", [&] { return calls.stream->senders() == 1; });
  REQUIRE(calls.post(posted, 3, group));
  std::atomic<pid_t> collector{0};
  auto attends = std::async(std::launch::async, [&] {
    collector = gettid();
    PendingReply* ended = nullptr;
    while (ended == nullptr) ended = calls.connection.attend(group);  // bound: the reply
    return ended;
  });
  await("the collector sleeps", [&] { return collector != 0 && sleeps(collector); });
  calls.stream->bring_reply_to(1);
  CHECK(leads.get());
  calls.stream->bring_reply_to(3);
  CHECK(attends.wait_for(long_enough) == std::future_status::ready);
  CHECK(calls.stream->senders() == 1);
  calls.stream->give_room();
  CHECK(sends.get());
  calls.stream->bring_reply_to(2);
  CHECK(calls.wait(blocked));
  CHECK(attends.get() == &posted);
}

TEST_CASE("a thread that waits for room reads replies if no other thread does") {
  Calls calls(Stream::Room::when_all_is_read);
  PendingReply pending;
  ReplyGroup group;
  calls.stream->bring_reply_to(9);  // of a call that has timed out
  SECTION("for a call") {
    CHECK(calls.start(pending, 1, large));
    calls.stream->bring_reply_to(1);
    CHECK(calls.wait(pending));
  }
  SECTION("for an asynchronous call") { CHECK(calls.post(pending, 1, group, large)); }
  SECTION("for a oneway") { CHECK(calls.send(large)); }
  CHECK(calls.stream->sent() == 1);
}

TEST_CASE("a thread that waits for room ends with the connection if the peer takes nothing") {
  Calls calls(Stream::Room::never);
  PendingReply pending;
  CHECK_FALSE(calls.start(pending, 1, large));
  CHECK(pending.error() == Error{ErrorKind::comm_failure, Completion::no, minor::closed_here});
  CHECK_FALSE(calls.connection.busy());
}

TEST_CASE("the first attempt to send a request names its deadline, but in a job it does not wait") {
  Calls calls;
  PendingReply pending;
  ReplyGroup group;
  const Bytes bytes = bytes_of("a request");
  const Time deadline = os::now() + std::chrono::hours{1};
  const bool in_job = GENERATE(true, false);
  const dispatch::CurrentJob job{.context = dispatch::best_effort_context(os::now()), .stop = nullptr};
  std::optional<dispatch::CurrentScope> scope;
  if (in_job) scope.emplace(job);
  SECTION("for a call") {
    REQUIRE(calls.connection.start(pending, 1, {&bytes, 1}, deadline));
    calls.stream->bring_reply_to(1);
    CHECK(calls.wait(pending));
  }
  SECTION("for an asynchronous call") { CHECK(calls.connection.post(pending, 1, {&bytes, 1}, deadline, group)); }
  SECTION("for a oneway") { CHECK(calls.connection.send({&bytes, 1}, deadline)); }
  CHECK(calls.stream->sent() == 1);
  CHECK(calls.stream->rest_until() == (in_job ? Time{} : deadline));
}

TEST_CASE("a job that waits for room is suspended meanwhile, and one that finds room is not") {
  struct Control final : dispatch::JobControl {
    bool enter(ResourceId) noexcept override { return false; }
    void leave(ResourceId) noexcept override {}
    std::size_t waiting_jobs() const noexcept override { return 0; }
    void suspend(dispatch::WaitsFor) noexcept override { ++suspensions; }
    void resume(dispatch::WaitsFor) noexcept override {}
    int suspensions = 0;
  };
  Calls calls(Stream::Room::when_all_is_read);
  calls.stream->bring_reply_to(9);  // the large request has no room until this is read
  Control control;
  const dispatch::CurrentJob job{
      .context = dispatch::best_effort_context(os::now()), .stop = nullptr, .control = &control};
  const dispatch::CurrentScope scope(job);
  CHECK(calls.send("a request"));
  CHECK(control.suspensions == 0);
  CHECK(calls.send(large));
  CHECK(control.suspensions == 1);
  CHECK(calls.stream->sent() == 2);
}

TEST_CASE("a call that begins while the connection closes as idle is not sent") {
  Calls calls;
  PendingReply pending;
  bool started = true;
  calls.stream->before_close = [&] { started = calls.start(pending, 1); };
  calls.connection.on_idle();
  CHECK_FALSE(started);
  CHECK(pending.error().completed == Completion::no);
  CHECK(calls.stream->sent() == 0);
}

TEST_CASE("a connection that a call has entered is not closed as idle") {
  Calls calls;
  PendingReply first, second;
  REQUIRE(calls.start(first, 1));
  REQUIRE(calls.start(second, 2));
  calls.connection.on_idle();
  CHECK(calls.stream->is_open());
  calls.stream->bring_reply_to(1);
  CHECK(calls.wait(first));
  calls.connection.on_idle();
  CHECK(calls.stream->is_open());
  calls.stream->bring_reply_to(2);
  CHECK(calls.wait(second));
  calls.connection.on_idle();
  CHECK_FALSE(calls.stream->is_open());
}

TEST_CASE("a call that moves to a long list needs no memory") {
  struct Called final : Interruption {
    bool is_called() const noexcept override { return true; }
    os::Doorbell& bell() noexcept override { return unused; }
    os::Doorbell unused;
  };
  Calls calls;
  PendingReply alone;
  std::array<PendingReply, 64> others;
  REQUIRE(calls.start(alone, 1));
  Called work;
  bool has_ended = true;
  {
    const FailingAllocations shortage;
    for (std::uint32_t i = 0; i < others.size(); ++i) REQUIRE(calls.start(others[i], 2 + i));
    has_ended = calls.connection.wait(alone, never, {}, &work);
  }
  CHECK_FALSE(has_ended);
  for (std::uint32_t i = 0; i < others.size(); ++i) calls.stream->bring_reply_to(2 + i);
  calls.stream->bring_reply_to(1);
  CHECK(calls.wait(alone));
  for (PendingReply& other : others) CHECK(calls.wait(other));
}

TEST_CASE("a message that ends all calls closes the stream, so no later call is sent") {
  Calls calls;
  PendingReply pending, later;
  REQUIRE(calls.start(pending, 1));
  cdr::Writer writer;
  SECTION("CloseConnection") { giop::write_close_connection(writer, giop::giop_1_2); }
  SECTION("MessageError") { giop::write_message_error(writer, giop::giop_1_2); }
  SECTION("a reply without a request id") {
    giop::begin_message(writer, giop::MessageType::reply, giop::giop_1_2);
    REQUIRE(giop::finish(writer));
  }
  calls.stream->bring(writer);
  CHECK_FALSE(calls.wait(pending));
  CHECK_FALSE(calls.stream->is_open());
  CHECK_FALSE(calls.start(later, 2));
  CHECK(later.error().completed == Completion::no);
  CHECK(calls.stream->sent() == 1);
}

}  // namespace client_connection_test
