// copy_bytes(): std::memcpy for blocks of any length, at the speed of memory wherever the two blocks lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace corelane {

namespace detail {
// Where `rep movsb` begins to be used, and to matter.
inline constexpr std::size_t long_copy = 2048;
// As std::memcpy, in blocks that the compiler moves by registers.
void copy_by_registers(void* to, const void* from, std::size_t size) noexcept;
}  // namespace detail

// Copies `size` bytes, 0 and upwards, between blocks that do not overlap; null pointers are fine for 0 bytes. Any
// thread. Why not std::memcpy: the C library copies such lengths by `rep movsb`, which AMD's Zen 3 does at a twentieth
// of its speed, 2 GB/s, when the destination begins 1 to 31 bytes behind the source, modulo a page of 4 KiB. Large
// blocks of malloc() begin 16 bytes into a page until the first of them is freed, and shared memory begins at a page:
// what goes from the one to the other easily lies just like that.
//
// is_slow_memcpy(): whether that is so for these blocks.
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
