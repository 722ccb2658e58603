// Tests a server that has no file descriptor left. It is a separate process with a low limit. If connections are idle,
// a new client takes the place of one. Otherwise the new client is told that there is no room.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <thread>
#include <vector>

#include "orb/base/errors.h"
#include "orb/channel/channel.h"
#include "orb/channel/listener.h"
#include "orb/os/fd.h"
#include "orb/transport/socket_transport.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/peers/forked_peer.h"
#include "tests/support/quiet.h"

using namespace corelane;
using namespace corelane::testing;
using transport::SocketTransport;

namespace {

constexpr std::string_view welcome = "welcome!", farewell = "farewell";

// Answers each byte with the same byte. It is idle until a byte is 'b'.
class Echo final : public transport::Watcher {
 public:
  explicit Echo(const ConnectionPtr& connection) : connection_(connection) {}
  void on_bytes(Bytes bytes, Time) noexcept override {
    if (text_of(bytes) == "b") busy_ = true;
    if (const auto connection = connection_.lock()) (void)connection->send(bytes);
  }
  bool is_idle() noexcept override { return !busy_; }
  void on_evict() noexcept override {
    if (const auto connection = connection_.lock()) connection->close();
  }
  void on_closed(Error) noexcept override {}

 private:
  std::weak_ptr<transport::Connection> connection_;
  bool busy_ = false;
};

// Reports its port, and serves until it is killed. `more`: how many descriptors it may open after it has begun to
// listen.
[[noreturn]] void serve(const Endpoint& at, rlim_t more, int tell) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const Quiet quiet;
  auto reactor = Reactor::start();
  if (!reactor) _exit(1);
  SocketTransport transport(**reactor, {.farewell = bytes_of(farewell)});
  const auto listener = transport.listen(at, [](ConnectionPtr connection) {
    connection->watch(std::make_shared<Echo>(connection));
    (void)send(connection, welcome);
  });
  const int lowest = dup(0);
  rlimit few{};
  if (!listener || lowest < 0 || close(lowest) != 0 || getrlimit(RLIMIT_NOFILE, &few) != 0) _exit(2);
  few.rlim_cur = static_cast<rlim_t>(lowest) + more;
  const std::uint16_t port = (*listener)->endpoint().port;
  if (setrlimit(RLIMIT_NOFILE, &few) != 0 || write(tell, &port, sizeof port) != sizeof port) _exit(3);
  for (;;) pause();
}

class Server {
 public:
  Server(Endpoint at, rlim_t more) : endpoint_(std::move(at)) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    const os::Fd told(ends[0]), tell(ends[1]);
    process_ = corelane::testing::fork_alone();
    if (process_ == 0) serve(endpoint_, more, tell.get());
    REQUIRE(::read(told.get(), &endpoint_.port, sizeof endpoint_.port) == sizeof endpoint_.port);
  }
  ~Server() {
    kill(process_, SIGKILL);
    end_of(process_);
  }
  const Endpoint& endpoint() const { return endpoint_; }
  long descriptors() const {
    const std::filesystem::directory_iterator all("/proc/" + std::to_string(process_) + "/fd");
    return std::distance(begin(all), end(all));
  }

 private:
  Endpoint endpoint_;
  pid_t process_ = -1;
};

// The client ends. Create them after the server was forked, because they have threads.
struct Clients {
  explicit Clients(const Endpoint& server) : endpoint(server) { REQUIRE(reactor); }

  // Connects. Returns what the server says to a new client. If the server refuses a channel, connect() fails instead.
  std::string come(ConnectionPtr& caller) {
    auto connected = transport.connect(endpoint, patience());
    REQUIRE((connected || endpoint.kind == &transport::kinds::channel));
    if (!connected) return std::string(farewell);
    caller = std::move(*connected);
    return read(caller, welcome.size());
  }
  // Connects until a client is accepted. Idle channels may not be old enough yet to make room for another.
  ConnectionPtr welcomed() {
    ConnectionPtr caller;
    const Time until = patience();
    std::string said = come(caller);
    while (said == farewell && endpoint.kind == &transport::kinds::channel && os::now() < until) {
      os::sleep_until(os::now() + std::chrono::milliseconds{20});  // sleep: channels grow old only by the clock
      said = come(caller);
    }
    REQUIRE(said == welcome);
    return caller;
  }

  Endpoint endpoint;
  Expected<std::unique_ptr<Reactor>> reactor = Reactor::start();
  SocketTransport transport{**reactor};
};

Endpoint endpoint_in(const TempDirectory& directory, const std::string& kind) {
  if (kind == "tcp") return {"127.0.0.1", 0};
  return kind == "unix" ? transport::unix_endpoint(directory / "door")
                        : transport::channel_endpoint(directory / "door");
}

// Connects a client that sends nothing. Returns when the server has accepted it, or has told it that there is no room.
os::Fd silent_at(const Server& server) {
  const long before = server.descriptors();
  auto socket = channel::connect_socket(server.endpoint().path, patience());
  REQUIRE(socket);
  const auto is_told = [&] {
    pollfd watched{socket->get(), POLLIN, 0};
    return poll(&watched, 1, 0) > 0;
  };
  while (server.descriptors() == before && !is_told()) std::this_thread::yield();
  // sleep: the server accepts a client first, and no event tells when it has done the rest
  for (long seen = -1; seen != server.descriptors();) {
    seen = server.descriptors();
    os::sleep_until(os::now() + std::chrono::milliseconds{100});
  }
  return std::move(*socket);
}

// Returns how many descriptors `start` needs. With fewer it must report that there are too few.
template <typename Start>
rlim_t needed_by(Start start) {
  const int lowest = dup(0);
  REQUIRE((lowest >= 0 && close(lowest) == 0));
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  for (rlim_t needed = 0;; ++needed) {  // bound: at some point there are enough
    const rlimit few{static_cast<rlim_t>(lowest) + needed, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
    const auto started = start();
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    if (started) return needed;
    CHECK(started.error() == errors::no_descriptor);
  }
}

bool answers(const ConnectionPtr& caller, std::string_view text) {
  return send(caller, text) && read(caller, text.size()) == text;
}

}  // namespace

TEST_CASE("a reactor says so where no descriptor is left, whichever of its own that is") {
  CHECK(needed_by([] { return Reactor::start(); }) > 0);
}

TEST_CASE("a listener needs one descriptor for its socket and one to answer with when no other is left") {
  const Quiet quiet;
  const auto reactor = Reactor::start();
  REQUIRE(reactor);
  SocketTransport transport(**reactor);
  CHECK(needed_by([&] { return transport.listen({"127.0.0.1", 0}, [](ConnectionPtr) {}); }) == 2);
}

TEST_CASE("a connection that arrives when no descriptor is left replaces the quietest idle connection") {
  const Quiet quiet;
  const auto kind = GENERATE(as<std::string>(), "tcp", "unix", "channel");
  const TempDirectory directory;
  const Server server(endpoint_in(directory, kind), 40);
  Clients clients(server.endpoint());
  const std::size_t count = kind == "channel" ? 4 : 60;  // ten descriptors for each channel, in half of all descriptors
  std::vector<ConnectionPtr> callers;
  while (callers.size() < count) {
    callers.push_back(clients.welcomed());
    CHECK(answers(callers.back(), "x"));
  }
  CHECK(read(callers.front(), 1).empty());  // the connection that was quiet for longest has ended
  CHECK(answers(callers.back(), "y"));
}

TEST_CASE("a connection that arrives when no descriptor is left and no connection is idle is refused at once") {
  const Quiet quiet;
  const auto kind = GENERATE(as<std::string>(), "tcp", "unix", "channel");
  const TempDirectory directory;
  const Server server(endpoint_in(directory, kind), 40);
  Clients clients(server.endpoint());
  std::vector<ConnectionPtr> busy;
  ConnectionPtr caller;
  std::string said = clients.come(caller);
  for (; said == welcome && busy.size() < 60; said = clients.come(caller)) {
    CHECK(answers(caller, "b"));
    busy.push_back(caller);
  }
  CHECK(said == farewell);
  CHECK_FALSE(busy.empty());
  for (const ConnectionPtr& one : busy) CHECK(answers(one, "z"));
}

TEST_CASE("a new connection costs at most one other channel, whatever others do while it is set up") {
  const Quiet quiet;
  const TempDirectory directory;
  const Server server(endpoint_in(directory, "channel"), 100);
  Clients clients(server.endpoint());
  std::vector<ConnectionPtr> callers;
  while (callers.size() < 4) callers.push_back(clients.welcomed());
  const auto ended = [&] {
    return std::count_if(callers.begin(), callers.end(), [](const auto& caller) { return !answers(caller, "x"); });
  };
  REQUIRE(ended() == 0);
  os::sleep_until(os::now() + std::chrono::milliseconds{1200});  // sleep: channels grow old only by the clock

  std::vector<os::Fd> others;
  os::Fd incoming;
  long before = 0;
  do {
    others.push_back(std::move(incoming));
    before = server.descriptors();
    incoming = silent_at(server);
  } while (server.descriptors() > before);
  // One channel has ended for the new client. Other clients now take its descriptors.
  for (long left = before - server.descriptors() + 1; left > 0; --left) others.push_back(silent_at(server));
  (void)channel::Channel::connect_over(std::move(incoming), {}, patience());
  CHECK(ended() == 1);
}
