// copy_bytes() copies like std::memcpy, at full memory speed whatever the addresses of the two blocks are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corelane {

namespace detail {
// From this size on, the C library uses `rep movsb`, and its speed matters.
inline constexpr std::size_t long_copy = 2048;
// Copies like std::memcpy, in blocks that the compiler moves through registers.
void copy_by_registers(void* to, const void* from, std::size_t size) noexcept;
}  // namespace detail

// copy_bytes() copies `size` bytes, 0 or more, between blocks that do not overlap; null pointers are allowed for 0
// bytes. Any thread.
//
// It avoids a slow case of std::memcpy, in which the C library copies by `rep movsb`. AMD's Zen 3 runs that at a
// twentieth of its usual speed, 2 GB/s, for some addresses. In these cases the destination begins 1 to 31 bytes after
// the source, modulo a page of 4 KiB. That happens easily: large blocks of malloc() begin 16 bytes into a page until
// the first of them is freed, and shared memory begins at a page.
//
// is_slow_memcpy() returns whether this is the case for these blocks.
inline bool is_slow_memcpy(const void* to, const void* from, std::size_t size) noexcept {
  constexpr std::uintptr_t page = 4096, slow_until = 32;
  const std::uintptr_t apart = (reinterpret_cast<std::uintptr_t>(to) - reinterpret_cast<std::uintptr_t>(from)) % page;
  return size >= detail::long_copy && apart - 1 < slow_until - 1;
}

inline void copy_bytes(void* to, const void* from, std::size_t size) noexcept {
  if (is_slow_memcpy(to, from, size))
    detail::copy_by_registers(to, from, size);
  else if (size != 0)
    std::memcpy(to, from, size);
}

}  // namespace corelane
