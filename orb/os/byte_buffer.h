// ByteBuffer: bytes that grow at their end. A short one lies on the heap. A long one has pages of its own, which are
// never locked into memory, take memory only as they are written to, and go back to the system when it ends.
//
// The heap keeps its peak: where memory is locked (lock_memory()), it gives nothing back. So what a peer can make long
// does not belong there. Long requests of tasks lie in such pages, too: docs/servers.md says what their jobs may wait
// for.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <utility>

#include "orb/base/bytes.h"

namespace corelane::os {

// Pages for at least so many bytes, zero or left over from another use; empty: the system has none. A few are kept for
// the next caller: the system would clear each page again. Thread: any.
MutableBytes take_pages(std::size_t bytes) noexcept;
void give_pages(MutableBytes pages) noexcept;
// What is kept at most.
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
  operator Bytes() const noexcept { return {data_, size_}; }  // NOLINT: it is what it holds

  // std::bad_alloc, and then nothing has changed.
  void reserve(std::size_t bytes);
  void append(Bytes bytes);
  void assign(Bytes bytes) { clear(), append(bytes); }
  // Keeps the memory.
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
