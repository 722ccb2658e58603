// Bytes on their way in or out, and their order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace corelane {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline std::size_t length_of(std::span<const Bytes> parts) noexcept {
  std::size_t length = 0;
  for (const Bytes part : parts) length += part.size();
  return length;
}

enum class ByteOrder : std::uint8_t { big = 0, little = 1 };  // the numbers of GIOP's flag
inline constexpr ByteOrder native_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

}  // namespace corelane
