// Tests channels whose memory grows with what is sent, and shrinks when nothing is sent.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orb/channel/listener.h"
#include "orb/channel/memory/chunk_pool.h"
#include "orb/os/privileges.h"
#include "tests/orb/channel/raw_peer.h"
#include "tests/support/channel_pair.h"
#include "tests/support/peers/fork_alone.h"
#include "tests/support/peers/forked_peer.h"

namespace growth_test {

using namespace corelane;
using namespace corelane::channel;
using namespace corelane::testing;

namespace {

constexpr std::size_t kibi = 1024, mebi = kibi * kibi;
constexpr Shape shape{.slots = 128, .chunks = 64, .chunk_size = 64 * kibi};
constexpr std::size_t base = chunks_offset(shape);

Options growing() { return {.shape = shape, .grows = true, .wait = {os::WaitMode::park}}; }

// Returns the bytes of channels' memory that this process has mapped and that are resident. Memory that both ends of a
// channel have mapped here counts once. Memory that was given back does not count.
std::size_t resident() {
  await_given_back();
  std::ifstream maps("/proc/self/smaps");
  std::map<unsigned long, std::size_t> of_file;
  unsigned long file = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0, inode = 0;
    long kilobytes = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu", &begin, &end, &inode) == 3)
      file = line.find("memfd:corelane-channel") != line.npos ? inode : 0;
    else if (file != 0 && std::sscanf(line.c_str(), "Rss: %ld kB", &kilobytes) == 1)
      of_file[file] = std::max(of_file[file], static_cast<std::size_t>(kilobytes) * kibi);
  }
  std::size_t sum = 0;
  for (const auto& [inode, bytes] : of_file) sum += bytes;
  return sum;
}

void pass(Channel& from, Channel& to, std::size_t size) {
  const std::string text = filled(size);
  REQUIRE(from.write(as_bytes(text), soon()));
  REQUIRE(read(to) == text);
}

// Gives back everything that the end can give back now.
void shrink(Channel& end) {
  while (end.give_back_some(100 * kibi)) continue;
}

bool cannot_grow() {
  if (!can_grow()) std::cout << "SKIPPED: this kernel cannot take memory for a mapping and report a shortage\n";
  return !can_grow();
}

}  // namespace

TEST_CASE("a channel that grows has memory for its ring alone until something large is sent") {
  if (cannot_grow()) return;
  const std::size_t before = resident();
  ChannelPair ends(growing());
  for (const std::size_t size : {0u, 48u, 49u, 4000u}) {
    pass(ends.near, ends.far, size);
    pass(ends.far, ends.near, size);
  }
  CHECK(ends.near.memory() == base);
  CHECK(ends.far.memory() == base);
  CHECK_FALSE(ends.near.may_shrink());
  CHECK(resident() - before <= 2 * base + sizeof(SleepPage));
}

TEST_CASE("a channel grows by what is sent, and gives it back") {
  if (cannot_grow()) return;
  const std::size_t before = resident();
  ChannelPair ends(growing());
  const std::size_t size = GENERATE(4 * kibi + 1, 64 * kibi - 1, 64 * kibi, 64 * kibi + 1, mebi, 4 * mebi);
  const std::size_t taken = (size + shape.chunk_size - 1) / shape.chunk_size * shape.chunk_size;
  for (int round = 0; round < 3; ++round) {
    pass(ends.near, ends.far, size);
    CHECK(ends.near.memory() == base + taken);
    CHECK(ends.far.memory() == base);
    CHECK(ends.near.may_shrink());
    CHECK(resident() - before >= 2 * base + taken);
    shrink(ends.near);
    CHECK(ends.near.memory() == base);
    CHECK_FALSE(ends.near.may_shrink());
    CHECK(resident() - before <= 2 * base + sizeof(SleepPage));
  }
}

TEST_CASE("it gives back what is asked for and no more") {
  if (cannot_grow()) return;
  ChannelPair ends(growing());
  pass(ends.near, ends.far, mebi);
  CHECK(ends.near.give_back_some(256 * kibi));
  CHECK(ends.near.memory() == base + mebi - 256 * kibi);
  CHECK(ends.near.give_back_some(1));  // gives back one chunk
  CHECK(ends.near.memory() == base + mebi - 320 * kibi);
  pass(ends.near, ends.far, mebi);
  CHECK(ends.near.memory() >= base + mebi);
}

TEST_CASE("a channel is quiet when nothing large was sent since the last look") {
  if (cannot_grow()) return;
  ChannelPair ends(growing());
  CHECK(ends.near.was_quiet());
  pass(ends.near, ends.far, 48);
  CHECK(ends.near.was_quiet());
  pass(ends.near, ends.far, 5000);
  CHECK_FALSE(ends.near.was_quiet());
  CHECK(ends.near.was_quiet());
}

TEST_CASE("memory that a reader keeps stays, whatever its owner gives back around it") {
  if (cannot_grow()) return;
  ChannelPair ends(growing());
  const std::string kept = filled(200 * kibi, 7);
  pass(ends.near, ends.far, 300 * kibi);
  REQUIRE(ends.near.write(as_bytes(kept), soon()));
  REQUIRE(ends.far.wait(soon()));
  std::optional<Loan> loan = ends.far.take();
  REQUIRE(loan);
  pass(ends.near, ends.far, mebi);
  shrink(ends.near);
  CHECK(ends.near.memory() == base + 256 * kibi);
  CHECK(as_text(loan->bytes()) == kept);
  pass(ends.near, ends.far, 2 * mebi);
  shrink(ends.near);
  CHECK(as_text(loan->bytes()) == kept);
  CHECK(ends.near.may_shrink());
  loan->release();
  shrink(ends.near);
  CHECK(ends.near.memory() == base);
}

TEST_CASE("memory of an unread message stays, and so does a draft") {
  if (cannot_grow()) return;
  ChannelPair ends(growing());
  const std::string sent = filled(100 * kibi, 3), drafted = filled(130 * kibi, 4);
  REQUIRE(ends.near.write(as_bytes(sent), soon()));
  auto draft = ends.near.draft(drafted.size());
  REQUIRE(draft);
  std::copy(drafted.begin(), drafted.end(), reinterpret_cast<char*>(draft->bytes().data()));
  shrink(ends.near);
  CHECK(ends.near.memory() == base + 128 * kibi + 192 * kibi);
  REQUIRE(ends.near.send(*draft, drafted.size(), soon()));
  CHECK(read(ends.far) == sent);
  CHECK(read(ends.far) == drafted);
  shrink(ends.near);
  CHECK(ends.near.memory() == base);
}

TEST_CASE("a channel that keeps its memory has all of it and gives nothing back") {
  if (cannot_grow()) return;
  const std::size_t before = resident();
  ChannelPair ends(growing());
  pass(ends.near, ends.far, mebi);
  std::size_t calls = 0;
  while (ends.near.take_some(256 * kibi)) ++calls;
  CHECK(calls >= 12);  // 48 chunks, 4 in each call
  ends.near.hold_memory();
  CHECK(ends.near.memory() == region_size(shape));
  CHECK_FALSE(ends.near.may_shrink());
  CHECK_FALSE(ends.near.give_back_some(mebi));
  CHECK(ends.near.memory() == region_size(shape));
  CHECK(resident() - before >= region_size(shape));
  for (int round = 0; round < 5; ++round) pass(ends.near, ends.far, mebi);
  CHECK(ends.near.memory() == region_size(shape));
}

TEST_CASE("an end that asks for locked memory has all of it from the start") {
  Options locked = growing();
  locked.lock_memory = true;
  ChannelPair ends(locked, growing());
  CHECK(ends.near.memory() == region_size(shape));
  CHECK_FALSE(ends.near.may_shrink());
  pass(ends.near, ends.far, mebi);
}

TEST_CASE("one end may grow where the other has all of its memory") {
  Options whole = growing();
  whole.grows = false;
  const bool connector_grows = GENERATE(true, false);
  ChannelPair ends(connector_grows ? growing() : whole, connector_grows ? whole : growing());
  Channel &one = connector_grows ? ends.near : ends.far, &other = connector_grows ? ends.far : ends.near;
  CHECK(one.memory() == (can_grow() ? base : region_size(shape)));
  CHECK(other.memory() == region_size(shape));
  CHECK_FALSE(other.give_back_some(mebi));
  pass(one, other, mebi);
  pass(other, one, mebi);
  shrink(one);
  pass(one, other, 3 * mebi);
}

TEST_CASE("in a process that locks its memory a channel grows and shrinks all the same") {
  if (cannot_grow()) return;
  if (!os::privileges().memlock) {
    std::cout << "SKIPPED: this process may not lock its memory\n";
    return;
  }
  const pid_t child = corelane::testing::fork_alone();
  if (child == 0) {
    if (!os::lock_memory(kibi)) _exit(1);
    const std::size_t before = resident();
    ChannelPair ends(growing());
    const std::string text = filled(2 * mebi);
    if (resident() - before > 2 * base + sizeof(SleepPage)) _exit(2);
    if (!ends.near.write(as_bytes(text), soon()) || read(ends.far) != text) _exit(3);
    // Locks the memory again after it has grown, as a second ORB does.
    if (!os::lock_memory(kibi)) _exit(4);
    shrink(ends.near);
    if (ends.near.memory() != base) _exit(5);
    if (!ends.near.write(as_bytes(text), soon()) || read(ends.far) != text) _exit(6);
    _exit(0);
  }
  CHECK(end_of(child) == 0);
}

TEST_CASE("a peer that is killed while it keeps a message leaves nothing behind") {
  if (cannot_grow()) return;
  const std::size_t before = resident();
  {
    SocketPair sockets;
    const pid_t child = corelane::testing::fork_alone();
    if (child == 0) {
      sockets.near.reset();
      auto end = Channel::accept_over(std::move(sockets.far), growing(), soon());
      if (!end || !end->wait(soon())) _exit(1);
      const auto loan = end->take();
      if (!loan || !end->write(as_bytes("kept"), soon()) || !end->write(as_bytes(filled(mebi)), soon())) _exit(1);
      raise(SIGKILL);
    }
    sockets.far.reset();
    Channel end = expect(Channel::connect_over(std::move(sockets.near), growing(), soon()));
    REQUIRE(end.write(as_bytes(filled(100 * kibi)), soon()));
    REQUIRE(end.write(as_bytes(filled(mebi)), soon()));
    CHECK(read(end) == "kept");
    CHECK(end_of(child) == -SIGKILL);
    CHECK(read(end) == filled(mebi));
    CHECK(read(end) == ended(Fault::peer_died));
    while (end.give_back_some(mebi)) continue;
    CHECK(end.memory() >= base + 128 * kibi);  // what the dead peer still holds
    CHECK_FALSE(end.write(as_bytes(filled(mebi)), soon()));
  }
  CHECK(resident() == before);
}

TEST_CASE("a pool lends nothing where the system has no memory") {
  if (cannot_grow()) return;
  const auto made = make_growing_memory(region_size(shape), base);
  REQUIRE(made);
  // The system refuses to take memory through a mapping that may not be written.
  const auto read_only = adopt_growing_memory(made->fd, region_size(shape), base);
  REQUIRE(read_only);
  const Control borrower{};
  ChunkPool pool(shape, borrower, &*read_only);
  CHECK_FALSE(pool.has_room(100));
  CHECK_FALSE(pool.lend(100));
  CHECK(pool.memory() == 0);
  CHECK_FALSE(pool.take_some(mebi));
}

TEST_CASE("growing memory is there in its first part alone, and what was given back holds zeros") {
  if (cannot_grow()) return;
  const std::size_t before = resident();
  const auto made = make_growing_memory(4 * mebi, 64 * kibi);
  REQUIRE(made);
  const auto peers = adopt_growing_memory(made->fd, 4 * mebi, 64 * kibi);
  REQUIRE(peers);
  CHECK(resident() - before == 64 * kibi);
  REQUIRE(made->mapping.take(mebi, mebi));
  *made->mapping.at(mebi + 5) = std::byte{9};
  CHECK(*peers->at(mebi + 5) == std::byte{9});
  CHECK(resident() - before == mebi + 64 * kibi);
  REQUIRE(made->mapping.give_back(mebi, mebi));
  CHECK(resident() - before == 64 * kibi);
  CHECK(*peers->at(mebi + 5) == std::byte{0});
}

TEST_CASE("memory that grows is accepted only from a peer that announced it and is of this user") {
  if (cannot_grow()) return;
  const Shape small{.slots = 64, .chunks = 16, .chunk_size = 4096};
  RawPeer peer;
  peer.hello.chunks = small.chunks;
  peer.region = std::move(*make_growing_memory(region_size(small), chunks_offset(small)));
  SECTION("said") {
    peer.hello.required = feature_growth;
    CHECK(text_of_fault(peer.present()) == "no fault");
  }
  SECTION("not said") { CHECK(says(peer.present(), "is not sealed")); }
  SECTION("without its ring") {
    peer.hello.required = feature_growth;
    peer.region = std::move(*make_growing_memory(region_size(small), 4096));
    CHECK(says(peer.present(), "is not allocated"));
  }
}

TEST_CASE("over a socket whose peer is not known neither end grows, and memory that grows is refused") {
  if (cannot_grow()) return;
  Options unknown = growing();
  unknown.knows_peer = false;
  const ChannelPair ends(unknown, growing());
  CHECK(ends.near.memory() == region_size(shape));
  CHECK(ends.far.memory() == region_size(shape));
  const auto [connected, accepted] = shake_hands(growing(), unknown);
  CHECK(says(connected, "one end requires features that the other lacks: 0x8"));
  CHECK(says(accepted, "one end requires features that the other lacks: 0x8"));
}

TEST_CASE("between two users all memory is there from the start, and of the size that is meant for others") {
  const Shape for_others{.slots = 128, .chunks = 4, .chunk_size = 64 * kibi};
  Options options = growing();
  options.shape_by_others = for_others;
  options.access = {.anyone = true};
  const TempDirectory directory;
  std::filesystem::permissions(directory.path(), std::filesystem::perms::all);
  const std::string path = directory / "channel";
  auto listener = Listener::listen(path, options);
  REQUIRE(listener);
  const std::string text = filled(200 * kibi);
  const pid_t child = fork_stranger(12345, [&] {
    auto end = Channel::connect(path, options, soon());
    if (!end || end->memory() != region_size(for_others) || end->may_shrink()) return 2;
    return end->write(as_bytes(text), soon()) && read(*end) == text ? 0 : 3;
  });
  if (child < 0) return;
  auto end = listener->accept(soon());
  REQUIRE(end);
  CHECK(end->memory() == region_size(for_others));
  CHECK_FALSE(end->give_back_some(mebi));
  CHECK(read(*end) == text);
  REQUIRE(end->write(as_bytes(text), soon()));
  CHECK(exit_code(child) == 0);
}

TEST_CASE("a hundred quiet channels have little memory after a burst, and large messages still pass") {
  if (cannot_grow()) return;
  const std::size_t before = resident();
  std::vector<ChannelPair> all;
  for (int i = 0; i < 100; ++i) all.emplace_back(growing());
  for (ChannelPair& ends : all)
    for (const std::size_t size : {64u, 65536u}) {
      pass(ends.near, ends.far, size);
      pass(ends.far, ends.near, size);
    }
  CHECK(resident() - before <= 100 * (2 * (base + 64 * kibi) + sizeof(SleepPage)));
  for (ChannelPair& ends : all) shrink(ends.near), shrink(ends.far);
  CHECK(resident() - before <= 100 * (2 * base + sizeof(SleepPage)));
  pass(all.back().near, all.back().far, 4 * mebi);
}

}  // namespace growth_test
