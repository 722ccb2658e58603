// Tests how channels are set up: addresses, clients that must not delay others, refused clients, and the ends of
// listeners.
#include "orb/channel/listener.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <thread>

#include "tests/orb/channel/raw_peer.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;
using Kind = SetupFault::Kind;

TEST_CASE("a channel is set up at a path or at an abstract name") {
  const TempDirectory directory;
  const bool abstract = GENERATE(false, true);
  const std::string path = abstract ? "@corelane-test-" + std::to_string(getpid()) : directory / "channel";
  auto listener = Listener::listen(path, {});
  REQUIRE(listener);
  std::thread client([&] {
    Channel end = expect(Channel::connect(path, {}, soon()));
    (void)end.write(as_bytes(read(end)), soon());
    read(end);
  });
  {
    Channel end = expect(listener->accept(soon()));
    REQUIRE(end.try_write(as_bytes("echo")));
    CHECK(read(end) == "echo");
  }
  client.join();
}

TEST_CASE("a listener's file is for its user alone unless others are welcome, and goes with it") {
  const TempDirectory directory;
  const auto [access, mode] = GENERATE(table<Access, mode_t>(
      {{Access{}, 0600}, {Access{.users = {1}}, 0666}, {Access{.groups = {1}}, 0666}, {Access{.anyone = true}, 0666}}));
  {
    const auto listener = Listener::listen(directory / "channel", {.access = access});
    REQUIRE(listener);
    struct stat found {};
    REQUIRE(stat((directory / "channel").c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == mode);
  }
  CHECK(directory.entries() == 0);
}

TEST_CASE("a path that is taken is refused, and one that a killed process left is taken over") {
  const TempDirectory directory;
  const std::string path = directory / "channel";
  {
    const auto first = Listener::listen(path, {});
    REQUIRE(first);
    const auto second = Listener::listen(path, {});
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == Kind::address);
    CHECK(second.error().text.find("another program listens") != std::string::npos);
  }
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, path.size());
  REQUIRE(bind(os::Fd(socket(AF_UNIX, SOCK_SEQPACKET, 0)).get(), reinterpret_cast<const sockaddr*>(&address),
               sizeof address) == 0);
  CHECK(Listener::listen(path, {}));
}

TEST_CASE("files that are no listener's are left alone") {
  const TempDirectory directory;
  std::ofstream(directory / "channel") << "precious";
  const auto listener = Listener::listen(directory / "channel", {});
  REQUIRE_FALSE(listener);
  CHECK(listener.error().text.find("no socket") != std::string::npos);
  CHECK(std::filesystem::file_size(directory / "channel") == 8);
}

TEST_CASE("bad addresses are named with what is wrong") {
  const auto path =
      GENERATE(as<std::string>{}, "", "relative", "/" + std::string(108, 'x'), "@", "/nowhere/at/all/channel");
  const auto listener = Listener::listen(path, {});
  REQUIRE_FALSE(listener);
  CHECK(listener.error().kind == Kind::address);
  const auto channel = Channel::connect(path, {}, soon());
  REQUIRE_FALSE(channel);
  CHECK(channel.error().kind == Kind::address);
  CHECK(says(channel, path));
}

TEST_CASE("accept and connect time out at the deadline when the peer is silent or does not come") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {});
  REQUIRE(listener);
  CHECK(listener->accept(at_once).error().kind == Kind::timed_out);
  const auto silent = connect_socket(directory / "channel", soon());
  REQUIRE(silent);
  auto accepted = listener->accept_socket(soon());
  REQUIRE(accepted);
  CHECK(Channel::accept_over(std::move(*accepted), {}, at_once).error().kind == Kind::timed_out);
  SocketPair sockets;
  CHECK(Channel::connect_over(std::move(sockets.near), {}, at_once).error().kind == Kind::timed_out);
}

TEST_CASE("a client that connects and is silent delays no other client") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {});
  REQUIRE(listener);
  std::vector<os::Fd> silent;
  for (int i = 0; i < 8; ++i) silent.push_back(std::move(*connect_socket(directory / "channel", soon())));
  auto client = std::async(std::launch::async, [&] { return Channel::connect(directory / "channel", {}, soon()); });
  CHECK(listener->accept(soon()));
  CHECK(client.get());
}

namespace {

// Runs a server with few descriptors. It exits with 0 when a client has a channel.
[[noreturn]] void serve_with_descriptors(const std::string& path, rlim_t more) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto listener = Listener::listen(path, {.handshake = std::chrono::hours{1}});
  const int lowest = dup(0);
  rlimit few{};
  if (!listener || lowest < 0 || close(lowest) != 0 || getrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
  few.rlim_cur = static_cast<rlim_t>(lowest) + more;
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
  while (true)  // bound: the deadline
    if (const auto end = listener->accept(soon()); end || end.error().text.find("no process connected") == 0)
      _exit(end ? 0 : 2);
}

// Connects to a server that may not listen yet.
os::Fd patient_socket(const std::string& path) {
  const Time until = soon();
  auto socket = connect_socket(path, until);
  for (; !socket && os::now() < until; socket = connect_socket(path, until)) std::this_thread::yield();
  REQUIRE(socket);
  return std::move(*socket);
}

}  // namespace

TEST_CASE("silent clients that took all descriptors and went away keep no other client out") {
  const TempDirectory directory;
  const std::string path = directory / "channel";
  const pid_t server = corelane::testing::fork_alone();
  if (server == 0) serve_with_descriptors(path, 12);
  std::vector<os::Fd> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(patient_socket(path));
  REQUIRE(wait_readable(silent.back().get(), soon()));  // the server says that there are no descriptors left
  const auto told = receive_packet(silent.back(), soon());
  REQUIRE(told);
  CHECK(as_hello(*told).error().text.find("no file descriptor is left") != std::string::npos);
  silent.clear();
  const Time until = soon();
  ChannelResult client = Channel::connect(path, {}, until);
  // The server may not have noticed yet.
  while (!client && os::now() < until) client = Channel::connect(path, {}, until);
  CHECK(client);
  if (!client) kill(server, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(server, &status, 0) == server);
  CHECK(status == 0);
}

TEST_CASE("a client that is rejected when it connects is told why, whatever the client sends") {
  const TempDirectory directory;
  const AdmitOnConnect admit = [](const Peer& peer, const os::Fd& socket) -> Expected<void, SetupFault> {
    CHECK(peer.process == getpid());
    CHECK(socket);
    return SetupFault{Kind::denied, "not today"};
  };
  auto listener = Listener::listen(directory / "channel", {.admit_on_connect = admit});
  REQUIRE(listener);
  auto client = std::async(std::launch::async, [&] { return Channel::connect(directory / "channel", {}, soon()); });
  CHECK(listener->accept(soon()).error().text == "not today");
  CHECK(says(client.get(), "the other end refused: not today"));
}

TEST_CASE("however many clients are silent, the next one is served, and the log names the users of the silent ones") {
  const TempDirectory directory;
  const std::string path = directory / "channel";
  auto listener = Listener::listen(path, {.handshake = std::chrono::hours{1}});
  REQUIRE(listener);
  std::vector<os::Fd> silent;
  for (std::size_t i = 0; i < Listener::most_handshakes + 10; ++i)
    silent.push_back(std::move(*connect_socket(path, soon())));
  auto client = std::async(std::launch::async, [&] { return Channel::connect(path, {}, soon()); });
  const std::string who = "user " + std::to_string(geteuid()) + " of process " + std::to_string(getpid());
  ChannelResult end = listener->accept(soon());
  for (; !end; end = listener->accept(soon())) {  // bound: the number of silent clients
    INFO(end.error().text);
    REQUIRE(end.error().text.find(who + ": too many channels are being set up; try again; 65 of 65") == 0);
  }
  CHECK(client.get());
  CHECK(as_hello(*receive_packet(silent.front(), soon())).error().kind == Kind::refused);
}

TEST_CASE("a user's many handshakes do not displace the one of another user") {
  const TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const std::string path = directory / "channel";
  auto listener = Listener::listen(path, {.access = {.anyone = true}, .handshake = std::chrono::hours{1}});
  REQUIRE(listener);
  const auto socket = connect_socket(path, soon());  // the oldest handshake
  REQUIRE(socket);
  const pid_t child = fork_stranger(12345, [&] {
    std::vector<os::Fd> silent;
    for (std::size_t i = 0; i < 2 * Listener::most_handshakes; ++i)
      if (auto one = connect_socket(path, soon())) silent.push_back(std::move(*one));
    return wait_readable(silent[Listener::most_handshakes].get(), soon()) ? 0 : 2;
  });
  if (child < 0) return;
  for (std::size_t i = 0; i <= Listener::most_handshakes; ++i)
    CHECK(listener->accept(soon()).error().text.find("user 12345 of process") == 0);
  RawPeer peer;
  peer.say_all(*socket);
  CHECK(exit_code(child) == 0);
  ChannelResult end = listener->accept(soon());
  for (std::size_t i = 0; !end && i < 2 * Listener::most_handshakes; ++i) end = listener->accept(soon());
  CHECK(end);
}

TEST_CASE("a client that is not on the access list is rejected with a reason before it sends anything") {
  const TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const std::string path = directory / "channel";
  auto listener = Listener::listen(path, {.access = {.users = {1}}, .handshake = std::chrono::hours{1}});
  REQUIRE(listener);
  const pid_t child = fork_stranger(12345, [&] {
    const auto socket = connect_socket(path, soon());
    const auto told = receive_packet(*socket, soon());
    return told && as_hello(*told).error().text.find("access list") != std::string::npos ? 0 : 2;
  });
  if (child < 0) return;
  const auto end = listener->accept(soon());
  CHECK(end.error().kind == Kind::denied);
  CHECK(says(end, "user 12345 of process " + std::to_string(child)));
  CHECK(exit_code(child) == 0);
}

namespace {

// Runs a server without a free descriptor, which refuses two clients. It exits with 0 if it asked its room maker only
// for the second one.
[[noreturn]] void serve_two_without_descriptors(const std::string& path) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int asked = 0;
  const auto make_none = [&] { return ++asked, false; };
  auto listener = Listener::listen(path, {.access = {.users = {1}}, .free_descriptors = make_none});
  const os::Fd lowest(dup(0));
  const auto none_left = static_cast<rlim_t>(lowest.get());
  const rlimit few{.rlim_cur = none_left, .rlim_max = none_left};
  if (!listener || !lowest || setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
  const auto stranger = listener->accept(soon());
  if (asked != 0) _exit(2);
  const auto own = listener->accept(soon());
  _exit(!stranger && !own && asked == 1 ? 0 : 3);
}

std::string told_at(const std::string& path) {
  const os::Fd socket = patient_socket(path);
  const auto told = receive_packet(socket, soon());
  return told ? as_hello(*told).error().text : told.error().text;
}

}  // namespace

TEST_CASE("no client has to make room for one that is not on the access list") {
  const TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const std::string path = directory / "channel";
  const pid_t server = corelane::testing::fork_alone();
  if (server == 0) serve_two_without_descriptors(path);
  const pid_t child =
      fork_stranger(12345, [&] { return told_at(path).find("access list") != std::string::npos ? 0 : 2; });
  if (child < 0) kill(server, SIGKILL);
  if (child >= 0) CHECK(exit_code(child) == 0);
  if (child >= 0) CHECK(told_at(path).find("no file descriptor is left") != std::string::npos);
  const int served = exit_code(server);
  if (child >= 0) CHECK(served == 0);
}

TEST_CASE("in a user namespace without a mapping no user counts as the own one") {
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {
    if (unshare(CLONE_NEWUSER) != 0) _exit(77);
    SocketPair sockets;
    const auto end = Channel::connect_over(std::move(sockets.near), {}, at_once);
    _exit(!end && end.error().text.find("does not map") != std::string::npos ? 0 : 2);
  }
  const int code = exit_code(child);
  if (code == 77) std::cout << "SKIPPED: this system lets nobody make a user namespace here\n";
  if (code != 77) CHECK(code == 0);
}

TEST_CASE("a client whose handshake was given up gets no channel and is told why") {
  SocketPair sockets;
  auto asked =
      std::async(std::launch::async, [&] { return Channel::connect_over(std::move(sockets.near), {}, soon()); });
  Acceptance acceptance{os::PeerSocket(std::move(sockets.far))};
  REQUIRE(wait_readable(acceptance.descriptor(), soon()));
  REQUIRE_FALSE(acceptance.advance({}));
  acceptance.give_up();
  const auto result = asked.get();
  CHECK(says(result, "the other end refused: the other end did not answer in time"));
}

TEST_CASE("a client that came before its listener looked is served, however late that is") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {.handshake = Duration::zero()});
  REQUIRE(listener);
  RawPeer peer;
  const auto socket = connect_socket(directory / "channel", soon());
  REQUIRE(socket);
  peer.say_all(*socket);
  CHECK(listener->accept(soon()));
}

TEST_CASE("an acceptor confirms only to a peer that knows confirmations") {
  const bool knows = GENERATE(true, false);
  RawPeer peer;
  peer.hello.offered = knows ? known_features : known_features & ~feature_confirmation;
  SocketPair sockets;
  peer.say_all(sockets.near);
  const auto end = Channel::accept_over(std::move(sockets.far), {}, soon());
  REQUIRE(end);
  REQUIRE(as_hello(*receive_packet(sockets.near, soon())));
  const auto confirmation = receive_packet(sockets.near, at_once);
  CHECK((confirmation && as_ready(*confirmation)) == knows);
}

TEST_CASE("a connector does not wait for a confirmation from a peer that sends none") {
  SocketPair sockets;
  auto asked =
      std::async(std::launch::async, [&] { return Channel::connect_over(std::move(sockets.near), {}, soon()); });
  REQUIRE(as_hello(*receive_packet(sockets.far, soon())));
  RawPeer peer;
  peer.hello.offered = known_features & ~feature_confirmation;
  peer.hello.descriptors = 1;
  REQUIRE(send_packet(sockets.far, &peer.hello, sizeof peer.hello, {peer.region.fd.get()}));
  CHECK(asked.get());
}

TEST_CASE("a listener that is stopped ends its accept, and no client connects any more") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {});
  REQUIRE(listener);
  auto acceptor = std::async(std::launch::async, [&] { return listener->accept(soon()); });
  listener->stop();
  CHECK(acceptor.get().error().kind == Kind::stopped);
  CHECK(listener->accept(soon()).error().kind == Kind::stopped);
  CHECK_FALSE(Channel::connect(directory / "channel", {}, soon()));
}

TEST_CASE("a signal does not end an accept before its deadline") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {});
  REQUIRE(listener);
  struct sigaction caught {
  }, before{};
  caught.sa_handler = [](int) {};
  REQUIRE(sigaction(SIGUSR2, &caught, &before) == 0);
  std::atomic<bool> over{false};
  std::atomic<pthread_t> thread{pthread_self()};
  std::atomic<bool> there{false};
  auto acceptor = std::async(std::launch::async, [&] {
    thread = pthread_self();
    there = true;
    const auto socket = listener->accept_socket(soon());
    over = true;
    while (there) std::this_thread::yield();  // keeps the thread alive while signals come
    return bool(socket);
  });
  while (!there) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) pthread_kill(thread, SIGUSR2), std::this_thread::yield();
  CHECK_FALSE(over);
  const auto client = connect_socket(directory / "channel", soon());
  there = false;
  CHECK(acceptor.get());
  sigaction(SIGUSR2, &before, nullptr);
}
