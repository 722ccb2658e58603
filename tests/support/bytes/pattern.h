// Bytes for tests that check whether bytes arrive whole and in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corelane::testing {

// Fills the memory. The bytes around a place show where it is, and each seed gives other bytes. Writes eight bytes at a
// time: tests are compiled without optimization, and a loop over single bytes would take most of the time of a test
// that sends megabytes.
inline void fill_with_pattern(void* memory, std::size_t size, std::uint64_t seed) {
  auto* at = static_cast<std::byte*>(memory);
  std::uint64_t state = seed;
  while (size > 0) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const std::uint64_t word = state ^ (state >> 32);  // the low bits of the state alone repeat soon
    const std::size_t part = size < sizeof word ? size : sizeof word;
    std::memcpy(at, &word, part);
    at += part;
    size -= part;
  }
}

}  // namespace corelane::testing
