// Tests that every byte is copied and the bytes around stay unchanged, whatever the blocks' distance modulo a page.
#include "orb/base/copy.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <vector>

using namespace corelane;

namespace {

constexpr std::size_t page = 4096, margin = 64;

// Two buffers that begin `apart` bytes apart, modulo a page.
class Blocks {
 public:
  Blocks(std::size_t size, std::size_t apart)
      : size_(size), from_(size + 3 * page), to_(size + 3 * page, std::byte{0xee}) {
    for (std::size_t i = 0; i < from_.size(); ++i) from_[i] = static_cast<std::byte>(i * 7 + i / 251);
    source_ = aligned(from_) + margin;
    target_ = aligned(to_) + margin + apart;
  }

  void copy() { copy_bytes(target_, source_, size_); }
  bool arrived() const { return std::equal(source_, source_ + size_, target_); }
  bool others_stay() const {
    const auto untouched = [](std::byte byte) { return byte == std::byte{0xee}; };
    return std::all_of(to_.data(), static_cast<const std::byte*>(target_), untouched) &&
           std::all_of(static_cast<const std::byte*>(target_) + size_, to_.data() + to_.size(), untouched);
  }

 private:
  static std::byte* aligned(std::vector<std::byte>& memory) {
    void* at = memory.data();
    std::size_t space = memory.size();
    return static_cast<std::byte*>(std::align(page, 1, at, space));
  }

  std::size_t size_;
  std::vector<std::byte> from_, to_;
  std::byte* source_;
  std::byte* target_;
};

}  // namespace

TEST_CASE("a copy moves each byte and no other, whatever the distance") {
  for (const std::size_t size : {0u, 1u, 127u, 2047u, 2048u, 2049u, 2175u, 2176u, 2177u, 10'000u})
    for (const std::size_t apart : {0u, 1u, 2u, 15u, 16u, 30u, 31u, 32u, 33u, 2048u, 4095u}) {
      Blocks blocks(size, apart);
      blocks.copy();
      CAPTURE(size, apart);
      CHECK(blocks.arrived());
      CHECK(blocks.others_stay());
    }
}

TEST_CASE("a copy of nothing needs no blocks") { copy_bytes(nullptr, nullptr, 0); }
