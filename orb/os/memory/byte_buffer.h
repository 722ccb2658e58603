// ByteBuffer is a byte array that grows at its end. A short one lies on the heap. A long one has pages of its own.
// These pages are never locked into memory, take memory only when they are written, and return to the system when the
// buffer ends.
//
// The heap never shrinks where memory is locked (lock_memory()). So data whose size a peer controls should not lie on
// the heap. Long requests of tasks also lie in such pages: docs/servers.md describes what their jobs may wait for.
//
// Threads: one at a time.
//
// The folder orb/os/memory has pages of memory and thread stacks.
#pragma once

#include <cstddef>
#include <utility>

#include "orb/base/bytes.h"

namespace corelane::os {

// Returns pages for at least `bytes` bytes. They contain zeros or data from an earlier use. Empty: the system has none.
// A few pages are kept for the next caller, because the system would have to clear each page again. Thread: any.
MutableBytes take_pages(std::size_t bytes) noexcept;
void give_pages(MutableBytes pages) noexcept;
// The most bytes of unused pages that are kept.
inline constexpr std::size_t most_kept_pages = 4 * 1024 * 1024;

class ByteBuffer {
 public:
  static constexpr std::size_t mapped_from = 64 * 1024;  // bytes of capacity

  ByteBuffer() = default;
  explicit ByteBuffer(Bytes bytes) { assign(bytes); }
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    if (this != &other) ByteBuffer(std::move(other)).swap(*this);
    return *this;
  }
  ~ByteBuffer() { release(); }

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  operator Bytes() const noexcept { return {data_, size_}; }  // NOLINT: the buffer is used as its bytes

  // Throws std::bad_alloc and then changes nothing.
  void reserve(std::size_t bytes);
  // Copies nothing if the bytes lie in room() already, from its beginning on.
  void append(Bytes bytes);
  // Returns the memory behind the bytes, up to the capacity. Valid until the next change.
  MutableBytes room() noexcept { return {data_ + size_, capacity_ - size_}; }
  void assign(Bytes bytes) { clear(), append(bytes); }
  // Keeps the capacity.
  void clear() noexcept { size_ = 0; }
  void release() noexcept;
  void swap(ByteBuffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  bool is_mapped() const noexcept { return capacity_ >= mapped_from; }
  bool grow_in_place(std::size_t bytes) noexcept;

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace corelane::os
