// How channels are set up: addresses, who is welcome, what does not fit, and packets that no correct end sends.
#include "orb/channel/setup.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <thread>

#include "orb/channel/bell.h"
#include "orb/channel/listener.h"
#include "tests/support/channel_pair.h"
#include "tests/support/temp_directory.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;
using Kind = SetupFault::Kind;

namespace {

std::string text_of_fault(const ChannelResult& result) { return result ? "no fault" : result.error().text; }

bool says(const ChannelResult& result, std::string_view words) {
  INFO(text_of_fault(result));
  return text_of_fault(result).find(words) != std::string::npos;
}

// A peer that says what it likes to a correct acceptor.
class RawPeer {
 public:
  Hello hello;
  MadeMemory region, sleep;

  RawPeer() {
    const Shape shape{.slots = 64, .chunks = 1, .chunk_size = 4096};
    hello.slots = shape.slots, hello.chunks = shape.chunks, hello.chunk_size = shape.chunk_size;
    hello.wake = static_cast<std::uint32_t>(Wake::futex);
    hello.descriptors = 2;
    region = std::move(*make_memory(region_size(shape), Writers::maker_alone));
    sleep = std::move(*make_memory(sizeof(SleepPage), Writers::both_ends));
  }

  // All that a connector says, without a look at the answers.
  void say_all(const os::Fd& to) { say_all(to, &hello, sizeof hello, {region.fd.get(), sleep.fd.get()}); }
  static void say_all(const os::Fd& to, const void* bytes, std::size_t size, const std::vector<int>& descriptors) {
    REQUIRE(send_packet(to, bytes, size, descriptors));
    const Ready ready;
    (void)send_packet(to, &ready, sizeof ready, {});
  }
  // What the acceptor says of it.
  ChannelResult present() { return present(&hello, sizeof hello, {region.fd.get(), sleep.fd.get()}); }
  ChannelResult present(const void* bytes, std::size_t size, const std::vector<int>& descriptors) {
    SocketPair sockets;
    say_all(sockets.near, bytes, size, descriptors);
    auto result = Channel::accept_over(std::move(sockets.far), {}, soon());
    answer = receive_packet(sockets.near, soon());
    return result;
  }

  // What it heard in turn.
  std::string refusal() const {
    if (!*answer) return answer->error().text;
    const auto heard = as_hello(**answer);
    return heard ? "no refusal" : heard.error().text;
  }

  std::optional<Expected<Packet, SetupFault>> answer;
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator begin("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

std::size_t channel_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find("corelane-channel") != std::string::npos ? 1 : 0;
  return count;
}

}  // namespace

// ---- Addresses

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
    CHECK(second.error().text.find("another server listens") != std::string::npos);
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

TEST_CASE("who says nothing is given up at the deadline, and so is a listener to whom nobody comes") {
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

TEST_CASE("who connects and says nothing holds up nobody") {
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

// A server with few descriptors: ends with 0 once somebody has a channel.
[[noreturn]] void serve_with_descriptors(const std::string& path, rlim_t more) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto listener = Listener::listen(path, {.handshake = std::chrono::hours{1}});
  const int lowest = dup(0);
  rlimit few{};
  if (!listener || lowest < 0 || close(lowest) != 0 || getrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
  few.rlim_cur = static_cast<rlim_t>(lowest) + more;
  if (setrlimit(RLIMIT_NOFILE, &few) != 0) _exit(1);
  while (true)  // bound: the deadline
    if (const auto end = listener->accept(soon()); end || end.error().text.find("nobody connected") == 0)
      _exit(end ? 0 : 2);
}

// To who may not listen yet.
os::Fd patient_socket(const std::string& path) {
  const Time until = soon();
  auto socket = connect_socket(path, until);
  for (; !socket && os::now() < until; socket = connect_socket(path, until)) std::this_thread::yield();
  REQUIRE(socket);
  return std::move(*socket);
}

}  // namespace

TEST_CASE("silent clients that took all descriptors and went away keep nobody out") {
  const TempDirectory directory;
  const std::string path = directory / "channel";
  const pid_t server = fork();
  if (server == 0) serve_with_descriptors(path, 12);
  std::vector<os::Fd> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(patient_socket(path));
  REQUIRE(wait_readable(silent.back().get(), soon()));  // told: there are none left
  const auto told = receive_packet(silent.back(), soon());
  REQUIRE(told);
  CHECK(as_hello(*told).error().text.find("no descriptor is left") != std::string::npos);
  silent.clear();
  const Time until = soon();
  ChannelResult client = Channel::connect(path, {}, until);
  while (!client && os::now() < until) client = Channel::connect(path, {}, until);  // it may not have noticed yet
  CHECK(client);
  if (!client) kill(server, SIGKILL);
  int status = 0;
  REQUIRE(waitpid(server, &status, 0) == server);
  CHECK(status == 0);
}

TEST_CASE("whom the greeter turns away is told why, whatever he says") {
  const TempDirectory directory;
  const Greeter greeter = [](const Peer& peer, const os::Fd& socket) -> Expected<void, SetupFault> {
    CHECK(peer.process == getpid());
    CHECK(socket);
    return SetupFault{Kind::denied, "not today"};
  };
  auto listener = Listener::listen(directory / "channel", {.greeter = greeter});
  REQUIRE(listener);
  auto client = std::async(std::launch::async, [&] { return Channel::connect(directory / "channel", {}, soon()); });
  CHECK(listener->accept(soon()).error().text == "not today");
  CHECK(says(client.get(), "the other end refused: not today"));
}

namespace {

// As another user, whom nothing of the parent's but the path is needed for; -1: this is not root.
template <typename Body>
pid_t fork_stranger(uid_t user, Body&& body) {
  if (geteuid() != 0) {
    std::cout << "SKIPPED: another user's process needs root\n";
    return -1;
  }
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  _exit(setgid(user) == 0 && setuid(user) == 0 ? body() : 1);
}

int exit_code(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("however many say nothing the next one is served, and it is said whose they are") {
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
  for (; !end; end = listener->accept(soon())) {  // bound: all of the silent
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
  const auto socket = connect_socket(path, soon());  // the oldest
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

TEST_CASE("who is not on the access list is told and turned away before he says anything") {
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

TEST_CASE("in a user namespace that maps nobody no user is the own one") {
  const pid_t child = fork();
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

TEST_CASE("who was given up while he got ready has no channel and is told why") {
  SocketPair sockets;
  auto asked =
      std::async(std::launch::async, [&] { return Channel::connect_over(std::move(sockets.near), {}, soon()); });
  Acceptance acceptance(std::move(sockets.far));
  REQUIRE(wait_readable(acceptance.descriptor(), soon()));
  REQUIRE_FALSE(acceptance.advance({}));
  acceptance.give_up();
  const auto result = asked.get();
  CHECK(says(result, "the other end refused: the other end did not answer in time"));
}

TEST_CASE("what came before its listener looked is served, however late that is") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {.handshake = Duration::zero()});
  REQUIRE(listener);
  RawPeer peer;
  const auto socket = connect_socket(directory / "channel", soon());
  REQUIRE(socket);
  peer.say_all(*socket);
  CHECK(listener->accept(soon()));
}

TEST_CASE("an acceptor confirms to who knows that, and to nobody else") {
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

TEST_CASE("a connector does not wait for the confirmation of who knows none") {
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

TEST_CASE("a listener that is stopped ends its accept, and nobody connects any more") {
  const TempDirectory directory;
  auto listener = Listener::listen(directory / "channel", {});
  REQUIRE(listener);
  auto acceptor = std::async(std::launch::async, [&] { return listener->accept(soon()); });
  listener->stop();
  CHECK(acceptor.get().error().kind == Kind::stopped);
  CHECK(listener->accept(soon()).error().kind == Kind::stopped);
  CHECK_FALSE(Channel::connect(directory / "channel", {}, soon()));
}

TEST_CASE("a signal is no deadline to whoever accepts") {
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
    while (there) std::this_thread::yield();  // as long as signals come
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

// ---- What does not fit

TEST_CASE("options out of range are refused before anything is made") {
  const auto bad = GENERATE(Options{.shape = {.slots = 63}}, Options{.shape = {.slots = 96}},
                            Options{.shape = {.slots = 1u << 21}}, Options{.shape = {.chunks = 1025}},
                            Options{.shape = {.chunk_size = 100}}, Options{.shape = {.chunk_size = 0}},
                            Options{.wake = Wake::signal}, Options{.wake = Wake::signal, .signal = SIGKILL},
                            Options{.wake = Wake::signal, .signal = 50});  // neither blocked nor handled
  SocketPair sockets;
  const auto result = Channel::connect_over(std::move(sockets.near), bad, soon());
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Kind::bad_option);
}

TEST_CASE("an end whose memory is larger than the other maps is refused on both sides") {
  const auto [near, far] = shake_hands({}, {.largest_peer = 1 << 20});
  CHECK(says(near, "the other end refused: "));
  CHECK(says(near, "largest_peer"));
  CHECK(says(far, "largest_peer"));
}

TEST_CASE("versions that do not meet and features that are missing are named on both sides") {
  const std::pair<void (*)(Hello&), std::string> cases[] = {
      {[](Hello& h) { h.lowest_version = h.highest_version = abi_version + 1; }, "no common version"},
      {[](Hello& h) { h.lowest_version = h.highest_version = 0; }, "no common version"},
      {[](Hello& h) { h.required = 0x100; }, "features that the other lacks: 0x100"},
      {[](Hello& h) { h.wake = 4; }, "woken in a way unknown here"},
      {[](Hello& h) { h.wake = 3, h.signal = SIGUSR1, h.process = 1; }, "another namespace of processes"},
      {[](Hello& h) { h.wake = 3, h.signal = SIGKILL, h.process = getpid(); }, "is not one to wake by"},
  };
  const auto& [change, words] = cases[GENERATE(range(0, 6))];
  RawPeer peer;
  change(peer.hello);
  const auto result = peer.present();
  CHECK(says(result, words));
  CHECK(peer.refusal().find(words) != std::string::npos);
}

TEST_CASE("a peer of a later version that still speaks this one is welcome") {
  RawPeer peer;
  peer.hello.highest_version = abi_version + 5;
  peer.hello.offered |= 0xff00;
  peer.hello.spares[0] = 1;
  CHECK(peer.present());
}

TEST_CASE("without the feature loans all messages go inline") {
  RawPeer peer;
  peer.hello.offered = 0;
  auto end = peer.present();
  REQUIRE(end);
  CHECK(end->longest_message() == end->inline_limit());
}

TEST_CASE("only those on the access list are welcome") {
  if (geteuid() != 0) {
    std::cout << "SKIPPED: another user's process needs root\n";
    return;
  }
  constexpr uid_t stranger = 12345;
  const auto [access, welcome] = GENERATE(table<Access, bool>({{Access{}, false},
                                                               {Access{.users = {1, stranger}}, true},
                                                               {Access{.groups = {stranger}}, true},
                                                               {Access{.users = {1}, .groups = {1}}, false},
                                                               {Access{.anyone = true}, true}}));
  const TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  auto listener = Listener::listen(directory / "channel", {.access = {.anyone = true}});
  REQUIRE(listener);
  const pid_t child = fork();
  if (child == 0) {  // only system calls and the library: nothing of the parent's other threads is needed
    if (setgid(stranger) != 0 || setuid(stranger) != 0) _exit(1);
    const auto end = Channel::connect(directory / "channel", {.access = {.anyone = true}}, soon());
    _exit(!end && end.error().text.find("access list") != std::string::npos ? 2 : end ? 3 : 4);
  }
  auto socket = listener->accept_socket(soon());
  REQUIRE(socket);
  const auto end = Channel::accept_over(std::move(*socket), {.access = access}, soon());
  CHECK(bool(end) == welcome);
  if (!end) CHECK(end.error().kind == Kind::denied);
  if (end) CHECK(end->peer().user == stranger);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == (welcome ? 3 : 2));
}

TEST_CASE("whom the porter turns away is told why before he has a channel") {
  const Porter porter = [](const Peer&) { return SetupFault{Kind::denied, "no room today"}; };
  const auto [asked, answered] = shake_hands({}, {.porter = porter});
  CHECK(asked.error().kind == Kind::refused);
  CHECK(says(asked, "no room today"));
  CHECK(answered.error().kind == Kind::denied);
}

TEST_CASE("what the porter gives comes with the channel, or goes with whoever does not take it") {
  std::weak_ptr<void> given;
  const Porter porter = [&](const Peer& peer) -> Expected<std::shared_ptr<void>, SetupFault> {
    CHECK(peer.process == getpid());
    const auto pass = std::make_shared<int>(7);
    given = pass;
    return std::shared_ptr<void>(pass);
  };
  {
    const ChannelPair pair({}, {.porter = porter});
    CHECK(*std::static_pointer_cast<int>(pair.far.pass()) == 7);
    CHECK_FALSE(pair.near.pass());
  }
  CHECK(given.expired());
  // An own limit that the answer exceeds: he is asked, answered, and says no.
  const auto [asked, answered] = shake_hands({.largest_peer = 4096}, {.porter = porter});
  CHECK_FALSE(asked);
  CHECK_FALSE(answered);
  CHECK(given.expired());
}

// ---- What no correct end sends

TEST_CASE("packets that are no hello are refused") {
  RawPeer peer;
  std::string bytes(sizeof(Hello), '\0');
  std::memcpy(bytes.data(), &peer.hello, sizeof(Hello));
  const auto [at, value, words] = GENERATE(table<std::size_t, int, std::string>({
      {0, 'x', "does not speak this protocol"},
      {8, 2, "out of turn"},
      {8, 77, "out of turn"},
      {52, 65, "impossible size"},  // slots
      {58, 1, "impossible size"},   // chunks
      {60, 1, "impossible size"},   // chunk_size
      {72, 1, "other descriptors than it said"},
      {72, 200, "other descriptors than it said"},
  }));
  bytes[at] = static_cast<char>(value);
  CHECK(says(peer.present(bytes.data(), bytes.size(), {peer.region.fd.get(), peer.sleep.fd.get()}), words));
}

TEST_CASE("packets of other sizes are refused") {
  RawPeer peer;
  const std::size_t size = GENERATE(1u, 15u, 16u, 111u, 113u, 256u, 257u, 5000u);
  std::string bytes(size, '\0');
  std::memcpy(bytes.data(), &peer.hello, std::min(size, sizeof(Hello)));
  const auto result = peer.present(bytes.data(), bytes.size(), {peer.region.fd.get(), peer.sleep.fd.get()});
  REQUIRE_FALSE(result);
  CHECK(result.error().kind == Kind::bad_peer);
}

TEST_CASE("descriptors that are no sealed, allocated memory of the announced size are refused") {
  RawPeer peer;
  const std::size_t size = peer.region.mapping.size();
  const auto unsealed = [&](int seals, std::size_t bytes, bool allocated) {
    const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    REQUIRE(ftruncate(fd, static_cast<off_t>(bytes)) == 0);
    if (allocated) REQUIRE(fallocate(fd, 0, 0, static_cast<off_t>(bytes)) == 0);
    REQUIRE(fcntl(fd, F_ADD_SEALS, seals) == 0);
    return os::Fd(fd);
  };
  const int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL | 0x10;
  const std::pair<std::function<os::Fd()>, std::string> cases[] = {
      {[] { return os::Fd(open("/dev/null", O_RDWR)); }, "is not sealed"},
      {[] { return os::Fd(open("/proc/self/exe", O_RDONLY)); }, "is not a memfd"},
      {[=] { return unsealed(0, size, true); }, "is not sealed"},
      {[=] { return unsealed(all & ~F_SEAL_SHRINK, size, true); }, "is not sealed"},
      {[=] { return unsealed(all & ~0x10, size, true); }, "is not sealed"},
      {[=] { return unsealed(all, size - 4096, true); }, "has not the size"},
      {[=] { return unsealed(all, size + 4096, true); }, "has not the size"},
      {[=] { return unsealed(all, size, false); }, "is not allocated"},
  };
  const auto& [make, words] = cases[GENERATE(range(0, 8))];
  const os::Fd bad = make();
  CHECK(says(peer.present(&peer.hello, sizeof(Hello), {bad.get(), peer.sleep.fd.get()}), words));
}

TEST_CASE("a sleep page that is none is refused") {
  RawPeer peer;
  CHECK(
      says(peer.present(&peer.hello, sizeof(Hello), {peer.region.fd.get(), peer.region.fd.get()}), "has not the size"));
  const os::Fd null(open("/dev/null", O_RDWR));
  CHECK(says(peer.present(&peer.hello, sizeof(Hello), {peer.region.fd.get(), null.get()}), "is not sealed"));
}

TEST_CASE("too few and too many descriptors are refused and none leaks") {
  RawPeer peer;
  const int fd = peer.region.fd.get();
  const auto descriptors =
      GENERATE_COPY(std::vector<int>{fd}, std::vector<int>(3, fd), std::vector<int>(4, fd), std::vector<int>{});
  const std::size_t before = open_descriptors();
  peer.hello.descriptors = static_cast<std::uint32_t>(descriptors.size());
  CHECK_FALSE(peer.present(&peer.hello, sizeof(Hello), descriptors));
  peer.answer.reset();
  CHECK(open_descriptors() == before);
}

TEST_CASE("an event that could raise SIGPIPE or block is refused") {
  int ends[2], blocking[2];
  REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(pipe2(blocking, O_CLOEXEC) == 0);
  const os::Fd reader(ends[0]), writer(ends[1]), blocking_reader(blocking[0]), blocking_writer(blocking[1]);
  const os::Fd good(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), blocks(eventfd(0, EFD_CLOEXEC));
  const SocketPair sockets;
  const bool as_room = GENERATE(false, true);
  for (const int bad : {writer.get(), blocking_writer.get(), blocks.get(), sockets.near.get()}) {
    RawPeer peer;
    peer.hello.wake = static_cast<std::uint32_t>(Wake::eventfd);
    peer.hello.descriptors = 4;
    const int record = as_room ? good.get() : bad, room = as_room ? bad : good.get();
    const auto result =
        peer.present(&peer.hello, sizeof peer.hello, {peer.region.fd.get(), peer.sleep.fd.get(), record, room});
    CHECK(says(result, "the other end's event is neither an eventfd nor a pipe opened for reading and writing"));
    CHECK(peer.refusal().find("EFD_NONBLOCK") != std::string::npos);
  }
}

TEST_CASE("a full event that blocks by now holds up nobody who rings it") {
  const os::Fd event(eventfd(0, EFD_CLOEXEC));
  const std::uint64_t most = ~std::uint64_t{1};
  REQUIRE(write(event.get(), &most, sizeof most) == sizeof most);
  std::uint32_t word = 1;  // somebody sleeps
  Ringer(word, {.kind = Wake::eventfd, .event = event.get()}).ring();
  CHECK(word == 0);
}

TEST_CASE("a hang-up in the middle of the handshake is told") {
  SocketPair sockets;
  sockets.near.reset();
  CHECK(says(Channel::accept_over(std::move(sockets.far), {}, soon()), "hung up"));
}

TEST_CASE("control characters in a refusal do not reach the log") {
  SocketPair sockets;
  send_refusal(sockets.far, "\x1b[31mred\n");
  CHECK(says(Channel::connect_over(std::move(sockets.near), {}, soon()), "refused: ?[31mred?"));
}

TEST_CASE("channels leave neither descriptors nor mappings behind") {
  const std::size_t descriptors = open_descriptors(), mappings = channel_mappings();
  for (int i = 0; i < 10; ++i) {
    ChannelPair ends({.wake = Wake::eventfd});
    CHECK(channel_mappings() == mappings + 6);
    REQUIRE(ends.near.try_write(as_bytes(filled(100'000))));
    REQUIRE(ends.far.peek());
    const auto loan = ends.far.take();
  }
  CHECK(open_descriptors() == descriptors);
  CHECK(channel_mappings() == mappings);
}
