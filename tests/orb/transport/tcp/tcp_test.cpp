// Tests what only TCP does among the streams. conformance_test.cpp tests what all streams do.
#include "orb/transport/tcp/tcp.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <iostream>
#include <optional>
#include <string>
#include <thread>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/os/fd.h"
#include "orb/transport/detail/socket.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/system/localhost.h"

using namespace corelane;
using namespace corelane::testing;
using transport::Endpoint;

namespace {

using Tcp = StreamHarness<TcpV4>;

// Returns whether the bytes that wait at `called` have a time from before they were found.
bool stamped_by_the_kernel(transport::Connection& called) {
  pollfd readable{.fd = called.descriptor(), .events = POLLIN, .revents = 0};
  REQUIRE(poll(&readable, 1, -1) == 1);
  const Time found = os::now();
  while (os::now() < found + std::chrono::milliseconds{1}) std::this_thread::yield();
  std::array<std::byte, 16> buffer;
  const auto arrival = called.take(buffer);
  REQUIRE(arrival);
  return arrival->at <= found;
}

unsigned user_timeout_of(const transport::Connection& connection) {
  unsigned milliseconds = 0;
  socklen_t size = sizeof milliseconds;
  REQUIRE(getsockopt(connection.descriptor(), IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, &size) == 0);
  return milliseconds;
}

// Returns a plain socket that is connected to the endpoint.
os::Fd plain_socket_to(const Endpoint& endpoint) {
  os::Fd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

void reset_at_close(const os::Fd& fd) {
  const linger hard{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

// Lowers the number of descriptors that this process may open, until destruction.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t limit) {
    getrlimit(RLIMIT_NOFILE, &old_);
    const rlimit low{.rlim_cur = limit, .rlim_max = old_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &old_); }

 private:
  rlimit old_{};
};

}  // namespace

TEST_CASE("both ends give a peer up that has acknowledged nothing for a minute") {
  Tcp tcp;
  const Pair pair = tcp.connect();
  CHECK(user_timeout_of(*pair.caller) == 60'000);
  CHECK(user_timeout_of(*pair.called) == 60'000);
}

TEST_CASE("the time of bytes over TCP is when the kernel had them") {
  Tcp harness;
  const auto [caller, called] = harness.connect();
  std::array<std::byte, 16> buffer;
  CHECK_FALSE(called->take(buffer));  // from now on the kernel adds time stamps
  // Not every stamp is early: an interruption between two readings of the clocks makes a stamp later. Also, the kernel
  // begins to stamp from a work queue, which may be late on a busy machine.
  bool stamped = false;
  for (int attempt = 0; attempt < 5000 && !stamped; ++attempt) {
    REQUIRE(send(caller, "x"));
    stamped = stamped_by_the_kernel(*called);
  }
  CHECK(stamped);
}

TEST_CASE("a name is resolved and all its addresses are tried") {
  if (!localhost_has_an_address()) {
    WARN("SKIPPED: nothing here, such as /etc/hosts, gives localhost an address");
    return;
  }
  // "localhost" may name ::1 first, where nothing listens.
  Tcp harness;
  const auto caller = harness.transport->connect({"localhost", harness.listener->endpoint().port}, patience());
  REQUIRE(caller);
  REQUIRE(send(*caller, "x"));
  CHECK(read(harness.accepted.take(), 1) == "x");
}

TEST_CASE("listening everywhere takes callers of both families and names them plainly") {
  Tcp harness;
  const std::string everywhere = GENERATE("", "0.0.0.0");
  const auto listener =
      harness.transport->listen({everywhere, 0}, [&](ConnectionPtr connection) { harness.accepted.put(connection); });
  REQUIRE(listener);
  const auto caller = harness.transport->connect({"127.0.0.1", (*listener)->endpoint().port}, patience());
  REQUIRE(caller);
  CHECK(harness.accepted.take()->peer() == Endpoint{"127.0.0.1", (*caller)->local().port});
}

TEST_CASE("a peer's reset is a lost connection for receiver and watcher") {
  Tcp harness;
  os::Fd peer = plain_socket_to(harness.listener->endpoint());
  const ConnectionPtr called = harness.accepted.take();
  reset_at_close(peer);
  SECTION("receiver") {
    peer.reset();
    CHECK(receive(called, patience()).error().minor == minor::connection_lost);
    CHECK_FALSE(called->is_open());
  }
  SECTION("watcher") {
    const auto collector = std::make_shared<Collector>();
    called->watch(collector);
    peer.reset();
    CHECK(collector->closed.take().minor == minor::connection_lost);
  }
}

// A read stops at the urgent byte, and gets less than it had room for.
TEST_CASE("bytes behind an urgent byte are read, too") {
  Tcp harness;
  const os::Fd peer = plain_socket_to(harness.listener->endpoint());
  const auto reader = std::make_shared<BusyReader>();
  harness.accepted.take()->watch(reader);
  REQUIRE(::send(peer.get(), "x", 1, 0) == 1);
  REQUIRE(reader->began.take());
  REQUIRE(::send(peer.get(), "before!", 7, MSG_OOB) == 7);
  REQUIRE(::send(peer.get(), "behind", 6, 0) == 6);
  reader->go_on.put(true);
  while (reader->size() < 13) REQUIRE(reader->came.take());
  REQUIRE(shutdown(peer.get(), SHUT_RDWR) == 0);
  REQUIRE(reader->closed.take());
  CHECK(reader->text == "xbeforebehind");
}

TEST_CASE("a stream that can no longer be written is still read to its end") {
  Tcp harness;
  os::Fd peer = plain_socket_to(harness.listener->endpoint());
  const ConnectionPtr called = harness.accepted.take();
  REQUIRE(::send(peer.get(), "bye", 3, 0) == 3);
  REQUIRE(send(called, "unread, so that closing resets"));
  char first = 0;
  REQUIRE(recv(peer.get(), &first, 1, 0) == 1);
  peer.reset();
  Expected<void> sent;
  while (sent) sent = send(called, "x");
  CHECK(sent.error().minor == minor::connection_lost);
  CHECK(read(called, 3) == "bye");
}

TEST_CASE("running out of descriptors pauses accepting and does not end it") {
#if CORELANE_ADDRESS_SANITIZER
  std::cout << "SKIPPED: this build's own checks need descriptors\n";
  return;
#endif
  Tcp harness;
  const os::Fd first = plain_socket_to(harness.listener->endpoint());
  harness.accepted.take();
  os::Fd waiting(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  {
    const DescriptorLimit none_free(static_cast<rlim_t>(3));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(harness.listener->endpoint().port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(waiting.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    // Before it runs this, the reactor tries to accept, fails, and sets the timer of its pause.
    Mailbox<bool> tried;
    harness.reactor->schedule(os::now() + std::chrono::milliseconds{20}, [&] { tried.put(true); });
    tried.take();
    CHECK(harness.accepted.empty());
  }
  CHECK(harness.accepted.take() != nullptr);
}

TEST_CASE("an acceptor may stop its listener") {
  Tcp harness;
  std::unique_ptr<transport::Listener> once;
  Mailbox<ConnectionPtr> accepted;
  auto listener = harness.transport->listen(TcpV4::anywhere(), [&](ConnectionPtr connection) {
    once->stop();
    accepted.put(connection);
  });
  REQUIRE(listener);
  once = std::move(*listener);
  REQUIRE(harness.transport->connect(once->endpoint(), patience()));
  CHECK(accepted.take() != nullptr);
  CHECK_FALSE(harness.transport->connect(once->endpoint(), patience()));
}

TEST_CASE("connections outlive their transport and their reactor") {
  std::optional<Tcp> harness(std::in_place);
  const Pair pair = harness->connect();
  harness.reset();
  REQUIRE(send(pair.caller, "still here"));
  CHECK(read(pair.called, 10) == "still here");
}

// Error paths.

TEST_CASE("a name that does not resolve is of an unknown host or has no answer now") {
  Tcp harness;
  const auto result = harness.transport->connect({"no-such-host.invalid", 1}, patience());
  REQUIRE_FALSE(result);
  CHECK((result.error().minor == minor::unknown_host || result.error().minor == minor::no_name_service));
}

TEST_CASE("connecting nowhere is a bad address") {
  Tcp harness;
  CHECK(harness.transport->connect({"", 1}, patience()).error().minor == minor::bad_address);
}

TEST_CASE("listening at an address of another machine is a bad address") {
  Tcp harness;
  const auto result = harness.transport->listen({"192.0.2.1", 0}, [](ConnectionPtr) {});
  REQUIRE_FALSE(result);
  CHECK(result.error().minor == minor::address_not_here);
}

TEST_CASE("a peer that answers nothing is given up at the deadline") {
  // The accept queue is full. The system drops further connects, so connecting neither succeeds nor fails.
  const os::Fd deaf(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(bind(deaf.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(deaf.get(), 0) == 0);
  socklen_t size = sizeof address;
  getsockname(deaf.get(), reinterpret_cast<sockaddr*>(&address), &size);
  const Endpoint endpoint{"127.0.0.1", ntohs(address.sin_port)};

  Tcp harness;
  std::vector<ConnectionPtr> queued;
  std::optional<Error> failure;
  Time deadline{};
  for (int i = 0; i < 8 && !failure; ++i) {
    deadline = os::now() + std::chrono::milliseconds{100};
    auto result = harness.transport->connect(endpoint, deadline);
    if (result)
      queued.push_back(*result);
    else
      failure = result.error();
  }
  REQUIRE(failure);
  CHECK(failure->kind == ErrorKind::timeout);
  CHECK(os::now() >= deadline);
}

TEST_CASE("a transport whose reactor has stopped does not listen") {
  Tcp harness;
  harness.reactor->stop();
  const auto result = harness.transport->listen(TcpV4::anywhere(), [](ConnectionPtr) {});
  REQUIRE_FALSE(result);
  CHECK(result.error().minor == minor::shutting_down);
}

TEST_CASE("steps of the realtime clock put no arrival into the future, and are seen as nothing else") {
  using namespace std::chrono_literals;
  const Time now{1h};
  const timespec noon{.tv_sec = 43'200, .tv_nsec = 500};
  CHECK(transport::moment_of(noon, {.tv_sec = 43'200, .tv_nsec = 700}, now) == now - 200ns);
  CHECK(transport::moment_of(noon, {.tv_sec = 43'199, .tv_nsec = 999'999'999}, now) == now);  // the clock was set back
  CHECK(transport::moment_of(noon, {.tv_sec = 40'000, .tv_nsec = 0}, now) == now);
  CHECK(transport::moment_of(noon, {.tv_sec = 43'260, .tv_nsec = 500}, now) == now - 60s);  // the clock was set forward
}
