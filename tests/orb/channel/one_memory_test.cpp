// Tests two threads over one memory, at the same addresses. Each end of a channel maps the channel's memory separately.
// So where two ends in one process meet, the thread sanitizer sees two unrelated places. Here it sees one place.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "orb/channel/ends/setup.h"
#include "orb/channel/memory/chunk_pool.h"
#include "orb/channel/memory/ring_reader.h"
#include "orb/channel/memory/ring_writer.h"
#include "tests/support/channel_pair.h"

namespace one_memory_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr std::uint32_t slots = 64;

struct Ring {
  std::vector<Slot> memory = std::vector<Slot>(slots);
  std::unique_ptr<Control> page = std::make_unique<Control>();
  RingWriter writer{memory.data(), RingGeometry(slots), *page};
  RingReader reader{memory.data(), RingGeometry(slots), *page};
};

// Returns another view of the same memory. Its size is 0, so it unmaps nothing: the owner does.
Mapping view_of(const Mapping& memory) { return {memory.at(0), 0}; }

EndParts parts_of(Expected<EndParts, SetupFault> made) {
  if (!made) throw std::runtime_error(made.error().text);
  return std::move(*made);
}

// Both ends of a channel. Each end accesses the other's memory at the address where the other end has mapped it.
class OneMemory {
 public:
  explicit OneMemory(const Options& options) {
    SocketPair sockets;
    auto accepted = std::async(std::launch::async, [&] { return accept_end(std::move(sockets.far), options, soon()); });
    EndParts one = parts_of(connect_end(std::move(sockets.near), options, soon()));
    EndParts other = parts_of(accepted.get());
    one.peer = view_of(other.own);
    other.peer = view_of(one.own);
    other.sleep = view_of(one.sleep);
    near.emplace(expect(Channel::of(std::move(one), options)));
    far.emplace(expect(Channel::of(std::move(other), options)));
  }
  std::optional<Channel> near, far;
};

constexpr std::uint32_t messages = 2000;

// Returns short messages, messages of several slots, and messages through chunks.
std::string message(std::uint32_t number) {
  constexpr std::size_t sizes[] = {8, 40, 48, 200, 9, 1500, 30, 6000, 12, 7000};
  return filled(sizes[number % 10], number);
}

}  // namespace

TEST_CASE("a writer and a reader on two threads pass short messages whole by the ways without a call") {
  Ring ring;
  std::thread writer([&] {
    for (std::uint32_t i = 0; i < 20'000; ++i) {
      const std::string text = filled(i % (Slot::payload_size + 1), i);
      const Bytes part = as_bytes(text);
      // put() reads the reader's position; put_short() leaves that to it
      while (!ring.writer.put_short(part) && ring.writer.put(RecordKind::message, {&part, 1}, part.size()) != Put::done)
        std::this_thread::yield();
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < 20'000;) {
    std::string text(Slot::payload_size, '?');
    const auto size = ring.reader.take_short(std::as_writable_bytes(std::span(text)));
    if (!size) {
      std::this_thread::yield();
      continue;
    }
    wrong += text.substr(0, *size) != filled(i % (Slot::payload_size + 1), i) ? 1 : 0;
    ++i;
  }
  writer.join();
  CHECK(wrong == 0);
}

TEST_CASE("a thread fills chunks again that another thread gives back, once no reader uses them") {
  constexpr std::uint32_t size = 4096;
  Ring ring;  // carries the notes
  const auto borrower = std::make_unique<Control>();
  ChunkPool pool(Shape{.slots = slots, .chunks = 4, .chunk_size = size}, *borrower);
  std::vector<std::uint64_t> chunks(4 * size / 8);
  std::thread lender([&] {
    for (std::uint64_t i = 0; i < 20'000; ++i) {
      std::optional<std::uint32_t> first;
      while (!(first = pool.lend(size))) std::this_thread::yield();
      std::fill_n(chunks.begin() + *first * (size / 8), 16, i);
      const LoanNote note{*first, size};
      const Bytes part = std::as_bytes(std::span{&note, 1});
      while (ring.writer.put(RecordKind::loan, {&part, 1}, sizeof note) != Put::done) std::this_thread::yield();
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint64_t i = 0; i < 20'000;) {
    if (ring.reader.peek() != Look::record) {
      std::this_thread::yield();
      continue;
    }
    LoanNote note;
    std::memcpy(&note, ring.reader.front().payload.data(), sizeof note);
    ring.reader.pop();
    for (std::size_t at = 0; at < 16; ++at) wrong += chunks[note.first * (size / 8) + at] != i ? 1 : 0;
    // PAIR chunk.returned: as End::count_return() does
    SharedWord(borrower->returned[note.first]).add(1, std::memory_order_release);
    ++i;
  }
  lender.join();
  CHECK(wrong == 0);
}

TEST_CASE("two ends over one memory talk from two threads, sleeping and ringing each other each way") {
  signal(SIGUSR1, [](int) {});
  const Wake wake = GENERATE(Wake::futex, Wake::eventfd, Wake::signal);
  OneMemory ends({.shape = {.slots = slots, .chunks = 3, .chunk_size = 4096},
                  .wake = wake,
                  .signal = SIGUSR1,
                  .wait = {os::WaitMode::park}});
  std::uint32_t answered = 0;
  std::thread echo([&] {
    std::vector<std::byte> buffer(12'000);
    for (std::uint32_t i = 0; i < messages; ++i) {
      const auto size = ends.far->read(buffer, soon());
      if (!size || !ends.far->write(Bytes(buffer).first(*size), soon())) return;
      ++answered;
    }
  });
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < messages; i += 2) {
    const bool said =
        ends.near->write(as_bytes(message(i)), soon()) && ends.near->write(as_bytes(message(i + 1)), soon());
    for (const std::uint32_t number : {i, i + 1}) wrong += !said || read(*ends.near) != message(number) ? 1 : 0;
  }
  echo.join();
  CHECK(wrong == 0);
  CHECK(answered == messages);
}

}  // namespace one_memory_test
