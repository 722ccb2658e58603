// Backlog holds bytes that wait for the socket, in chunks, so that no byte is copied twice when it grows.
// Threads: none of its own; the connection's lock guards it. Bounds: Outbox decides how much may wait. The backlog
// reports all but the first chunk to the connection's account.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "orb/base/bytes.h"
#include "orb/base/copy.h"
#include "orb/os/memory/byte_buffer.h"
#include "orb/transport/memory_budget.h"

namespace corelane::transport {

class Backlog {
 public:
  static constexpr std::size_t chunk_size = 64 * 1024;

  // `account`: null if nothing counts it. std::bad_alloc, because a deque allocates.
  explicit Backlog(std::shared_ptr<MemoryAccount> account = nullptr) : account_(std::move(account)) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // Copies what follows the first `skip` bytes of the parts. std::bad_alloc; some of it may have been copied.
  void append(std::span<const Bytes> parts, std::size_t skip) {
    for (const Bytes part : parts) {
      const std::size_t skipped = std::min(skip, part.size());
      skip -= skipped;
      append(part.subspan(skipped));
    }
  }

  // Does the same, but puts the copy before all else, which stays where it is. std::bad_alloc: nothing has changed.
  void prepend(std::span<const Bytes> parts, std::size_t skip) {
    const std::size_t bytes = length_of(parts) - skip;
    const std::size_t added = (bytes - std::min(bytes, begin_) + chunk_size - 1) / chunk_size;
    add_in_front(added);
    begin_ += added * chunk_size - bytes;
    size_ += bytes;
    std::size_t at = begin_;
    for (const Bytes part : parts) {
      const std::size_t skipped = std::min(skip, part.size());
      skip -= skipped;
      write(at, part.subspan(skipped));
      at += part.size() - skipped;
    }
    note(false);
  }

  // Returns the oldest contiguous bytes; empty if there are none.
  Bytes front() const noexcept {
    if (empty()) return {};
    return chunks_.front().bytes().subspan(begin_, std::min(chunk_size - begin_, size_));
  }

  // Drops `count` bytes of front().
  void consume(std::size_t count) noexcept {
    begin_ += count;
    size_ -= count;
    if (size_ == 0) {
      clear();
    } else if (begin_ == chunk_size) {
      chunks_.pop_front();
      begin_ = 0;
    }
    if (count > 0) note(true);
  }

  void clear() noexcept {
    chunks_.clear();
    begin_ = size_ = 0;
    note(true);
  }

 private:
  // A chunk has pages of its own, because the heap would keep the peak.
  class Chunk {
   public:
    Chunk() : pages_(os::take_pages(chunk_size)) {
      if (pages_.empty()) throw std::bad_alloc();
    }
    Chunk(Chunk&& other) noexcept : pages_(std::exchange(other.pages_, {})) {}
    Chunk& operator=(Chunk&&) = delete;
    ~Chunk() { os::give_pages(pages_); }
    MutableBytes bytes() const noexcept { return pages_.first(chunk_size); }

   private:
    MutableBytes pages_;
  };

  void note(bool was_taken) noexcept {
    const std::size_t bytes = chunks_.size() > 1 ? (chunks_.size() - 1) * chunk_size : 0;
    if (account_ && std::exchange(noted_, bytes) + bytes > 0) account_->hold_backlog(bytes, was_taken);
  }

  void add_in_front(std::size_t chunks) {
    std::size_t added = 0;
    try {
      for (; added < chunks; ++added) chunks_.emplace_front();
    } catch (const std::bad_alloc&) {
      for (; added > 0; --added) chunks_.pop_front();
      throw;
    }
  }

  // Copies the bytes into the chunks that are there, from this offset on.
  void write(std::size_t at, Bytes bytes) noexcept {
    while (!bytes.empty()) {
      const std::size_t used = at % chunk_size;
      const Bytes piece = bytes.first(std::min(bytes.size(), chunk_size - used));
      copy_bytes(chunks_[at / chunk_size].bytes().data() + used, piece.data(), piece.size());
      at += piece.size();
      bytes = bytes.subspan(piece.size());
    }
  }

  void append(Bytes bytes) {
    while (!bytes.empty()) {
      const std::size_t used = (begin_ + size_) % chunk_size;
      if (begin_ + size_ == chunks_.size() * chunk_size) {
        chunks_.emplace_back();
        note(false);
      }
      const Bytes piece = bytes.first(std::min(bytes.size(), chunk_size - used));
      copy_bytes(chunks_.back().bytes().data() + used, piece.data(), piece.size());
      size_ += piece.size();
      bytes = bytes.subspan(piece.size());
    }
  }

  const std::shared_ptr<MemoryAccount> account_;
  std::deque<Chunk> chunks_;
  std::size_t begin_ = 0;  // in the first chunk
  std::size_t size_ = 0;
  std::size_t noted_ = 0;  // what was last reported to the account
};

}  // namespace corelane::transport
