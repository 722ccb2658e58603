// copy_few_bytes() copies a few bytes like std::memcpy, but without a function call. The number of bytes is not known
// at compile time.
#pragma once

#include <cstddef>
#include <cstring>

namespace corelane {

namespace detail {
// Copies the first and the last Width bytes of a block of at least Width bytes; the two parts may overlap.
template <std::size_t Width>
void copy_both_ends(std::byte* to, const std::byte* from, std::size_t size) noexcept {
  std::byte first[Width], last[Width];
  std::memcpy(first, from, Width), std::memcpy(last, from + size - Width, Width);
  std::memcpy(to, first, Width), std::memcpy(to + size - Width, last, Width);
}
}  // namespace detail

inline constexpr std::size_t short_copy = 48;

// Copies `size` bytes, 0 to short_copy, between blocks that do not overlap. Any thread.
inline void copy_few_bytes(void* to, const void* from, std::size_t size) noexcept {
  auto* const out = static_cast<std::byte*>(to);
  const auto* const in = static_cast<const std::byte*>(from);
  if (size > 32)
    detail::copy_both_ends<16>(out, in, 32), std::memcpy(out + size - 16, in + size - 16, 16);
  else if (size >= 16)
    detail::copy_both_ends<16>(out, in, size);
  else if (size >= 8)
    detail::copy_both_ends<8>(out, in, size);
  else if (size >= 4)
    detail::copy_both_ends<4>(out, in, size);
  else
    for (std::size_t i = 0; i < size; ++i) out[i] = in[i];
}

}  // namespace corelane
