// Tests that every byte is copied and the bytes around stay unchanged, whatever the length.
#include "orb/base/copy_few.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstddef>

using namespace corelane;

TEST_CASE("a copy of few bytes moves each byte and no other, at every length and place") {
  std::array<std::byte, 2 * short_copy> source, target;
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i + 1);
  for (std::size_t size = 0; size <= short_copy; ++size)
    for (std::size_t at = 0; at + size < target.size(); at += 7) {
      target.fill({});
      copy_few_bytes(&target[at], &source[at / 2], size);
      for (std::size_t i = 0; i < target.size(); ++i) {
        const bool inside = i >= at && i < at + size;
        REQUIRE(target[i] == (inside ? source[at / 2 + i - at] : std::byte{}));
      }
    }
}
