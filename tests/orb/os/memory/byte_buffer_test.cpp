#include "orb/os/memory/byte_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using namespace corelane;
using os::ByteBuffer;

namespace {

std::vector<std::byte> numbered(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

bool is_mapped(const std::byte* place) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(place) / page * page;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(at), 1, &resident) == 0;
}

// Returns how many pages of the buffer's capacity are in memory.
std::size_t resident_pages(const ByteBuffer& buffer) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((buffer.capacity() + page - 1) / page);
  REQUIRE(mincore(const_cast<std::byte*>(buffer.data()), buffer.capacity(), pages.data()) == 0);
  return static_cast<std::size_t>(std::count_if(pages.begin(), pages.end(), [](auto p) { return (p & 1) != 0; }));
}

}  // namespace

TEST_CASE("a buffer holds what was appended, whatever its length") {
  const std::size_t size = GENERATE(0u, 1u, 65'535u, 65'536u, 65'537u, 5'000'001u);
  const std::size_t piece = GENERATE(1000u, 70'000u);
  const auto bytes = numbered(size);
  ByteBuffer buffer;
  for (std::size_t at = 0; at < size; at += piece) buffer.append(Bytes(bytes).subspan(at, std::min(piece, size - at)));
  CHECK(buffer.size() == size);
  CHECK(std::ranges::equal(Bytes(buffer), bytes));
  ByteBuffer moved(std::move(buffer));
  CHECK(buffer.empty());
  CHECK(buffer.capacity() == 0);
  CHECK(std::ranges::equal(Bytes(moved), bytes));
  buffer.assign(bytes);
  CHECK(std::ranges::equal(Bytes(buffer), bytes));
}

TEST_CASE("a buffer that grows by single bytes is moved seldom") {
  ByteBuffer buffer;
  int moves = 0;
  std::size_t capacity = 0;
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    const std::byte one{1};
    buffer.append({&one, 1});
    if (std::exchange(capacity, buffer.capacity()) != buffer.capacity()) ++moves;
  }
  CHECK(moves <= 21);
}

TEST_CASE("addresses that nothing was written to take no memory") {
  ByteBuffer buffer;
  buffer.reserve(32 * 1024 * 1024);  // more than is kept, so the pages are new
  CHECK(resident_pages(buffer) == 0);
  buffer.append(numbered(10'000));
  CHECK(resident_pages(buffer) <= 4);
}

TEST_CASE("long buffers go back to the system") {
  std::byte* place = nullptr;
  {
    ByteBuffer buffer;
    buffer.append(numbered(2 * os::most_kept_pages));
    place = buffer.data();
    REQUIRE(is_mapped(place));
  }
  CHECK_FALSE(is_mapped(place));
}

TEST_CASE("pages that were given are used again, and no more is kept than said") {
  constexpr std::size_t size = 1024 * 1024;
  std::vector<MutableBytes> taken;
  for (int i = 0; i < 12; ++i) {
    taken.push_back(os::take_pages(size));
    REQUIRE(taken.back().size() >= size);
    std::fill_n(taken.back().begin(), size, std::byte{1});
  }
  for (const MutableBytes pages : taken) os::give_pages(pages);
  const auto kept =
      std::count_if(taken.begin(), taken.end(), [](const auto& pages) { return is_mapped(pages.data()); });
  CHECK(kept <= static_cast<std::ptrdiff_t>(os::most_kept_pages / size));
  CHECK(kept > 0);
  const MutableBytes again = os::take_pages(size);
  CHECK(std::any_of(taken.begin(), taken.end(), [&](const auto& pages) { return pages.data() == again.data(); }));
  os::give_pages(again);
}

TEST_CASE("bytes that were written into the room of a buffer become part of it where they are") {
  os::ByteBuffer buffer;
  buffer.reserve(200);
  buffer.append(numbered(100));
  const MutableBytes room = buffer.room();
  REQUIRE(room.size() == buffer.capacity() - 100);
  const std::byte* const place = buffer.data();
  std::ranges::copy(numbered(50), room.begin());
  buffer.append(room.first(50));
  CHECK(buffer.data() == place);
  REQUIRE(buffer.size() == 150);
  CHECK(std::ranges::equal(Bytes(buffer).subspan(100), numbered(50)));
}
