// Tests which thread connects when many want the same server, and where a call goes when one connection is closed. The
// transport is scripted: its connects end when the test says so.
#include "orb/core/connections/connection_cache.h"

#include <sys/resource.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/transport/not_trusted.h"
#include "tests/support/failing_allocations.h"
#include "tests/support/quiet.h"
#include "tests/support/stream_harness.h"

namespace connection_cache_test {

using namespace corelane;
using namespace corelane::core;
using namespace corelane::testing;
using transport::channel_endpoint;
using transport::Endpoint;
using transport::unix_endpoint;

namespace {

// Lowers this process's limit of descriptors until destruction.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(std::size_t limit) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lower{.rlim_cur = limit, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &lower);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

constexpr Error refused{ErrorKind::transient, Completion::no, minor::connect_failed};
constexpr Error late{ErrorKind::timeout, Completion::no, minor::deadline_passed};

// A connection that carries no data.
class Stub final : public transport::Connection {
 public:
  Expected<std::size_t> receive(MutableBytes, Time, os::WaitStrategy) noexcept override { return late; }
  Expected<transport::Arrival> take(MutableBytes) noexcept override { return late; }
  Expected<void> send(std::span<const Bytes>) noexcept override { return {}; }
  void watch(std::shared_ptr<transport::Watcher>) override {}
  void unwatch() override {}
  void expect_by(Time) noexcept override {}
  void renew() noexcept override {}
  void close() noexcept override { open_ = false; }
  bool is_open() const noexcept override { return open_; }
  const Endpoint& local() const noexcept override { return nowhere_; }
  const Endpoint& peer() const noexcept override { return nowhere_; }
  PeerId id() const noexcept override { return PeerId{1}; }

 private:
  std::atomic<bool> open_{true};
  const Endpoint nowhere_;
};

// A transport whose connects the test controls. Each connect puts its endpoint into `begun`, and ends with the next
// item of `outcomes`.
class Scripted final : public transport::Transport {
 public:
  Expected<std::shared_ptr<transport::Connection>> connect(const Endpoint& endpoint, Time) override {
    begun.put(endpoint);
    if (const auto error = outcomes.take()) return *error;
    if (on_connected) on_connected();
    return std::shared_ptr<transport::Connection>(std::make_shared<Stub>());
  }
  Expected<std::unique_ptr<transport::Listener>> listen(const Endpoint&, transport::Acceptor) override {
    return refused;
  }
  const transport::ConnectionLimits& limits() const noexcept override { return limits_; }
  void let_succeed() { outcomes.put(std::nullopt); }
  void let_fail(Error error) { outcomes.put(error); }

  Mailbox<Endpoint> begun;
  Mailbox<std::optional<Error>> outcomes;
  std::function<void()> on_connected;

 private:
  const transport::ConnectionLimits limits_;
};

// A thread that runs functions one after the other. It keeps its connections between them.
class CallingThread {
 public:
  template <typename Function>
  auto run(Function function) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    auto result = task.get_future();
    work_.put([&] { task(); });
    return result.get();
  }
  CallingThread() = default;
  CallingThread(const CallingThread&) = delete;
  CallingThread& operator=(const CallingThread&) = delete;
  ~CallingThread() { work_.put(nullptr); }

 private:
  Mailbox<std::function<void()>> work_;
  std::jthread thread_{[this] {
    while (const auto next = work_.take()) next();  // bound: what the test puts into work_
  }};
};

struct Caches {
  using Outcome = Expected<ConnectionCache::ConnectionPtr>;

  explicit Caches(std::size_t connections = 1) : cache(giop::Limits{}, {.connections = connections}) {}

  Outcome acquire(Time deadline = never, Traffic traffic = Traffic::plain, CallOrder order = CallOrder::free) {
    auto found = cache.acquire(wires, addresses, deadline, {.traffic = traffic, .order = order});
    if (!found) return found.error();
    return std::move(found->connection);
  }
  // Calls acquire() on a new thread.
  std::future<Outcome> call(Time deadline = never) {
    return std::async(std::launch::async, [this, deadline] { return acquire(deadline); });
  }
  // Starts one call that connects, and `count` calls that wait for it.
  std::vector<std::future<Outcome>> gather(std::size_t count) {
    std::vector<std::future<Outcome>> calls;
    calls.push_back(call());
    wires.begun.take();
    for (std::size_t i = 0; i < count; ++i) calls.push_back(call());
    while (cache.waiting() < count) std::this_thread::yield();
    return calls;
  }

  const Quiet quiet;
  Scripted wires;
  ConnectionCache cache;
  std::vector<Address> addresses = std::vector<Address>(1, address_at({"127.0.0.1", 1}));
  Address& address = addresses.front();

  static Address address_at(const Endpoint& endpoint) {
    Address made{};
    made.endpoints = {endpoint};
    return made;
  }
};

}  // namespace

TEST_CASE("many callers of one endpoint share one attempt and its connection") {
  Caches test;
  auto calls = test.gather(8);
  test.wires.let_succeed();
  const auto first = calls.front().get();
  REQUIRE(first);
  for (std::size_t i = 1; i < calls.size(); ++i) CHECK(*calls[i].get() == *first);
  CHECK(test.wires.begun.empty());
  CHECK(test.cache.size() == 1);
}

TEST_CASE("a shortage of memory after a connect leaves no call waiting") {
  Caches test;
  std::optional<FailingAllocations> shortage;  // of what a list of connections grows by
  test.wires.on_connected = [&] {
    shortage.emplace(ChosenAllocations{.bytes = sizeof(ConnectionCache::ConnectionPtr)});
  };
  auto first = std::async(std::launch::async, [&] {
    try {
      const auto outcome = test.acquire();
      shortage.reset();
      return outcome.has_value();
    } catch (const std::bad_alloc&) {
      shortage.reset();
      return false;
    }
  });
  test.wires.begun.take();
  auto waits = test.call(patience());
  while (test.cache.waiting() == 0) std::this_thread::yield();
  test.wires.let_succeed();
  CHECK(first.get());
  CHECK(waits.get());
}

TEST_CASE("an attempt that fails gives its own error to all calls that wait for it") {
  Caches test;
  const Error error = GENERATE(as<Error>{}, refused, Error{ErrorKind::bad_param, Completion::no, minor::bad_address});
  auto calls = test.gather(8);
  test.wires.let_fail(error);
  for (auto& call : calls) CHECK(call.get().error() == error);
  CHECK(test.wires.begun.empty());
}

TEST_CASE("after an attempt that failed the next caller tries anew") {
  Caches test;
  test.wires.let_fail(refused);
  CHECK_FALSE(test.acquire());
  test.wires.let_succeed();
  CHECK(test.acquire());
}

TEST_CASE("when the connecting call runs out of time, another call continues to connect for the rest") {
  Caches test;
  auto calls = test.gather(4);
  test.wires.let_fail(late);
  CHECK(calls.front().get().error() == late);
  test.wires.begun.take();  // one of the waiting calls connects now
  while (test.cache.waiting() < 3) std::this_thread::yield();
  test.wires.let_succeed();
  for (std::size_t i = 1; i < calls.size(); ++i) CHECK(calls[i].get());
  CHECK(test.wires.begun.empty());
}

TEST_CASE("a caller that waits for another's attempt waits no longer than its own deadline") {
  Caches test;
  auto calls = test.gather(1);
  const Time deadline = os::now() + std::chrono::milliseconds{5};
  const auto impatient = test.acquire(deadline);
  REQUIRE_FALSE(impatient);
  CHECK(impatient.error() == late);
  CHECK(os::now() >= deadline);
  test.wires.let_succeed();
  for (auto& call : calls) CHECK(call.get());
}

TEST_CASE("closing the cache ends every wait at once") {
  Caches test;
  auto calls = test.gather(3);
  test.cache.close(Time{});
  for (std::size_t i = 1; i < calls.size(); ++i) CHECK(calls[i].get().error().minor == minor::orb_destroyed);
  test.wires.let_succeed();
  CHECK(calls.front().get().error().minor == minor::orb_destroyed);
  CHECK(test.acquire().error().minor == minor::orb_destroyed);
}

TEST_CASE("a connection with one user is closed together with the connections of the cache") {
  Caches test;
  const auto own = std::make_shared<ClientConnection>(std::make_shared<Stub>(), giop::Limits{});
  REQUIRE(test.cache.adopt(own));
  CHECK(own->usable(os::now()));
  test.cache.close(Time{});
  CHECK_FALSE(own->usable(os::now()));
  CHECK(test.cache.adopt(own).error().minor == minor::orb_destroyed);
}

TEST_CASE("a connection that broke is made anew and one that lives is kept") {
  Caches test;
  test.wires.let_succeed();
  const auto first = test.acquire();
  REQUIRE(first);
  CHECK(*test.acquire() == *first);
  (*first)->close();
  test.wires.let_succeed();
  const auto second = test.acquire();
  REQUIRE(second);
  CHECK(*second != *first);
}

TEST_CASE("a broken connection is released when the next connection is made, to any address") {
  Caches test;
  test.wires.let_succeed();
  std::weak_ptr<ClientConnection> dead;
  {
    const auto first = test.acquire();
    REQUIRE(first);
    (*first)->close();
    dead = *first;
  }
  CHECK_FALSE(dead.expired());
  test.address.endpoints = {unix_endpoint("/run/elsewhere")};
  test.wires.let_succeed();
  const auto second = test.acquire();
  REQUIRE(second);
  CHECK(dead.expired());
  CHECK(test.cache.size() == 1);
}

TEST_CASE("where a Unix socket fails TCP is used and kept until it breaks") {
  Caches test;
  const Endpoint local = unix_endpoint("/run/x.sock"), remote{"127.0.0.1", 1};
  test.address.endpoints = {local, remote};
  test.wires.let_fail(refused);
  test.wires.let_succeed();
  const auto first = test.acquire();
  REQUIRE(first);
  CHECK(test.wires.begun.take() == local);
  CHECK(test.wires.begun.take() == remote);
  CHECK(*test.acquire() == *first);
  CHECK(test.wires.begun.empty());
  (*first)->close();
  test.wires.let_succeed();
  REQUIRE(test.acquire());
  CHECK(test.wires.begun.take() == local);
}

TEST_CASE("where a Unix socket is a stranger's no port is asked instead") {
  Caches test;
  const Endpoint stranger = unix_endpoint("/run/x.sock"), other = unix_endpoint("/run/y.sock");
  test.address.endpoints = {stranger, other, {"127.0.0.1", 1}};
  test.wires.let_fail(transport::not_trusted);
  test.wires.let_fail(refused);
  CHECK(test.acquire().error() == transport::not_trusted);
  CHECK(test.wires.begun.take() == stranger);
  CHECK(test.wires.begun.take() == other);
  CHECK(test.wires.begun.empty());
}

TEST_CASE("an address without an endpoint leads nowhere") {
  Caches test;
  test.address.endpoints.clear();
  CHECK(test.acquire().error().minor == minor::no_usable_profile);
}

TEST_CASE("each thread gets a connection for itself and keeps it, and beyond the limit threads share") {
  const std::size_t most = GENERATE(1u, 2u, 3u);
  Caches test(most);
  for (std::size_t i = 0; i < most; ++i) test.wires.let_succeed();
  std::vector<CallingThread> threads(4);
  std::set<ClientConnection*> seen;
  std::vector<ConnectionCache::ConnectionPtr> got;
  for (CallingThread& thread : threads) got.push_back(thread.run([&] { return test.acquire(); }).value());
  for (const auto& connection : got) seen.insert(connection.get());
  CHECK(seen.size() == most);
  CHECK(test.cache.size() == most);
  for (std::size_t i = 0; i < threads.size(); ++i)
    CHECK(threads[i].run([&] { return test.acquire(); }).value() == got[i]);
}

TEST_CASE("the connection of a thread that has ended goes to the next new thread") {
  Caches test(8);
  test.wires.let_succeed();
  const auto first = test.call().get();
  CHECK(test.call().get().value() == *first);
  CHECK(test.acquire().value() == *first);
  CHECK(test.cache.size() == 1);
}

TEST_CASE("a thread changes to a free connection while its own is busy, unless its order could suffer") {
  const CallOrder before = GENERATE(CallOrder::free, CallOrder::ordered);
  Caches test(2);
  test.wires.let_succeed();
  test.wires.let_succeed();
  const auto mine = test.acquire(never, Traffic::plain, before).value();
  CallingThread other;
  const auto others = other.run([&] { return test.acquire(); }).value();
  REQUIRE(mine != others);
  PendingReply call;
  REQUIRE(mine->start(call, 1, {}, never));  // stands for a call of a third thread
  CHECK(mine->busy());
  const auto next = test.acquire().value();
  CHECK(next == (before == CallOrder::free ? others : mine));
  mine->wait(call, os::now(), {});
  CHECK_FALSE(mine->busy());
  CHECK(test.acquire().value() == next);
}

TEST_CASE("where a server takes no further connection threads share, and none is tried for a while") {
  Caches test(8);
  const Error error = GENERATE(as<Error>{}, refused, late);
  test.wires.let_succeed();
  const auto first = test.acquire().value();
  test.wires.let_fail(error);
  CallingThread second, third;
  CHECK(second.run([&] { return test.acquire(); }).value() == first);
  CHECK(third.run([&] { return test.acquire(); }).value() == first);
  CHECK(test.cache.size() == 1);
}

TEST_CASE("threads that begin at once spread over the connections that are being made") {
  constexpr std::size_t connections = 4, threads = 12;
  Caches test(connections);
  std::latch ends(1);
  std::mutex mutex;
  std::vector<ConnectionCache::ConnectionPtr> got;
  const auto start = [&] {  // starts a thread that lives until `ends`
    return std::async(std::launch::async, [&] {
      auto mine = test.acquire().value();
      {
        const std::lock_guard lock(mutex);
        got.push_back(std::move(mine));
      }
      ends.wait();
    });
  };
  const auto await_got = [&](std::size_t count) {
    for (std::size_t so_far = 0; so_far < count; std::this_thread::yield()) {
      const std::lock_guard lock(mutex);
      so_far = got.size();
    }
  };
  std::vector<std::future<void>> started;
  started.push_back(start());
  test.wires.begun.take();
  test.wires.let_succeed();
  await_got(1);
  for (std::size_t i = 1; i < connections; ++i) {
    started.push_back(start());
    test.wires.begun.take();
  }
  while (started.size() < threads) started.push_back(start());
  await_got(3);
  while (test.cache.waiting() < threads - connections - 2) std::this_thread::yield();
  for (std::size_t i = 1; i < connections; ++i) test.wires.let_succeed();
  await_got(threads);
  for (const auto& connection : got) CHECK(connection->threads() == threads / connections);
  ends.count_down();
}

TEST_CASE("a thread that waited for a further connection shares one where that is not to be had") {
  Caches test(2);
  std::latch ends(1);
  const auto start = [&] {
    return std::async(std::launch::async, [&] {
      const bool has_one = test.acquire().has_value();
      ends.wait();
      return has_one;
    });
  };
  test.wires.let_succeed();
  const auto first = test.acquire();  // this thread's connection
  test.wires.begun.take();
  std::vector<std::future<bool>> started;
  started.push_back(start());
  test.wires.begun.take();
  for (int i = 0; i < 2; ++i) started.push_back(start());  // one shares the connection of this thread, the other waits
  while (test.cache.waiting() < 1) std::this_thread::yield();
  test.wires.let_fail(refused);
  ends.count_down();
  for (auto& each : started) CHECK(each.get());
  CHECK(test.cache.size() == 1);
}

TEST_CASE("a thread that sent oneways stays where it sent them, though others change to a channel") {
  Caches test;
  const Endpoint channel = channel_endpoint("/run/x.channel"), local = unix_endpoint("/run/x.sock");
  test.addresses = {Caches::address_at(channel)};
  test.addresses.front().endpoints = {channel, local};
  test.wires.let_succeed();
  auto found =
      test.cache.acquire(test.wires, test.addresses, never, {.order = CallOrder::ordered, .may_make_channel = false});
  REQUIRE(found);
  CHECK(found->pool->keeps_thread());
  found = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(found);
  CHECK(found->pool->endpoint() == local);
  CallingThread other;
  test.wires.let_succeed();
  CHECK(other.run([&] { return test.cache.acquire(test.wires, test.addresses, never, {})->pool->endpoint(); }) ==
        channel);
  found = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(found);
  CHECK(found->pool->endpoint() == local);
  found->connection->close();
  found = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(found);
  CHECK(found->pool->endpoint() == channel);
}

TEST_CASE("calls of tasks have a connection apart from all others, and share it") {
  Caches test(8);
  test.wires.let_succeed();
  test.wires.let_succeed();
  const auto plain = test.acquire().value();
  const auto contract = test.acquire(never, Traffic::contract).value();
  CHECK(plain != contract);
  CallingThread other;
  CHECK(other.run([&] { return test.acquire(never, Traffic::contract); }).value() == contract);
  CHECK(test.acquire(never, Traffic::contract).value() == contract);
  CHECK(test.acquire().value() == plain);
}

TEST_CASE("the channels to one server have a share of the process's descriptors, and there are four at least") {
  const std::size_t descriptors = GENERATE(1024u, 256u);
  const DescriptorLimit limit(descriptors);
  Caches test(40);
  test.address.endpoints = {channel_endpoint("/run/x.channel")};
  const std::size_t most = std::max<std::size_t>(descriptors / 64, 4);
  for (std::size_t i = 0; i < most; ++i) test.wires.let_succeed();
  std::vector<CallingThread> threads(most + 2);
  for (CallingThread& thread : threads) CHECK(thread.run([&] { return test.acquire(); }));
  CHECK(test.cache.size() == most);
}

TEST_CASE("addresses are tried in their order, and the one that works is kept") {
  Caches test;
  const Endpoint dead{"127.0.0.1", 1}, live{"127.0.0.1", 2};
  test.addresses = {Caches::address_at(dead), Caches::address_at(live)};
  test.wires.let_fail(refused);
  test.wires.let_succeed();
  const auto found = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(found);
  CHECK(found->address == &test.addresses[1]);
  CHECK(test.wires.begun.take() == dead);
  CHECK(test.wires.begun.take() == live);
  found->connection->close();
  test.wires.let_succeed();
  REQUIRE(test.acquire());
  CHECK(test.wires.begun.take() == dead);  // it is tried again, because it may be back
}

TEST_CASE("an address that gave no answer is asked after the others for a while") {
  Caches test;
  const Endpoint silent{"127.0.0.1", 1}, live{"127.0.0.1", 2};
  test.addresses = {Caches::address_at(silent), Caches::address_at(live)};
  test.wires.let_fail(late);
  test.wires.let_succeed();
  const auto found = test.acquire();
  REQUIRE(found);
  (*found)->close();
  test.wires.let_fail(refused);
  test.wires.let_succeed();
  REQUIRE(test.acquire());
  for (const Endpoint& expected : {silent, live, live, silent}) CHECK(test.wires.begun.take() == expected);
}

TEST_CASE("a call with little time makes no channel, and a later one that has time makes it") {
  Caches test;
  const Endpoint channel = channel_endpoint("/run/x.channel"), local = unix_endpoint("/run/x.sock");
  test.addresses = {Caches::address_at(channel)};
  test.addresses.front().endpoints = {channel, local};
  const ConnectionCache::Requirements soon{.may_make_channel = false};
  test.wires.let_succeed();
  auto found = test.cache.acquire(test.wires, test.addresses, never, soon);
  REQUIRE(found);
  CHECK(found->is_fallback);
  found = test.cache.acquire(test.wires, test.addresses, never, soon);  // uses the connection that is there
  REQUIRE(found);
  CHECK(found->is_fallback);
  CHECK(found->pool->endpoint() == local);
  test.wires.let_succeed();
  found = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(found);
  CHECK_FALSE(found->is_fallback);
  CHECK(found->pool->endpoint() == channel);
  found = test.cache.acquire(test.wires, test.addresses, never, soon);
  REQUIRE(found);
  CHECK_FALSE(found->is_fallback);
  CHECK(found->pool->endpoint() == channel);
  for (const Endpoint& expected : {local, channel}) CHECK(test.wires.begun.take() == expected);
}

TEST_CASE("a channel that broke is made again by a call that has time, though another endpoint is connected") {
  Caches test;
  const Endpoint channel = channel_endpoint("/run/x.channel"), local = unix_endpoint("/run/x.sock");
  test.addresses = {Caches::address_at(channel)};
  test.addresses.front().endpoints = {channel, local};
  test.wires.let_succeed();
  const auto first = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(first);
  first->connection->close();
  test.wires.let_succeed();
  REQUIRE(test.cache.acquire(test.wires, test.addresses, never, {.may_make_channel = false}));
  test.wires.let_succeed();
  const auto found = test.cache.acquire(test.wires, test.addresses, never, {});
  REQUIRE(found);
  CHECK(found->pool->endpoint() == channel);
  for (const Endpoint& expected : {channel, local, channel}) CHECK(test.wires.begun.take() == expected);
}

TEST_CASE("a channel that was refused is not tried again while another endpoint is connected") {
  Caches test;
  const Endpoint channel = channel_endpoint("/run/x.channel"), local = unix_endpoint("/run/x.sock");
  test.addresses = {Caches::address_at(channel)};
  test.addresses.front().endpoints = {channel, local};
  const auto kind = GENERATE(refused, late);
  test.wires.let_fail(kind);
  test.wires.let_succeed();
  for (int i = 0; i < 3; ++i) {
    const auto found = test.cache.acquire(test.wires, test.addresses, never, {});
    REQUIRE(found);
    CHECK(found->pool->endpoint() == local);
  }
  for (const Endpoint& expected : {channel, local}) CHECK(test.wires.begun.take() == expected);
}

TEST_CASE("a reference that names a channel alone is reached by a call with little time, too") {
  Caches test;
  test.addresses = {Caches::address_at(channel_endpoint("/run/x.channel"))};
  test.wires.let_succeed();
  const auto found = test.cache.acquire(test.wires, test.addresses, never, {.may_make_channel = false});
  CHECK(found);
}

TEST_CASE("when all addresses fail the error is that of the last one") {
  Caches test;
  test.addresses = {Caches::address_at({"127.0.0.1", 1}), Caches::address_at({"127.0.0.1", 2})};
  test.wires.let_fail(late);
  test.wires.let_fail(refused);
  CHECK(test.acquire().error() == refused);
}

TEST_CASE("the log says which transport is used and why") {
  Address address{};
  const Endpoint channel = channel_endpoint("/run/x.channel"), local = unix_endpoint("/nowhere/x.sock"), remote{"h", 1};
  address.same_host = SameHost::yes;
  address.endpoints = {channel, local, remote};
  CHECK(route_text(channel, address) == "calls over channel:/run/x.channel: the server is on this host");
  CHECK(route_text(local, address) ==
        "calls over unix:/nowhere/x.sock: the server is on this host, but no channel came about");
  CHECK_THAT(route_text(remote, address),
             Catch::EndsWith("but no channel came about, and its Unix socket: No such file or directory"));
  address.endpoints = {local, remote};
  CHECK_THAT(route_text(local, address), Catch::EndsWith("on this host, and the reference names no channel"));
  address.endpoints = {channel, remote};
  CHECK_THAT(route_text(remote, address), Catch::EndsWith("but no channel came about"));
  CHECK_THAT(route_text(remote, address, Channels::off), Catch::EndsWith("but client.channel is off"));
  CHECK_THAT(route_text(remote, address, Channels::no_time),
             Catch::EndsWith("had no time to make a channel (CallDeadline)"));
  address.endpoints = {remote};
  const auto [why, text] = GENERATE(table<SameHost, std::string>({
      {SameHost::no_socket_named, "names no Unix socket"},
      {SameHost::other_host, "on another host"},
      {SameHost::other_namespace, "another mount namespace"},
  }));
  address.same_host = why;
  CHECK_THAT(route_text(remote, address), Catch::StartsWith("calls over TCP to h:1: ") && Catch::Contains(text));
}

}  // namespace connection_cache_test
