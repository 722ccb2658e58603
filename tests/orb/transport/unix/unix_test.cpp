// Tests what only Unix sockets do among the streams: files, permissions, and credentials.
#include "orb/transport/unix/unix.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "orb/base/minor.h"
#include "orb/os/fd.h"
#include "orb/os/socket_path.h"
#include "orb/transport/detail/socket_link.h"
#include "orb/transport/socket_transport.h"
#include "tests/orb/transport/kinds.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/quiet.h"
#include "tests/support/system/groups.h"
#include "tests/support/system/lingering_socket.h"
#include "tests/support/system/other_users_socket.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::testing;
using transport::Endpoint;
using transport::Reactor;
using transport::unix_endpoint;
using transport::UnixTransport;

namespace {

using Unix = StreamHarness<UnixSocket>;

// A transport, and listeners at paths in the test's own directory.
class Host {
 public:
  explicit Host(mode_t mode = 0600) : transport_(*reactor_, {.directory = directory / "chosen", .mode = mode}) {}
  ~Host() { reactor_->stop(); }

  Expected<std::unique_ptr<transport::Listener>> listen(const std::string& path) {
    return transport_.listen(unix_endpoint(path), [this](ConnectionPtr connection) { accepted.put(connection); });
  }
  Expected<ConnectionPtr> connect(const std::string& path, std::optional<uid_t> user = {}) {
    Endpoint endpoint = unix_endpoint(path);
    endpoint.user = user;
    return transport_.connect(endpoint, patience());
  }
  std::uint32_t refusal(const std::string& path) {
    const Quiet quiet;
    const auto result = listen(path);
    REQUIRE_FALSE(result);
    return result.error().minor;
  }

  const TempDirectory directory;
  Mailbox<ConnectionPtr> accepted;

 private:
  std::unique_ptr<Reactor> reactor_ = std::move(*Reactor::start());
  UnixTransport transport_;
};

// Returns a bound socket that no Corelane server made, such as another program's socket, or one that a dead server
// left.
os::Fd plain_socket_at(const std::string& path, bool listening) {
  os::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  if (listening) REQUIRE(::listen(fd.get(), 0) == 0);
  return fd;
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(lstat(path.c_str(), &found) == 0);
  return found.st_mode & 0777;
}

bool exists(const std::string& path) {
  struct stat found {};
  return lstat(path.c_str(), &found) == 0;
}

// Listens at `path` in a process that is killed, so that nothing is cleaned up.
void die_while_listening(const std::string& path) {
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {
    auto claimed = os::SocketPath::claim(path);
    const bool listening = claimed && claimed->listen(0600);
    if (listening) kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
}

}  // namespace

TEST_CASE("a Unix socket is for its owner alone unless a mode is asked for") {
  const auto [asked, expected] = GENERATE(table<mode_t, mode_t>({{0600, 0600}, {0660, 0660}, {0666, 0666}}));
  Host host(asked);
  const std::string path = host.directory / "plant.sock";
  const auto listener = host.listen(path);
  REQUIRE(listener);
  CHECK(mode_of(path) == expected);
}

TEST_CASE("a listener that stops leaves no file behind") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  auto listener = host.listen(path);
  REQUIRE(listener);
  CHECK(exists(path));
  const bool by_destruction = GENERATE(true, false);
  if (by_destruction)
    listener->reset();
  else
    (*listener)->stop();
  CHECK(host.directory.entries() == 0);
}

TEST_CASE("a path is chosen in the directory of the transport and two are two") {
  Host host;
  const auto one = host.listen(""), other = host.listen("");
  REQUIRE(one);
  REQUIRE(other);
  CHECK((*one)->endpoint().path.starts_with(host.directory / "chosen/"));
  CHECK((*one)->endpoint() != (*other)->endpoint());
  CHECK(host.connect((*other)->endpoint().path));
}

TEST_CASE("both ends of a Unix socket know process, user and groups of the other") {
  Unix harness;
  const auto [caller, called] = harness.connect();
  for (const ConnectionPtr& end : {caller, called}) {
    REQUIRE(end->credentials());
    CHECK(end->credentials()->process == getpid());
    CHECK(end->credentials()->user == geteuid());
    CHECK(end->groups() == own_groups());
  }
}

TEST_CASE("TCP and Unix sockets of one transport count against one limit") {
  const Quiet quiet;
  const TempDirectory directory;
  const auto reactor = std::move(*Reactor::start());
  transport::SocketTransport both(*reactor, {.connections = 1}, {.unix_sockets = {.directory = directory.path()}});
  Mailbox<ConnectionPtr> accepted;
  const auto take = [&](ConnectionPtr connection) { accepted.put(connection); };
  const auto tcp = both.listen({"127.0.0.1", 0}, take), local = both.listen(unix_endpoint(""), take);
  REQUIRE(tcp);
  REQUIRE(local);
  const auto first = both.connect((*local)->endpoint(), patience());
  REQUIRE(first);
  const ConnectionPtr called = accepted.take();
  const auto second = both.connect((*tcp)->endpoint(), patience());
  REQUIRE(second);
  CHECK(read(*second, 1).empty());
  reactor->stop();
}

TEST_CASE("a server takes the place of one that died without cleaning up") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  die_while_listening(path);
  REQUIRE(exists(path));
  CHECK_FALSE(host.connect(path));
  const auto listener = host.listen(path);
  REQUIRE(listener);
  CHECK(host.connect(path));
}

TEST_CASE("files that dead servers left in the chosen directory are removed") {
  Host host;
  const std::string chosen = host.directory / "chosen";
  std::filesystem::create_directory(chosen);
  die_while_listening(chosen + "/1.1.sock");
  die_while_listening(chosen + "/1.2.sock");
  const std::string kept = chosen + "/kept.sock.lock";
  std::ofstream(kept) << "not ours by its name";
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(chosen), std::filesystem::directory_iterator());
  };
  REQUIRE(entries() == 5);
  const auto listener = host.listen("");
  REQUIRE(listener);
  CHECK(entries() == 3);
  CHECK(exists(kept));
  CHECK(host.connect((*listener)->endpoint().path));
}

TEST_CASE("a socket left by a program that knows no lock file is replaced when no process listens") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  plain_socket_at(path, true);  // closed at once
  REQUIRE(exists(path));
  CHECK(host.listen(path));
}

// Edges.

TEST_CASE("a path of the system's full length is taken and one byte more is not") {
  Host host;
  const std::string start = host.directory / "";
  const std::string longest = start + std::string(transport::longest_unix_path - start.size(), 'x');
  const auto listener = host.listen(longest);
  REQUIRE(listener);
  CHECK((*listener)->endpoint().path == longest);
  CHECK(host.connect(longest));
  CHECK(host.refusal(longest + "x") == minor::bad_address);
  CHECK(host.connect(longest + "x").error().minor == minor::bad_address);
}

TEST_CASE("a file that took the place of the socket stays when the listener stops") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  auto listener = host.listen(path);
  REQUIRE(listener);
  std::filesystem::remove(path);
  std::ofstream(path) << "another's";
  listener->reset();
  CHECK(exists(path));
}

// Error paths.

TEST_CASE("a live server keeps its path") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  const auto first = host.listen(path);
  REQUIRE(first);
  CHECK(host.refusal(path) == minor::address_in_use);
  const auto caller = host.connect(path);
  REQUIRE(caller);
  REQUIRE(send(*caller, "x"));
  CHECK(read(host.accepted.take(), 1) == "x");
}

TEST_CASE("a live program that knows no lock file keeps its path as well") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  const os::Fd other = plain_socket_at(path, true);
  CHECK(host.refusal(path) == minor::address_in_use);
  CHECK(exists(path));
  CHECK_FALSE(exists(path + ".lock"));
}

TEST_CASE("a file that is no socket is never removed") {
  Host host;
  const std::string path = host.directory / "notes.txt";
  std::ofstream(path) << "precious";
  CHECK(host.refusal(path) == minor::address_in_use);
  CHECK(exists(path));
}

TEST_CASE("a file in the place of the lock that is none stays as it is") {
  Host host;
  const std::string path = host.directory / "plant.sock", lock = path + ".lock";
  SECTION("a plain file") { std::ofstream(lock) << "precious"; }
  SECTION("a directory") { std::filesystem::create_directory(lock); }
  SECTION("a fifo") { REQUIRE(mkfifo(lock.c_str(), 0600) == 0); }
  CHECK(host.refusal(path) == minor::address_in_use);
  CHECK(exists(lock));
  CHECK_FALSE(exists(path));
}

TEST_CASE("a file that took the place of the lock stays when the listener stops") {
  Host host;
  const std::string path = host.directory / "plant.sock";
  auto listener = host.listen(path);
  REQUIRE(listener);
  std::filesystem::remove(path + ".lock");
  std::ofstream(path + ".lock") << "another's";
  listener->reset();
  CHECK_FALSE(exists(path));
  CHECK(exists(path + ".lock"));
}

TEST_CASE("only the last part of the directory for chosen paths is made") {
  const TempDirectory directory;
  const Quiet quiet;
  const auto reactor = std::move(*Reactor::start());
  UnixTransport transport(*reactor, {.directory = directory / "slip/chosen"});
  CHECK(transport.listen(unix_endpoint(""), [](ConnectionPtr) {}).error().minor == minor::bad_address);
  CHECK(directory.entries() == 0);
}

TEST_CASE("a link at the path or at its lock file is not followed") {
  Host host;
  const std::string path = host.directory / "plant.sock", target = host.directory / "target";
  const std::string link = GENERATE("", ".lock");
  std::filesystem::create_symlink(target, path + link);
  CHECK(host.refusal(path) != 0);
  CHECK_FALSE(exists(target));
}

TEST_CASE("a path in a directory that does not exist is refused, and the first one that is missing named") {
  Host host;
  CHECK(host.refusal(host.directory / "nowhere/plant.sock") == minor::system_refused);
  CHECK(os::SocketPath::claim(host.directory / "no/where/plant.sock").error().why ==
        "the directory " + (host.directory / "no") + " does not exist");
  CHECK(host.refusal("relative.sock") == minor::bad_address);
}

TEST_CASE("a transport without a directory chooses no path") {
  const Quiet quiet;
  const auto reactor = std::move(*Reactor::start());
  UnixTransport transport(*reactor);
  CHECK(transport.listen(unix_endpoint(""), [](ConnectionPtr) {}).error().minor == minor::bad_address);
  CHECK(transport.connect(unix_endpoint(""), patience()).error().minor == minor::bad_address);
}

TEST_CASE("an endpoint of the other kind is a bad address") {
  const auto reactor = std::move(*Reactor::start());
  UnixTransport local(*reactor);
  transport::TcpTransport tcp(*reactor);
  CHECK(local.connect({"127.0.0.1", 1}, patience()).error().minor == minor::bad_address);
  CHECK(local.listen({"127.0.0.1", 0}, [](ConnectionPtr) {}).error().minor == minor::bad_address);
  CHECK(tcp.connect(unix_endpoint("/x"), patience()).error().minor == minor::bad_address);
  CHECK(tcp.listen(unix_endpoint("/x"), [](ConnectionPtr) {}).error().minor == minor::bad_address);
}

TEST_CASE("a Unix socket that accepts nothing is given up at the deadline") {
  Host host;
  const std::string path = host.directory / "deaf.sock";
  const os::Fd deaf = plain_socket_at(path, true);
  const auto reactor = std::move(*Reactor::start());
  UnixTransport transport(*reactor);
  std::vector<ConnectionPtr> queued;
  std::optional<Error> failure;
  Time deadline{};
  for (int i = 0; i < 8 && !failure; ++i) {
    deadline = os::now() + std::chrono::milliseconds{50};
    auto result = transport.connect(unix_endpoint(path), deadline);
    if (result)
      queued.push_back(*result);
    else
      failure = result.error();
  }
  REQUIRE(failure);
  CHECK(failure->kind == ErrorKind::timeout);
  CHECK(os::now() >= deadline);
}

TEST_CASE("a peer that closes with bytes unread is a lost connection") {
  Unix harness;
  auto [caller, called] = harness.connect();
  REQUIRE(send(caller, "unread"));
  called.reset();
  const auto result = receive(caller, patience());
  REQUIRE_FALSE(result);
  CHECK(result.error().minor == minor::connection_lost);
}

// A listener of systemd has such a queue: it is older than this process.
TEST_CASE("a lingering socket that was sent before a stream was taken over delays no thread") {
  int fds[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
  const os::Fd near(fds[0]);
  LingeringSocket lingering;
  lingering.send_to(near, 3);
  transport::SocketLink link{os::Fd(fds[1])};
  std::byte bytes[64];
  Time arrived{};
  SECTION("and is read") { CHECK(link.receive_some(bytes, nullptr).count == 3); }
  SECTION("and is read with the time") { CHECK(link.take(bytes, arrived, nullptr).count == 3); }
  SECTION("and is not read") {}
}

// Returns whether a client has connected to the listening socket.
bool was_called(const os::Fd& listening) {
  pollfd watched{.fd = listening.get(), .events = POLLIN, .revents = 0};
  return ::poll(&watched, 1, 0) > 0;
}

TEST_CASE("a client that wants one user's server finds it, and connects to no other user's socket") {
  Host host;
  const std::string path = host.directory / "s", link = host.directory / "link";
  const os::Fd server = plain_socket_at(path, true);
  CHECK_FALSE(host.connect(path, ::geteuid() + 1));
  std::filesystem::create_symlink(path, link);
  CHECK_FALSE(host.connect(link, ::geteuid()));
  CHECK_FALSE(host.connect(host.directory / "none", ::geteuid()));
  CHECK_FALSE(was_called(server));
  CHECK(host.connect(path, ::geteuid()));
  CHECK(was_called(server));
}

TEST_CASE("a socket that a user owns, and where another user's process listens, is not that user's server") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: only root can give a file away");
    return;
  }
  Host host;
  const std::string path = host.directory / "s";
  const os::Fd server = listening_socket(path);
  REQUIRE(::chown(path.c_str(), another_user, another_user) == 0);
  CHECK_FALSE(host.connect(path, another_user));
  CHECK_FALSE(host.connect(path, 0));
  CHECK(host.connect(path));
}
