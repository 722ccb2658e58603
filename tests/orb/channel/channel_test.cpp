// The conformance suite of channels: tests what every channel does, in whichever way its ends wait and are woken.
#include "orb/channel/channel.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/channel_pair.h"

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr int test_signal = 40;  // a real-time signal

// Blocks the signal before any test starts a thread. Every program that is woken by a signal must do this.
const bool blocked = [] {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, test_signal);
  return pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0;
}();

Options options(Wake wake, os::WaitMode mode = os::WaitMode::park) {
  return {.shape = {.slots = 256, .chunks = 16, .chunk_size = 64 * 1024},
          .wake = wake,
          .signal = wake == Wake::signal ? test_signal : 0,
          .wait = {mode, std::chrono::microseconds{50}}};
}

// Returns each way to wait and to be woken.
Options any_way() {
  return GENERATE(options(Wake::spin), options(Wake::futex), options(Wake::futex, os::WaitMode::adaptive),
                  options(Wake::futex, os::WaitMode::spin_then_park), options(Wake::eventfd),
                  options(Wake::eventfd, os::WaitMode::adaptive), options(Wake::signal));
}

std::uint32_t fill(Channel& end, std::string_view text) {
  std::uint32_t count = 0;
  while (end.try_write(as_bytes(text))) ++count;
  return count;
}

bool readable(int descriptor) {
  pollfd watched{descriptor, POLLIN, 0};
  return poll(&watched, 1, 0) == 1;
}

}  // namespace

TEST_CASE("messages of every size arrive whole and in order, both ways") {
  ChannelPair ends(any_way());
  for (const std::size_t size : {0u, 1u, 48u, 49u, 112u, 4096u, 4097u, 65536u, 65537u, 1u << 20}) {
    const std::string text = filled(size, static_cast<std::uint32_t>(size + 7));
    REQUIRE(ends.near.write(as_bytes(text), soon()));
    REQUIRE(ends.far.write(as_bytes(text), soon()));
    REQUIRE(read(ends.far) == text);
    REQUIRE(read(ends.near) == text);
  }
}

TEST_CASE("a reader that waits is woken by each message") {
  ChannelPair ends(any_way());
  constexpr int rounds = 200;
  std::thread echo([&] {
    for (int i = 0; i < rounds; ++i) (void)ends.far.write(as_bytes(read(ends.far)), soon());
  });
  for (int i = 0; i < rounds; ++i) {
    const std::string text = filled(static_cast<std::size_t>(i * 41), static_cast<std::uint32_t>(i));
    REQUIRE(ends.near.write(as_bytes(text), soon()));
    REQUIRE(read(ends.near) == text);
  }
  echo.join();
}

TEST_CASE("a writer that waits for room goes on when there is some") {
  ChannelPair ends(any_way());
  const std::size_t size = GENERATE(20u, 3000u, 100'000u);
  const std::uint32_t messages = size > 50'000 ? 40 : 600;  // enough to use the chunks and the ring several times over
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < messages; ++i) (void)ends.near.write(as_bytes(filled(size, i)), soon());
  });
  std::uint32_t right = 0;
  for (std::uint32_t i = 0; i < messages; ++i) right += read(ends.far) == filled(size, i) ? 1 : 0;
  writer.join();
  CHECK(right == messages);
}

TEST_CASE("both ends may wait in different ways") {
  const auto near = GENERATE(options(Wake::spin), options(Wake::futex));
  const auto far = GENERATE(options(Wake::eventfd), options(Wake::signal));
  ChannelPair ends(near, far);
  std::thread echo([&] { (void)ends.far.write(as_bytes(read(ends.far)), soon()); });
  REQUIRE(ends.near.write(as_bytes("hello"), soon()));
  CHECK(read(ends.near) == "hello");
  echo.join();
}

TEST_CASE("nothing to read is no end, and neither is a deadline") {
  ChannelPair ends(any_way());
  std::array<std::byte, 8> buffer;
  CHECK(ends.near.try_read(buffer).error() == Fault::would_block);
  CHECK(ends.near.read(buffer, at_once).error() == Fault::timed_out);
  CHECK(ends.near.read(buffer, os::now() + std::chrono::milliseconds{3}).error() == Fault::timed_out);
  CHECK(ends.near.is_open());
  REQUIRE(ends.far.try_write(as_bytes("x")));
  CHECK(ends.near.read(buffer, at_once).value() == 1);
}

TEST_CASE("a full channel pushes back and loses nothing") {
  ChannelPair ends(any_way());
  const std::string text = GENERATE(std::string("x"), std::string(100'000, 'y'));
  const std::uint32_t count = fill(ends.near, text);
  CHECK(count > 0);
  CHECK(ends.near.try_write(as_bytes(text)).error() == Fault::would_block);
  CHECK(ends.near.write(as_bytes(text), at_once).error() == Fault::timed_out);
  CHECK(ends.near.write(as_bytes(text), os::now() + std::chrono::milliseconds{3}).error() == Fault::timed_out);
  CHECK(read(ends.far) == text);
  CHECK(ends.near.try_write(as_bytes(text)));
  for (std::uint32_t i = 0; i < count; ++i) REQUIRE(read(ends.far) == text);
  CHECK(ends.far.peek().error() == Fault::would_block);
}

TEST_CASE("a message of several parts arrives as one, inline or through chunks") {
  ChannelPair ends;
  const std::string large = filled(50'000);
  for (const std::string_view second : {std::string_view("b"), std::string_view(large)}) {
    const Bytes parts[] = {as_bytes("a"), as_bytes(second), {}, as_bytes("c")};
    REQUIRE(ends.near.try_write(parts));
    CHECK(read(ends.far) == "a" + std::string(second) + "c");
  }
}

TEST_CASE("a message longer than the buffer stays, and one longer than the chunks is refused") {
  ChannelPair ends(options(Wake::futex));
  std::array<std::byte, 4> buffer;
  REQUIRE(ends.near.try_write(as_bytes("12345")));
  CHECK(ends.far.try_read(buffer).error() == Fault::too_long);
  CHECK(ends.far.peek()->size() == 5);
  CHECK(read(ends.far) == "12345");
  const std::string longest(ends.near.longest_message(), 'x');
  CHECK(longest.size() == 16u * 64 * 1024);
  CHECK(ends.near.try_write(as_bytes(longest + "x")).error() == Fault::too_long);
  REQUIRE(ends.near.try_write(as_bytes(longest)));
  CHECK(read(ends.far) == longest);
  CHECK(ends.near.is_open());
}

TEST_CASE("without chunks messages go inline up to half of the ring") {
  ChannelPair ends({.shape = {.slots = 256, .chunks = 0, .chunk_size = 0}});
  const std::string longest = filled(128 * 64 - 16);
  CHECK(ends.near.longest_message() == longest.size());
  REQUIRE(ends.near.try_write(as_bytes(longest)));
  CHECK(read(ends.far) == longest);
  CHECK(ends.near.try_write(as_bytes(longest + "x")).error() == Fault::too_long);
  CHECK(ends.near.draft(1).error() == Fault::too_long);
}

// ---- Loans

TEST_CASE("loans are read in place, many at a time, and given back in any order") {
  ChannelPair ends(options(Wake::futex));
  std::vector<Loan> loans;
  for (int i = 0; i < 8; ++i) {
    REQUIRE(ends.near.try_write(as_bytes(filled(100'000, static_cast<std::uint32_t>(i)))));
    REQUIRE(ends.far.peek());
    loans.push_back(std::move(*ends.far.take()));
  }
  CHECK(ends.near.try_write(as_bytes(filled(100'000))).error() == Fault::would_block);
  CHECK(ends.near.try_write(as_bytes("small ones pass by")));
  CHECK(read(ends.far) == "small ones pass by");
  for (const std::size_t i : {3u, 7u, 0u}) {
    CHECK(as_text(loans[i].bytes()) == filled(100'000, static_cast<std::uint32_t>(i)));
    loans[i].release();
    CHECK(ends.near.try_write(as_bytes(filled(100'000, 99))));
    CHECK(read(ends.far) == filled(100'000, 99));
  }
  CHECK(as_text(loans[5].bytes()) == filled(100'000, 5));
}

TEST_CASE("a loan that is given back wakes the writer that waits for it") {
  ChannelPair ends(any_way());
  REQUIRE(ends.near.try_write(as_bytes(filled(1 << 20))));
  REQUIRE(ends.far.peek());
  auto loan = ends.far.take();
  std::thread writer([&] { (void)ends.near.write(as_bytes(filled(1 << 20, 2)), soon()); });
  loan.reset();
  CHECK(read(ends.far) == filled(1 << 20, 2));
  writer.join();
}

TEST_CASE("a writer that waits for chunks to write in place gets them when they come back") {
  ChannelPair ends(options(Wake::futex));
  REQUIRE(ends.near.try_write(as_bytes(filled(1 << 20))));
  CHECK(ends.near.draft(1, os::now() + std::chrono::milliseconds{3}).error() == Fault::timed_out);
  std::thread reader([&] { read(ends.far); });
  const auto draft = ends.near.draft(1 << 20, soon());
  reader.join();
  REQUIRE(draft);
  CHECK(draft->bytes().size() == 1u << 20);
}

TEST_CASE("a loan stays readable after its channel") {
  ChannelPair ends;
  REQUIRE(ends.near.try_write(as_bytes(filled(100'000))));
  REQUIRE(ends.far.peek());
  const auto loan = ends.far.take();
  { const Channel gone = std::move(ends.far), gone_too = std::move(ends.near); }
  CHECK(as_text(loan->bytes()) == filled(100'000));
}

TEST_CASE("a message that came inline is no loan") {
  ChannelPair ends;
  CHECK_FALSE(ends.far.take());
  REQUIRE(ends.near.try_write(as_bytes("x")));
  REQUIRE(ends.far.peek());
  CHECK_FALSE(ends.far.take());
  CHECK(read(ends.far) == "x");
}

TEST_CASE("a draft is written in place, and its chunks come back when it is dropped") {
  ChannelPair ends(options(Wake::futex));
  for (int i = 0; i < 20; ++i) {
    auto draft = ends.near.draft(16 * 64 * 1024);
    REQUIRE(draft);
    CHECK(ends.near.draft(1).error() == Fault::would_block);
  }
  auto draft = ends.near.draft(100'000);
  REQUIRE(draft);
  const std::string text = filled(70'000);
  std::memcpy(draft->bytes().data(), text.data(), text.size());
  CHECK(ends.near.try_send(*draft, 100'001).error() == Fault::too_long);
  REQUIRE(ends.near.try_send(*draft, text.size()));
  CHECK(ends.near.try_send(*draft, text.size()).error() == Fault::too_long);  // the draft is used up
  CHECK(read(ends.far) == text);
}

// ---- Ends

TEST_CASE("messages that were written before the close are read, then the close") {
  ChannelPair ends(any_way());
  REQUIRE(ends.near.try_write(as_bytes("last")));
  REQUIRE(ends.near.try_write(as_bytes("words")));
  ends.near.close();
  CHECK(ends.far.try_write(as_bytes("x")).error() == Fault::peer_closed);
  CHECK(read(ends.far) == "last");
  CHECK(read(ends.far) == "words");
  CHECK(read(ends.far) == ended(Fault::peer_closed));
  CHECK_FALSE(ends.far.is_open());
}

TEST_CASE("closing wakes a waiting thread, on either end, for either reason") {
  ChannelPair ends(any_way());
  fill(ends.near, "x");
  std::string near_read, far_read;
  Expected<void, Fault> near_write;
  std::thread reader([&] { near_read = read(ends.near); });
  std::thread writer([&] { near_write = ends.near.write(as_bytes("x"), soon()); });
  const bool here = GENERATE(true, false);
  (here ? ends.near : ends.far).close();
  reader.join(), writer.join();
  const Fault expected = here ? Fault::closed_here : Fault::peer_closed;
  CHECK(near_read == ended(expected));
  CHECK(near_write.error() == expected);
}

TEST_CASE("dropping the handle closes in good order") {
  ChannelPair ends;
  { const Channel gone = std::move(ends.near); }
  CHECK(read(ends.far) == ended(Fault::peer_closed));
  CHECK_FALSE(ends.far.look_at_peer());
}

TEST_CASE("a closed end refuses everything and says why") {
  ChannelPair ends;
  REQUIRE(ends.far.try_write(as_bytes("unread")));
  ends.near.close();
  ends.near.close();
  CHECK_FALSE(ends.near.is_open());
  CHECK(ends.near.try_write(as_bytes("x")).error() == Fault::closed_here);
  CHECK(ends.near.draft(1).error() == Fault::closed_here);
  CHECK(read(ends.near) == ended(Fault::closed_here));
}

TEST_CASE("a writer learns which of its messages the reader may have acted on") {
  ChannelPair ends;
  REQUIRE(ends.near.try_write(as_bytes("first")));
  const std::uint64_t first = ends.near.written();
  REQUIRE(ends.near.try_write(as_bytes("second")));
  const std::uint64_t second = ends.near.written();
  CHECK_FALSE(ends.near.was_claimed(first));
  REQUIRE(ends.far.peek());
  CHECK(ends.near.was_claimed(first));
  CHECK_FALSE(ends.near.was_claimed(second));
}

// ---- Watching

TEST_CASE("an armed descriptor is readable once a message is there, and not before") {
  ChannelPair ends(options(GENERATE(Wake::eventfd, Wake::futex)));
  REQUIRE(ends.near.arm());
  CHECK_FALSE(readable(ends.near.descriptor()));
  REQUIRE(ends.far.try_write(as_bytes("x")));
  CHECK(readable(ends.near.descriptor()));
  REQUIRE(ends.far.try_write(as_bytes("y")));
  ends.near.disarm();
  CHECK_FALSE(readable(ends.near.descriptor()));
  CHECK(read(ends.near) == "x");
  CHECK_FALSE(ends.near.arm());  // there is another message
  CHECK(read(ends.near) == "y");
  CHECK(ends.near.arm());
}

TEST_CASE("an end that spins has no descriptor to watch, and each has one that hangs up") {
  ChannelPair ends(options(Wake::spin));
  CHECK(ends.near.descriptor() == -1);
  pollfd watched{ends.near.hang_up_descriptor(), POLLRDHUP, 0};
  CHECK(poll(&watched, 1, 0) == 0);
  ends.far.close();
  CHECK(poll(&watched, 1, 0) == 1);
}

TEST_CASE("both ends know each other and the channel's name") {
  ChannelPair ends;
  CHECK(ends.near.id() == ends.far.id());
  CHECK(ends.near.id() != ChannelPair().near.id());
  CHECK(ends.far.peer() == Peer{getpid(), geteuid(), getegid()});
  CHECK(ends.near.look_at_peer());
}
