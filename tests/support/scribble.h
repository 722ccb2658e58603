// Random garbage over the memory of a channel that a hostile peer can write: its own region and the sleep page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>

#include "orb/channel/layout.h"

namespace corelane::testing {

using Random = std::mt19937_64;

// Numbers that such words might hold, or nearly.
inline std::uint64_t suspicious_number(Random& random) {
  const std::uint64_t small_one = random() % 70, length = random() % 3 == 0 ? random() : random() % 5000;
  switch (random() % 6) {
    case 0:
      return random();
    case 1:
      return small_one;
    case 2:
      return ~small_one;
    case 3:
      return std::uint64_t{1} << random() % 64;
    default:
      return (1 + random() % 3) << 32 | (length & 0xffff'ffff);  // a commit word
  }
}

struct Garbage {
  std::size_t offset;
  std::uint64_t word;
};

// For a region of so many bytes, more often a header, a note or a position than payload; or for a sleep page.
inline Garbage garbage_for(Random& random, std::size_t size) {
  const std::size_t slots = random() % 2 == 0 ? 64 : size / channel::slot_size;
  std::size_t offset = random() % size & ~std::size_t{7};
  if (random() % 2 == 0)
    offset = channel::slots_offset() + random() % slots * channel::slot_size + random() % 4 * 8;  // headers and notes
  if (random() % 4 == 0) offset = random() % 3 * 8;                                               // positions
  return {offset + 8 > size ? 0 : offset, suspicious_number(random)};
}

}  // namespace corelane::testing
