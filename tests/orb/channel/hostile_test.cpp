// Tests a peer that writes anything into every word that it can write. It spoils its own channel and nothing else.
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <future>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "orb/channel/ends/setup.h"
#include "tests/support/bytes/scribble.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/peers/forked_peer.h"

namespace hostile_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

const Shape small{.slots = 64, .chunks = 4, .chunk_size = 4096};

// The signal of Wake::signal. A handler keeps it from ending the process.
constexpr int woken_by = 41;
const auto before_handler = signal(woken_by, [](int) {});

// A victim, and the memory of the other end, which an attacker controls.
struct Attack {
  std::optional<Channel> victim;
  EndParts hostile;

  explicit Attack(const Options& options, const Shape& shape = small) {
    SocketPair sockets;
    auto accepted =
        std::async(std::launch::async, [&] { return Channel::accept_over(std::move(sockets.far), options, soon()); });
    auto parts = connect_end(std::move(sockets.near), {.shape = shape, .wake = Wake::spin}, soon());
    if (!parts) throw std::runtime_error(parts.error().text);
    hostile = std::move(*parts);
    victim = expect(accepted.get());
  }

  // Puts a record into the first slot.
  template <typename Note>
  void put(RecordKind kind, const Note& note) {
    auto& slot = *reinterpret_cast<Slot*>(hostile.own.at(slots_offset()));
    std::memcpy(slot.payload, &note, sizeof note);
    slot.kind = static_cast<std::uint64_t>(kind);
    SharedWord(slot.commit).store(std::uint64_t{1} << 32 | sizeof note, std::memory_order_release);
  }
};

// Returns which word of the ABI lies at the offset. It follows the table in docs/channel.md, as a check on
// garbage_at().
Target named_at(bool sleep_page, std::size_t offset) {
  if (sleep_page)
    return offset % 128 == 0 && offset < 512
               ? static_cast<Target>(static_cast<std::size_t>(Target::connector_record) + offset / 128)
               : Target::anything;
  if (offset == 0) return Target::released;
  if (offset == 8) return Target::claimed;
  if (offset == 128) return Target::state;
  if (offset == 256) return Target::written;
  if (offset < 4096) return Target::anything;
  if (offset < 8192) return Target::returned;
  if (offset >= 8192 + 64 * small.slots) return Target::chunk;
  return offset % 64 == 0 ? Target::commit : offset % 64 == 8 ? Target::kind : Target::payload;
}

// Counts how often each word was written.
class Hits {
 public:
  void count(bool sleep_page, std::size_t offset) {
    ++hits_[static_cast<std::size_t>(named_at(sleep_page, offset))];
    ++all_;
  }
  // Checks that the tests aimed at each word. By chance a word would get only one hit in some thousands. The state gets
  // few hits, because each one may end its channel.
  void check_all() const {
    for (std::size_t i = 0; i < static_cast<std::size_t>(Target::anything); ++i) {
      INFO("target " << i << " of " << all_ << " hits");
      CHECK(hits_[i] > all_ / 1000);
    }
  }

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(Target::anything) + 1> hits_{};
  std::uint64_t all_ = 0;
};

// Returns the memory for garbage of that kind. Target::anything may go to either memory.
const Mapping& memory_of(Random& random, const EndParts& hostile, Target target) {
  const bool page = target == Target::anything ? random() % 4 == 0 : is_of_sleep_page(target);
  return page ? hostile.sleep : hostile.own;
}

// Writes garbage, and returns what was there before. That is of interest only in a sleep word, where it may be the name
// of a sleeper.
std::uint64_t scribble_at(Random& random, const EndParts& hostile, Target target, Hits& hits) {
  const Mapping& memory = memory_of(random, hostile, target);
  const Garbage garbage = garbage_at(random, target, memory.size(), small.slots);
  hits.count(&memory == &hostile.sleep, garbage.offset);
  auto& word = *reinterpret_cast<std::uint64_t*>(memory.at(garbage.offset));
  return SharedWord(word).exchange(garbage.word, std::memory_order_relaxed);  // relaxed: garbage
}

void scribble(Random& random, const EndParts& hostile, Hits& hits) {
  const Mapping& memory = memory_of(random, hostile, Target::anything);
  scribble_at(random, hostile, target_in(random, memory.size()), hits);
}

// Reads all bytes, because everything that the channel hands out must be there.
std::uint32_t sum_of(Bytes bytes) {
  std::uint32_t sum = 0;
  for (const std::byte b : bytes) sum += static_cast<std::uint32_t>(b);
  return sum;
}

class Victim {
 public:
  // `patience`: how long each wait may take.
  explicit Victim(Channel& end, Duration patience = {}) : end_(&end), patience_(patience) {}

  void act(Random& random) {
    switch (random() % 8) {
      case 0:
        return check(end_->try_read(buffer_));
      case 1:
        return check(end_->try_write(Bytes(buffer_).first(random() % 5000)));
      case 2:
        return check(end_->wait(deadline()));
      case 3:
        return borrow();
      case 4:
        if (!loans_.empty()) loans_.erase(loans_.begin());
        return;
      case 5:
        return draft(random() % 20'000);
      case 6:
        return check(end_->write(Bytes(buffer_).first(40), deadline()));
      default:
        return look();
    }
  }
  std::uint32_t sum() const { return sum_; }

 private:
  Time deadline() const { return patience_ == Duration{} ? at_once : os::now() + patience_; }
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
    auto made = end_->draft(size, deadline());
    if (made) std::memset(made->bytes().data(), 1, made->bytes().size()), check(end_->try_send(*made, size / 2));
  }

  Channel* end_;
  Duration patience_;
  std::vector<std::byte> buffer_ = std::vector<std::byte>(small.chunks * small.chunk_size);
  std::vector<Loan> loans_;
  std::uint32_t sum_ = 0;
};

}  // namespace

TEST_CASE("scribbling over every shared word spoils that channel and no other") {
  Random random(20261122);
  ChannelPair healthy({.shape = small});
  Hits hits;
  int spoiled = 0;
  for (unsigned round = 0; round < 300; ++round) {
    Attack attack({.shape = small, .wake = round % 2 == 0 ? Wake::spin : Wake::futex});
    Victim victim(*attack.victim);
    // The word that this round is about. Other words are written in between.
    const auto favourite = static_cast<Target>(round % (static_cast<unsigned>(Target::anything) + 1));
    for (int step = 0; step < 400 && attack.victim->is_open(); ++step) {
      for (std::uint64_t n = random() % 4; n != 0; --n)
        if (random() % 16 != 0)
          scribble_at(random, attack.hostile, favourite, hits);
        else
          scribble(random, attack.hostile, hits);
      victim.act(random);
    }
    const auto last = attack.victim->try_write(Bytes{});
    spoiled += !last && last.error() == Fault::spoiled ? 1 : 0;
    REQUIRE(healthy.near.try_write(as_bytes(filled(100))));
    REQUIRE(read(healthy.far) == filled(100));
  }
  CHECK(spoiled > 50);  // most other rounds wrote nothing that the victim found wrong
  hits.check_all();
}

TEST_CASE("a process that scribbles while its victim works is survived") {
  const Holdings before;
  for (unsigned round = 0; round < 12; ++round) {
    const Wake wake = static_cast<Wake>(round % 4);
    SocketPair sockets;
    const pid_t child = corelane::testing::fork_alone();
    if (child == 0) {
      sockets.near.reset();
      auto parts = connect_end(std::move(sockets.far), {.shape = small, .wake = Wake::spin}, soon());
      Random random(round);
      Hits hits;
      while (parts && !parts->watch.is_gone())
        for (int i = 0; i < 1000; ++i) scribble(random, *parts, hits);
      _exit(0);
    }
    sockets.far.reset();
    auto end =
        Channel::accept_over(std::move(sockets.near), {.shape = small, .wake = wake, .signal = woken_by}, soon());
    REQUIRE(end);
    Random random(round + 1);
    Victim victim(*end, std::chrono::microseconds{round < 4 ? 0 : 200});
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
  attack.put(RecordKind::loan, LoanNote{first, length});
  CHECK(attack.victim->peek().error() == Fault::spoiled);
  CHECK(attack.victim->peek().error() == Fault::spoiled);
  CHECK(attack.victim->try_write(Bytes{}).error() == Fault::spoiled);
}

TEST_CASE("whatever a peer says it has written of a growing loan, no more than the loan is there") {
  static constexpr std::uint64_t length = 2 * least_growing, begin = 1000;
  constexpr Shape large{.slots = 64, .chunks = 4, .chunk_size = least_growing};
  const auto [written, ready] = GENERATE(table<std::uint64_t, std::size_t>({{begin, 0},
                                                                            {begin + 5, 5},
                                                                            {begin + length, length},
                                                                            {begin + length + 1, length},
                                                                            {std::uint64_t{1} << 62, length},
                                                                            {begin - 1, 0},
                                                                            {0, 0},
                                                                            {~std::uint64_t{0}, 0}}));
  Attack attack({.shape = small, .largest_peer = std::size_t{1} << 24}, large);
  attack.put(RecordKind::growing, GrowingNote{1, length, begin});
  auto& control = *reinterpret_cast<Control*>(attack.hostile.own.at(0));
  SharedWord(control.written).store(written, std::memory_order_release);
  attack.victim->set_takes_growing(true);
  const auto loan = attack.victim->take();
  REQUIRE(loan);
  CHECK(loan->bytes().size() == length);
  CHECK(loan->ready() == ready);
}

TEST_CASE("a growing loan that a reader got whole stays whole, whatever its peer says then") {
  constexpr Shape large{.slots = 64, .chunks = 4, .chunk_size = least_growing};
  Attack attack({.shape = small, .largest_peer = std::size_t{1} << 24}, large);
  attack.put(RecordKind::growing, GrowingNote{1, least_growing, 0});
  auto& control = *reinterpret_cast<Control*>(attack.hostile.own.at(0));
  SharedWord(control.written).store(std::uint64_t{least_growing}, std::memory_order_release);
  REQUIRE(attack.victim->peek());
  SharedWord(control.written).store(std::uint64_t{0}, std::memory_order_release);
  const auto loan = attack.victim->take();
  REQUIRE(loan);
  CHECK(loan->ready() == least_growing);
  CHECK(*loan->await(least_growing, at_once) == least_growing);
}

TEST_CASE("a growing loan that is too short, or of chunks that do not exist, spoils the channel") {
  constexpr Shape large{.slots = 64, .chunks = 4, .chunk_size = least_growing};
  const auto [first, length] = GENERATE(
      table<std::uint64_t, std::uint64_t>({{0, least_growing - 1}, {4, least_growing}, {3, 2 * least_growing}}));
  Attack attack({.shape = small, .largest_peer = std::size_t{1} << 24}, large);
  attack.put(RecordKind::growing, GrowingNote{first, length, 0});
  CHECK(attack.victim->peek().error() == Fault::spoiled);
}

TEST_CASE("sleep words that are scribbled over delay a reader and do not hold it") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  auto& page = *reinterpret_cast<SleepPage*>(attack.hostile.sleep.at(0));
  auto reader = std::async(std::launch::async, [&] { return read(*attack.victim); });
  // Waits until the reader sleeps. Then its word is wiped, so that no end wakes it for the message.
  while (SharedWord(page.ends[1].record.sleeper).exchange(0, std::memory_order_acq_rel) == 0) continue;
  auto& slot = *reinterpret_cast<Slot*>(attack.hostile.own.at(slots_offset()));
  slot.kind = static_cast<std::uint64_t>(RecordKind::message);
  SharedWord(slot.commit).store(std::uint64_t{1} << 32, std::memory_order_release);
  CHECK(reader.get().empty());
}

// ---- Sleeping far

namespace {

std::uint32_t& reader_word(Attack& attack) {
  return reinterpret_cast<SleepPage*>(attack.hostile.sleep.at(0))->ends[1].record.sleeper;
}

// Starts a reader. Returns when it sleeps at the socket, or with near_bit at its word.
std::future<std::string> sleeper(Attack& attack, std::uint32_t bit = far_bit) {
  auto reader = std::async(std::launch::async, [&] { return read(*attack.victim); });
  while ((load_shared(reader_word(attack), std::memory_order_acquire) & bit) == 0) std::this_thread::yield();
  return reader;
}

void put_message(Attack& attack) {
  auto& slot = *reinterpret_cast<Slot*>(attack.hostile.own.at(slots_offset()));
  slot.kind = static_cast<std::uint64_t>(RecordKind::message);
  SharedWord(slot.commit).store(std::uint64_t{1} << 32, std::memory_order_release);
}

}  // namespace

TEST_CASE("a reader that is woken by a descriptor first sleeps at its word") {
  Attack attack({.shape = small, .wake = Wake::eventfd, .wait = {os::WaitMode::park}});
  auto reader = sleeper(attack, near_bit);
  put_message(attack);
  Ringer(reader_word(attack), {.kind = Wake::futex}).ring();
  CHECK(reader.get().empty());
}

TEST_CASE("a reader that has slept for long is woken at the socket") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  auto reader = sleeper(attack);
  put_message(attack);
  Ringer(reader_word(attack), {.kind = Wake::futex, .socket = attack.hostile.watch.socket()}).ring();
  CHECK(reader.get().empty());
}

TEST_CASE("a reader that has slept for long is told of its peer's end, and of its own") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  auto reader = sleeper(attack);
  const bool own = GENERATE(false, true);
  if (own)
    attack.victim->close();
  else
    shutdown(attack.hostile.watch.socket(), SHUT_RDWR);
  CHECK(reader.get() == ended(own ? Fault::closed_here : Fault::peer_died));
}

TEST_CASE("unexpected packets on the socket change nothing") {
  Attack attack({.shape = small, .wake = Wake::futex, .wait = {os::WaitMode::park}});
  const std::string junk(200, 'x');
  while (send(attack.hostile.watch.socket(), junk.data(), junk.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) continue;
  auto reader = sleeper(attack);
  CHECK(attack.victim->look_at_peer());
  shutdown(attack.hostile.watch.socket(), SHUT_RDWR);
  CHECK(reader.get() == ended(Fault::peer_died));
}

// ---- Writing garbage while the victim sleeps

namespace {

// Writes garbage for a victim that sleeps, and wakes it, until destruction. It writes mostly the victim's sleep words,
// seldom others.
class Tormentor {
 public:
  Tormentor(const EndParts& hostile, unsigned seed)
      : hostile_(&hostile), victim_(name_of_caller(hostile)), random_(seed) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) torment();
    });
  }

  // How often garbage replaced the name of the sleeping victim.
  struct Seen {
    std::uint64_t record = 0, room = 0, far = 0;
  };
  Seen stop() {
    thread_.request_stop();
    thread_.join();
    return seen_;
  }

 private:
  void torment() {
    if (random_() % 20'000 == 0) scribble(random_, *hostile_, hits_);
    const bool record = random_() % 2 == 0;
    if (random_() % 64 == 0) return ring(record);
    const std::uint64_t there =
        scribble_at(random_, *hostile_, record ? Target::acceptor_record : Target::acceptor_room, hits_);
    const auto name = static_cast<std::uint32_t>(there);
    if (name == (victim_ | near_)) ++(record ? seen_.record : seen_.room);
    if (name == (victim_ | far_)) ++seen_.far;
  }
  static std::uint32_t name_of_caller(const EndParts& hostile) {
    return hostile.peer_wake.kind == Wake::signal ? static_cast<std::uint32_t>(gettid()) : some_thread;
  }
  // Rings as a correct end does after it has published something.
  void ring(bool record) const {
    WakeUp wake_up = hostile_->peer_wake;
    wake_up.event = (record ? hostile_->peer_events.record : hostile_->peer_events.room).get();
    wake_up.is_shared = hostile_->peer_events.are_shared;
    wake_up.watch = &hostile_->watch;
    wake_up.socket = record ? hostile_->watch.socket() : -1;
    auto& words = reinterpret_cast<SleepPage*>(hostile_->sleep.at(0))->ends[1];
    Ringer((record ? words.record : words.room).sleeper, wake_up).ring();
  }

  const EndParts* hostile_;
  std::uint32_t victim_;
  bool has_event_ = hostile_->peer_wake.kind == Wake::eventfd;
  std::uint32_t near_ = has_event_ ? near_bit : 0, far_ = has_event_ ? 0 : far_bit;
  Random random_;
  Hits hits_;
  Seen seen_;
  std::jthread thread_;
};

// Returns how often this thread has slept.
long times_slept() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

}  // namespace

TEST_CASE("a peer that scribbles while its victim sleeps is survived, however the victim is woken") {
  const Options options{.shape = small,
                        .wake = GENERATE(Wake::futex, Wake::eventfd, Wake::signal),
                        .signal = woken_by,
                        .wait = {os::WaitMode::park}};
  Tormentor::Seen seen;
  long slept = 0;
  // Runs until each way to sleep was met. A machine that has little time for this needs more rounds.
  for (unsigned round = 0; round < 10 || (round < 1000 && (seen.record == 0 || seen.room == 0 || seen.far == 0));
       ++round) {
    Attack attack(options);
    Tormentor tormentor(attack.hostile, round);
    Random random(round + 1);
    Victim victim(*attack.victim, std::chrono::microseconds{500});
    const long before = times_slept();
    for (int step = 0; step < 200 && attack.victim->is_open(); ++step) victim.act(random);
    slept += times_slept() - before;
    const auto met = tormentor.stop();
    seen = {seen.record + met.record, seen.room + met.room, seen.far + met.far};
  }
  CHECK(slept > 0);
  CHECK(seen.record > 0);
  CHECK(seen.room > 0);
  CHECK(seen.far > 0);
}

}  // namespace hostile_test
