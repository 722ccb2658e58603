// Tests long messages that the reader takes while their writer still copies them.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "orb/channel/layout.h"
#include "tests/support/channel_pair.h"

namespace growing_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr std::size_t mebi = 1024 * 1024;
const Options spinning{.shape = {.slots = 64, .chunks = 18, .chunk_size = 64 * 1024}, .wake = Wake::spin};
const std::string head = filled(100, 1), tail = filled(mebi, 2);

// Two ends, and a message of which only the head and one piece are written.
struct Begun {
  ChannelPair ends{spinning};
  Begun() { REQUIRE(ends.near.begin_growing(as_bytes(head), as_bytes(tail))); }
  void finish() {
    ends.near.write_rest();
    ends.near.end_growing();
  }
  Loan take() {
    ends.far.set_takes_growing(true);
    auto loan = ends.far.take();
    REQUIRE(loan);
    return std::move(*loan);
  }
};

}  // namespace

TEST_CASE("a reader that asks for growing loans takes a message of which only the beginning is there") {
  Begun begun;
  const Loan loan = begun.take();
  CHECK(loan.bytes().size() == head.size() + tail.size());
  CHECK(loan.ready() == head.size() + growing_piece);
  CHECK(as_text(loan.bytes().first(loan.ready())) == head + tail.substr(0, growing_piece));
  CHECK(loan.await(loan.ready() + 1, at_once).error() == Fault::timed_out);
  begun.finish();
  CHECK(*loan.await(loan.bytes().size(), at_once) == loan.bytes().size());
  CHECK(as_text(loan.bytes()) == head + tail);
}

TEST_CASE("a reader waits for the pieces of a growing loan, which its writer copies meanwhile") {
  ChannelPair ends(spinning);
  ends.far.set_takes_growing(true);
  for (int round = 0; round < 100; ++round) {
    const std::string text = filled(mebi, static_cast<std::uint32_t>(round));
    auto writer = std::async(std::launch::async, [&] {
      while (!ends.near.begin_growing(as_bytes(head), as_bytes(text))) std::this_thread::yield();
      ends.near.write_rest();
      ends.near.end_growing();
    });
    REQUIRE(ends.far.wait(soon()));
    const auto loan = ends.far.take();
    REQUIRE(loan);
    std::string came(loan->bytes().size(), '\0');
    for (std::size_t at = 0; at < came.size();) {
      const auto there = loan->await(at + 1, soon());
      REQUIRE(there);
      std::memcpy(came.data() + at, loan->bytes().data() + at, *there - at);
      at = *there;
    }
    REQUIRE(came == head + text);
    writer.get();
  }
}

TEST_CASE("by default a reader gets a growing loan, and what follows it, when all of it is there") {
  Begun begun;
  REQUIRE(begun.ends.near.try_write(as_bytes("next")));
  CHECK(begun.ends.far.peek().error() == Fault::would_block);
  CHECK_FALSE(begun.ends.far.take());
  CHECK(begun.ends.far.wait(at_once).error() == Fault::timed_out);
  begun.finish();
  CHECK(read(begun.ends.far) == head + tail);
  CHECK(read(begun.ends.far) == "next");
}

TEST_CASE("a reader that asks no longer for growing loans gets the one at the front whole") {
  Begun begun;
  begun.ends.far.set_takes_growing(true);
  CHECK(begun.ends.far.peek()->size() == head.size() + tail.size());
  begun.ends.far.set_takes_growing(false);
  CHECK(begun.ends.far.peek().error() == Fault::would_block);
  begun.finish();
  CHECK(read(begun.ends.far) == head + tail);
}

TEST_CASE("a sleeping reader that asks for whole messages is woken when a growing loan has become whole") {
  const Wake wake = GENERATE(Wake::futex, Wake::eventfd);
  Options options = spinning;
  options.wake = wake;
  options.wait = {os::WaitMode::park};
  ChannelPair ends(options);
  REQUIRE(ends.near.begin_growing(as_bytes(head), as_bytes(tail)));
  auto reader = std::async(std::launch::async, [&] { return read(ends.far); });
  while (ends.near.may_begin_growing()) std::this_thread::yield();  // until it sleeps
  ends.near.write_rest();
  ends.near.end_growing();
  CHECK(reader.get() == head + tail);
}

TEST_CASE("a connector that sleeps is woken when a growing loan begins") {
  Options options = spinning;
  options.wake = GENERATE(Wake::futex, Wake::eventfd);
  options.wait = {os::WaitMode::park};
  ChannelPair ends(options);
  ends.near.set_takes_growing(true);
  auto reader = std::async(std::launch::async, [&] { return bool(ends.near.wait(soon())); });
  std::this_thread::sleep_for(std::chrono::milliseconds{20});  // sleep: so that the reader sleeps, too
  REQUIRE(ends.far.begin_growing(as_bytes(head), as_bytes(tail)));
  CHECK(reader.get());
  ends.far.write_rest();
  ends.far.end_growing();
  CHECK(read(ends.near) == head + tail);
}

TEST_CASE("an armed descriptor reports a growing loan when all of it is there") {
  Options options = spinning;
  options.wake = Wake::eventfd;
  ChannelPair ends(options);
  REQUIRE(ends.near.begin_growing(as_bytes(head), as_bytes(tail)));
  REQUIRE(ends.far.arm());
  ends.near.write_rest();
  ends.near.end_growing();
  CHECK(ends.far.peek()->size() == head.size() + tail.size());
  ends.far.disarm();
  CHECK_FALSE(ends.far.arm());
}

TEST_CASE("no growing loan is begun while one is written, while the reader sleeps, or when memory is kept") {
  Options options = spinning;
  options.wake = Wake::eventfd;
  ChannelPair ends(options);
  const auto begins = [&] { return bool(ends.near.begin_growing(as_bytes(head), as_bytes(tail))); };
  REQUIRE(ends.far.arm());
  CHECK_FALSE(ends.near.may_begin_growing());
  CHECK_FALSE(begins());
  ends.far.disarm();
  CHECK(ends.near.may_begin_growing());
  REQUIRE(begins());
  CHECK(ends.near.is_growing());
  CHECK_FALSE(begins());
  ends.near.write_rest();
  ends.near.end_growing();
  CHECK_FALSE(ends.near.is_growing());
  CHECK(read(ends.far) == head + tail);
  ends.near.take_some(1);
  CHECK_FALSE(begins());
}

TEST_CASE("a message that is too short or too long for a growing loan is none") {
  ChannelPair ends(spinning);
  const std::string little = filled(least_growing - head.size() - 1), much = filled(2 * mebi);
  CHECK_FALSE(ends.near.begin_growing(as_bytes(head), as_bytes(little)));
  CHECK_FALSE(ends.near.begin_growing(as_bytes(head), as_bytes(much)));
  CHECK_FALSE(ends.near.begin_growing(as_bytes(tail), as_bytes(head)));
  CHECK(ends.near.begin_growing(as_bytes(head), as_bytes(little + "x")));
}

TEST_CASE("chunks that come back before their message is written are lent again only after that") {
  Begun begun;
  begun.take().release();
  CHECK_FALSE(begun.ends.near.draft(mebi));
  begun.finish();
  CHECK(begun.ends.near.draft(mebi));
}

TEST_CASE("a reader is told that the rest of a growing loan will not come") {
  Begun begun;
  const bool takes = GENERATE(true, false);
  if (takes) {
    const Loan loan = begun.take();
    auto reader = std::async(std::launch::async, [&] { return loan.await(loan.bytes().size(), soon()); });
    begun.ends.near.close();
    CHECK(reader.get().error() == Fault::peer_closed);
  } else {
    begun.ends.near.close();
    CHECK(read(begun.ends.far) == ended(Fault::peer_closed));
  }
}

TEST_CASE("a growing loan that was whole before the close is read") {
  Begun begun;
  const Loan loan = begun.take();
  begun.finish();
  begun.ends.near.close();
  CHECK(*loan.await(loan.bytes().size(), soon()) == head.size() + tail.size());
}

}  // namespace growing_test
