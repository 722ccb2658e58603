// Tests which two ends do not fit together, and which peers are admitted.
#include "orb/channel/ends/setup.h"

#include <filesystem>

#include "orb/channel/listener.h"
#include "tests/orb/channel/raw_peer.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/system/temp_directory.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;
using Kind = SetupFault::Kind;

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
  const TempDirectory directory;
  const auto listener = Listener::listen(directory / "channel", bad);
  REQUIRE_FALSE(listener);
  CHECK(listener.error().kind == Kind::bad_option);
  CHECK(directory.entries() == 0);
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
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {  // the child uses only system calls and the library, and nothing of the parent's other threads
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

TEST_CASE("a client that is rejected after its hello is told why and gets no channel") {
  const AdmitAfterHello admit = [](const Peer&, const auto&) { return SetupFault{Kind::denied, "no room today"}; };
  const auto [asked, answered] = shake_hands({}, {.admit_after_hello = admit});
  CHECK(asked.error().kind == Kind::refused);
  CHECK(says(asked, "no room today"));
  CHECK(answered.error().kind == Kind::denied);
}

TEST_CASE("what admit_after_hello returns comes with the channel, or is released if the channel is not taken") {
  std::weak_ptr<void> given;
  const AdmitAfterHello admit = [&](const Peer& peer, const auto&) -> Expected<std::shared_ptr<void>, SetupFault> {
    CHECK(peer.process == getpid());
    const auto pass = std::make_shared<int>(7);
    given = pass;
    return std::shared_ptr<void>(pass);
  };
  {
    const ChannelPair pair({}, {.admit_after_hello = admit});
    CHECK(*std::static_pointer_cast<int>(pair.far.attachment()) == 7);
    CHECK_FALSE(pair.near.attachment());
  }
  CHECK(given.expired());
  // The answer exceeds the connector's own limit. The acceptor admits it and answers, and the connector refuses.
  const auto [asked, answered] = shake_hands({.largest_peer = 4096}, {.admit_after_hello = admit});
  CHECK_FALSE(asked);
  CHECK_FALSE(answered);
  CHECK(given.expired());
}
