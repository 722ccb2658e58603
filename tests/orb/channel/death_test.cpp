// Tests that either end may be killed at any moment. The other end reads what was complete, learns of the death, and
// continues with others. CORELANE_KILLS sets how many are killed (40).
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "orb/channel/ends/setup.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/peers/forked_peer.h"
#include "tests/support/system/from_environment.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

std::uint64_t kills() { return from_environment("CORELANE_KILLS", 40); }

const Shape small{.slots = 64, .chunks = 4, .chunk_size = 8192};

// An acceptor that inherited its listener gets no signals, because it is not the process that the kernel names.
Options way(unsigned long number, ChildIs role) {
  constexpr Wake wakes[] = {Wake::futex, Wake::signal, Wake::eventfd, Wake::spin};
  constexpr os::WaitMode modes[] = {os::WaitMode::park, os::WaitMode::adaptive};
  Wake wake = wakes[number % 4];
  if (wake == Wake::signal && role == ChildIs::acceptor) wake = Wake::futex;
  return {
      .shape = small, .wake = wake, .signal = SIGUSR1, .wait = {modes[number / 4 % 2], std::chrono::microseconds{50}}};
}

// Prints the result of a long run; see docs/testing.md.
void say(std::string_view what, const Holdings& before) {
  if (std::getenv("CORELANE_KILLS") == nullptr) return;
  const Holdings after;
  std::cout << what << ": " << kills() << " killed; leaks: " << after.descriptors - before.descriptors
            << " descriptors, " << after.mappings - before.mappings << " mappings of channels\n";
}

// The head of a message: its number, and how many of the peer's messages its sender had read. The rest of the message
// is filled with its number.
struct Head {
  std::uint32_t number = 0, read = 0;
};

std::size_t size_of_message(std::uint32_t number) {
  constexpr std::size_t sizes[] = {8, 40, 48, 200, 9, 1500, 30, 6000, 12, 20'000};
  return sizes[number % 10];
}

// One end of a conversation in which both ends write as fast as they can.
class Talker {
 public:
  explicit Talker(Channel& end) : end_(&end) {}

  // Writes and reads until the channel ends, or until `most` messages came. Returns whether everything was right.
  bool talk(std::uint32_t most = ~0u) {
    while (heard_ < most && !over_) {
      const bool said = say();
      if (!hear() && !said) over_ = !end_->wait(soon());
    }
    return right_;
  }
  // Reads what still comes from a dead peer. Returns how that ends.
  Fault drain() {
    while (hear() || end_->wait(soon())) continue;
    return end_->peek().error();
  }
  std::uint32_t heard() const { return heard_; }
  bool right() const { return right_; }
  // Returns whether everything that the peer said it had read is also claimed.
  bool claims_agree() const { return acknowledged_ == 0 || end_->was_claimed(positions_[acknowledged_ - 1]); }

 private:
  bool say() {
    const Head head{said_, heard_};
    std::memcpy(buffer_.data(), &head, sizeof head);
    const std::size_t size = size_of_message(said_);
    std::memset(buffer_.data() + sizeof head, static_cast<int>(said_ & 0xff), size - sizeof head);
    if (!end_->try_write(Bytes(buffer_).first(size))) return false;
    ++said_;
    positions_.push_back(end_->written());
    return true;
  }

  bool hear() {
    const auto front = end_->peek();
    if (!front) return false;
    Head head;
    right_ = right_ && front->size() == size_of_message(heard_);
    if (!right_) return false;
    std::memcpy(&head, front->data(), sizeof head);
    right_ = head.number == heard_ && head.read >= acknowledged_ && head.read <= said_ && is_filled(front->subspan(8));
    acknowledged_ = head.read;
    ++heard_;
    if (const auto loan = heard_ % 3 == 0 ? end_->take() : std::nullopt; !loan) end_->pop();
    return right_;
  }
  bool is_filled(Bytes bytes) const {
    return std::all_of(bytes.begin(), bytes.end(), [&](std::byte b) { return b == std::byte(heard_ & 0xff); });
  }

  Channel* end_;
  std::array<std::byte, 20'000> buffer_{};
  std::uint32_t said_ = 0, heard_ = 0, acknowledged_ = 0;
  std::vector<std::uint64_t> positions_;
  bool right_ = true, over_ = false;
};

// Kills the child after it has sent `most` messages, and checks what is left.
void kill_one(unsigned long number, unsigned long messages) {
  const auto most = static_cast<std::uint32_t>(messages);
  const ChildIs role = number % 2 == 0 ? ChildIs::connector : ChildIs::acceptor;
  Meeting meeting(way(number / 2, role));
  const pid_t child = meeting.fork_child(role, [](Channel& end) { return Talker(end).talk() ? 0 : 1; });
  Channel end = expect(meeting.meet_child(role));
  const auto talker = std::make_unique<Talker>(end);
  REQUIRE(talker->talk(most));
  REQUIRE(kill(child, SIGKILL) == 0);
  const Fault fault = talker->drain();
  INFO("kill " << number << " after " << most << ", heard " << talker->heard());
  REQUIRE(talker->right());
  REQUIRE(fault == Fault::peer_died);
  REQUIRE(talker->claims_agree());
  REQUIRE(end.try_write(as_bytes("x")).error() == Fault::peer_died);
  REQUIRE(end_of(child) == -SIGKILL);
}

ChannelResult set_up(bool connects, os::Fd socket) {
  return connects ? Channel::connect_over(std::move(socket), {.shape = small}, soon())
                  : Channel::accept_over(std::move(socket), {.shape = small}, soon());
}

}  // namespace

TEST_CASE("an end that is killed while both talk loses no whole message, and nothing hangs or leaks") {
  signal(SIGUSR1, [](int) {});  // handles the signal of both ends with Wake::signal
  std::mt19937 random(static_cast<unsigned>(getpid()));
  const Holdings before;
  for (std::uint64_t i = 0; i < kills(); ++i) kill_one(random() & 0xff, random() % (i % 4 == 0 ? 3 : 300));
  say("ends that talk", before);
  CHECK(Holdings() == before);
}

TEST_CASE("an end that dies while the channel is set up is a fault or a death and never a hang") {
  std::mt19937 random(static_cast<unsigned>(getpid()));
  const Holdings before;
  for (std::uint64_t i = 0; i < kills(); ++i) {
    const bool connects = i % 2 == 0;
    SocketPair sockets;
    const auto delay = static_cast<suseconds_t>(1 + random() % 600);
    INFO("dies after " << delay << " us");
    const pid_t child = corelane::testing::fork_alone();
    if (child == 0) {
      sockets.near.reset();
      const itimerval soon_dead{.it_interval = {}, .it_value = {0, delay}};
      setitimer(ITIMER_REAL, &soon_dead, nullptr);  // SIGALRM ends the process by default
      const auto end = set_up(connects, std::move(sockets.far));
      while (true) pause();
    }
    sockets.far.reset();
    if (auto end = set_up(!connects, std::move(sockets.near))) CHECK(read(*end) == ended(Fault::peer_died));
    REQUIRE(end_of(child) == -SIGALRM);
  }
  say("ends that set a channel up", before);
  CHECK(Holdings() == before);
}

// ---- One end sleeps far

namespace {

const Options park_far{.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}};

// Waits until the end of that side sleeps at the socket, for a record.
void await_far_sleeper(const EndParts& parts, Side side) {
  auto& end = reinterpret_cast<SleepPage*>(parts.sleep.at(0))->ends[static_cast<std::size_t>(side)];
  while ((load_shared(end.record.sleeper, std::memory_order_acquire) & far_bit) == 0) std::this_thread::yield();
}

}  // namespace

TEST_CASE("an end that is killed while it sleeps far leaves a name without an owner, and nothing hangs") {
  const Holdings before;
  {
    SocketPair sockets;
    const pid_t child = corelane::testing::fork_alone();
    if (child == 0) {
      sockets.near.reset();
      auto end = Channel::connect_over(std::move(sockets.far), park_far, soon());
      _exit(end && end->wait(soon()) ? 0 : 1);
    }
    sockets.far.reset();
    auto parts = accept_end(std::move(sockets.near), park_far, soon());
    REQUIRE(parts);
    await_far_sleeper(*parts, Side::connector);
    REQUIRE(kill(child, SIGKILL) == 0);
    REQUIRE(end_of(child) == -SIGKILL);
    Channel end = expect(Channel::of(std::move(*parts), park_far));
    CHECK(end.try_write(as_bytes("x")));  // its packet wakes no sleeper
    CHECK(read(end) == ended(Fault::peer_died));
    CHECK_FALSE(end.was_claimed(end.written()));
  }
  CHECK(Holdings() == before);
}

TEST_CASE("an end that sleeps far is told that the other was killed") {
  const Holdings before;
  {
    SocketPair sockets;
    const pid_t child = corelane::testing::fork_alone();
    if (child == 0) {
      sockets.near.reset();
      auto parts = connect_end(std::move(sockets.far), park_far, soon());
      if (parts) await_far_sleeper(*parts, Side::acceptor);
      _exit(parts ? kill(getpid(), SIGKILL) : 1);
    }
    sockets.far.reset();
    Channel end = expect(Channel::accept_over(std::move(sockets.near), park_far, soon()));
    CHECK(read(end) == ended(Fault::peer_died));
    CHECK(end_of(child) == -SIGKILL);
  }
  CHECK(Holdings() == before);
}
