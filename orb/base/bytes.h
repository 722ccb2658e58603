// Types for encoded bytes and their order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace corelane {

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline std::size_t length_of(std::span<const Bytes> parts) noexcept {
  std::size_t length = 0;
  for (const Bytes part : parts) length += part.size();
  return length;
}

// Returns whether all of `part` lies in `whole`. An empty `whole` contains nothing.
inline bool holds(Bytes whole, Bytes part) noexcept {
  return !whole.empty() && std::less_equal{}(whole.data(), part.data()) &&
         std::less_equal{}(part.data() + part.size(), whole.data() + whole.size());
}

enum class ByteOrder : std::uint8_t { big = 0, little = 1 };  // the values of GIOP's flag
inline constexpr ByteOrder native_order =
    std::endian::native == std::endian::little ? ByteOrder::little : ByteOrder::big;

}  // namespace corelane
