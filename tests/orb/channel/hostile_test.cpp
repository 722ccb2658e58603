// A peer that writes whatever it likes into every word that it can write: it spoils its own channel and nothing else.
#include <sys/socket.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "orb/channel/setup.h"
#include "tests/support/forked_peer.h"
#include "tests/support/scribble.h"

namespace hostile_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

const Shape small{.slots = 64, .chunks = 4, .chunk_size = 4096};

// A victim, and the memory of the other end in the hands of somebody else.
struct Attack {
  std::optional<Channel> victim;
  EndParts hostile;

  explicit Attack(const Options& options) {
    SocketPair sockets;
    auto accepted =
        std::async(std::launch::async, [&] { return Channel::accept_over(std::move(sockets.far), options, soon()); });
    auto parts = connect_end(std::move(sockets.near), {.shape = small, .wake = Wake::spin}, soon());
    if (!parts) throw std::runtime_error(parts.error().text);
    hostile = std::move(*parts);
    victim = expect(accepted.get());
  }
};

void scribble(Random& random, const EndParts& hostile) {
  const Mapping& memory = random() % 8 == 0 ? hostile.sleep : hostile.own;
  const Garbage garbage = garbage_for(random, memory.size());
  auto& word = *reinterpret_cast<std::uint64_t*>(memory.at(garbage.offset));
  SharedWord(word).store(garbage.word, std::memory_order_relaxed);  // relaxed: garbage
}

// Reads all of it: whatever is handed out has to be there.
std::uint32_t sum_of(Bytes bytes) {
  std::uint32_t sum = 0;
  for (const std::byte b : bytes) sum += static_cast<std::uint32_t>(b);
  return sum;
}

class Victim {
 public:
  explicit Victim(Channel& end) : end_(&end) {}

  void act(Random& random) {
    switch (random() % 8) {
      case 0:
        return check(end_->try_read(buffer_));
      case 1:
        return check(end_->try_write(Bytes(buffer_).first(random() % 5000)));
      case 2:
        return check(end_->wait(at_once));
      case 3:
        return borrow();
      case 4:
        if (!loans_.empty()) loans_.erase(loans_.begin());
        return;
      case 5:
        return draft(random() % 20'000);
      case 6:
        return check(end_->write(Bytes(buffer_).first(40), at_once));
      default:
        return look();
    }
  }
  std::uint32_t sum() const { return sum_; }

 private:
  template <typename T>
  void check(const Expected<T, Fault>& result) {
    if (!result) REQUIRE(static_cast<int>(result.error()) <= static_cast<int>(Fault::spoiled));
  }
  void look() {
    const auto front = end_->peek();
    if (front) sum_ += sum_of(*front);
    if (front) REQUIRE(front->size() <= small.chunks * small.chunk_size);
    end_->pop();
  }
  void borrow() {
    if (!end_->peek()) return;
    if (auto loan = end_->take()) loans_.push_back(std::move(*loan)), sum_ += sum_of(loans_.back().bytes());
    if (loans_.size() > 10) loans_.clear();
  }
  void draft(std::size_t size) {
    auto made = end_->draft(size);
    if (made) std::memset(made->bytes().data(), 1, made->bytes().size()), check(end_->try_send(*made, size / 2));
  }

  Channel* end_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(small.chunks * small.chunk_size);
  std::vector<Loan> loans_;
  std::uint32_t sum_ = 0;
};

}  // namespace

TEST_CASE("scribbling over every shared word spoils that channel and no other") {
  Random random(20261122);
  ChannelPair healthy({.shape = small});
  int spoiled = 0;
  for (int round = 0; round < 300; ++round) {
    Attack attack({.shape = small, .wake = round % 2 == 0 ? Wake::spin : Wake::futex});
    Victim victim(*attack.victim);
    for (int step = 0; step < 400 && attack.victim->is_open(); ++step) {
      for (std::uint64_t n = random() % 4; n != 0; --n) scribble(random, attack.hostile);
      victim.act(random);
    }
    const auto last = attack.victim->try_write(Bytes{});
    spoiled += !last && last.error() == Fault::spoiled ? 1 : 0;
    REQUIRE(healthy.near.try_write(as_bytes(filled(100))));
    REQUIRE(read(healthy.far) == filled(100));
  }
  CHECK(spoiled > 50);  // most others were never looked at in the wrong place
}

TEST_CASE("a process that scribbles while its victim works is survived") {
  const Holdings before;
  for (unsigned round = 0; round < 10; ++round) {
    SocketPair sockets;
    const pid_t child = fork();
    if (child == 0) {
      sockets.near.reset();
      auto parts = connect_end(std::move(sockets.far), {.shape = small, .wake = Wake::spin}, soon());
      Random random(round);
      while (parts && !parts->watch.is_gone())
        for (int i = 0; i < 1000; ++i) scribble(random, *parts);
      _exit(0);
    }
    sockets.far.reset();
    auto end = Channel::accept_over(std::move(sockets.near), {.shape = small, .wake = Wake::spin}, soon());
    REQUIRE(end);
    Random random(round + 1);
    Victim victim(*end);
    for (int step = 0; step < 20'000 && end->is_open(); ++step) victim.act(random);
    end->close();
    REQUIRE(end_of(child) == 0);
  }
  CHECK(Holdings() == before);
}

TEST_CASE("a loan of chunks that do not exist spoils the channel") {
  const auto [first, length] = GENERATE(table<std::uint64_t, std::uint64_t>({{4, 1},
                                                                             {~std::uint64_t{0}, 1},
                                                                             {0, 4 * 4096 + 1},
                                                                             {3, 4097},
                                                                             {1, ~std::uint64_t{0}},
                                                                             {std::uint64_t{1} << 32, 0}}));
  Attack attack({.shape = small});
  auto& slot = *reinterpret_cast<Slot*>(attack.hostile.own.at(slots_offset()));
  const LoanNote note{first, length};
  std::memcpy(slot.payload, &note, sizeof note);
  slot.kind = static_cast<std::uint64_t>(RecordKind::loan);
  SharedWord(slot.commit).store(std::uint64_t{1} << 32 | sizeof note, std::memory_order_release);
  CHECK(attack.victim->peek().error() == Fault::spoiled);
  CHECK(attack.victim->peek().error() == Fault::spoiled);
  CHECK(attack.victim->try_write(Bytes{}).error() == Fault::spoiled);
}

TEST_CASE("sleep words that are scribbled over delay a reader and do not hold it") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  auto& page = *reinterpret_cast<SleepPage*>(attack.hostile.sleep.at(0));
  auto reader = std::async(std::launch::async, [&] { return read(*attack.victim); });
  // Until the reader sleeps; then its word is wiped, and nobody will wake it for the message.
  while (SharedWord(page.ends[1].record.sleeper).exchange(0, std::memory_order_acq_rel) == 0) continue;
  auto& slot = *reinterpret_cast<Slot*>(attack.hostile.own.at(slots_offset()));
  slot.kind = static_cast<std::uint64_t>(RecordKind::message);
  SharedWord(slot.commit).store(std::uint64_t{1} << 32, std::memory_order_release);
  CHECK(reader.get().empty());
}

// ---- Sleeping far

namespace {

// A reader that sleeps at the socket by now.
std::future<std::string> far_sleeper(Attack& attack) {
  auto reader = std::async(std::launch::async, [&] { return read(*attack.victim); });
  auto& word = reinterpret_cast<SleepPage*>(attack.hostile.sleep.at(0))->ends[1].record.sleeper;
  while ((load_shared(word, std::memory_order_acquire) & far_bit) == 0) std::this_thread::yield();
  return reader;
}

}  // namespace

TEST_CASE("a reader that has slept for long is woken at the socket") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  auto reader = far_sleeper(attack);
  auto& slot = *reinterpret_cast<Slot*>(attack.hostile.own.at(slots_offset()));
  slot.kind = static_cast<std::uint64_t>(RecordKind::message);
  SharedWord(slot.commit).store(std::uint64_t{1} << 32, std::memory_order_release);
  auto& word = reinterpret_cast<SleepPage*>(attack.hostile.sleep.at(0))->ends[1].record.sleeper;
  Ringer(word, {.kind = Wake::futex, .socket = attack.hostile.watch.socket()}).ring();
  CHECK(reader.get().empty());
}

TEST_CASE("a reader that has slept for long is told of its peer's end, and of its own") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  auto reader = far_sleeper(attack);
  const bool own = GENERATE(false, true);
  if (own)
    attack.victim->close();
  else
    shutdown(attack.hostile.watch.socket(), SHUT_RDWR);
  CHECK(reader.get() == ended(own ? Fault::closed_here : Fault::peer_died));
}

TEST_CASE("packets on the socket that nobody asked for change nothing") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  const std::string junk(200, 'x');
  while (send(attack.hostile.watch.socket(), junk.data(), junk.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  auto reader = far_sleeper(attack);
  CHECK(attack.victim->look_at_peer());
  shutdown(attack.hostile.watch.socket(), SHUT_RDWR);
  CHECK(reader.get() == ended(Fault::peer_died));
}

}  // namespace hostile_test
