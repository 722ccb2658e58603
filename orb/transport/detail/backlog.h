// Backlog: bytes that wait for the socket, in chunks, so that growing copies nothing twice.
// Threads: none of its own; the connection's lock guards it. Bounds: whoever appends asks has_room() before; and a
// budget that it shares with the backlogs of other connections. The first chunk is not of the budget: who uses all of
// that takes from nobody else the room for a short message.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "orb/base/byte_budget.h"
#include "orb/base/bytes.h"
#include "orb/base/copy.h"

namespace corelane::transport {

class Backlog {
 public:
  static constexpr std::size_t chunk_size = 64 * 1024;

  // std::bad_alloc, as every deque.
  explicit Backlog(std::shared_ptr<ByteBudget> budget = nullptr) : share_(std::move(budget)) {}

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  // Whether so many bytes more are no more than `limit`. The first may be longer: no peer could take them before.
  bool has_room(std::size_t bytes, std::size_t limit) const noexcept {
    return empty() || bytes <= limit - std::min(size_, limit);
  }

  // Copies what follows the first `skip` bytes of the parts. False where the budget has no more: some of it may have
  // been copied.
  [[nodiscard]] bool append(std::span<const Bytes> parts, std::size_t skip) {
    for (const Bytes part : parts) {
      const std::size_t skipped = std::min(skip, part.size());
      skip -= skipped;
      if (!append(part.subspan(skipped))) return false;
    }
    return true;
  }

  // The oldest bytes that lie together; empty when there are none.
  Bytes front() const noexcept {
    if (empty()) return {};
    return Bytes{*chunks_.front()}.subspan(begin_, std::min(chunk_size - begin_, size_));
  }

  // Drops `count` bytes of front().
  void consume(std::size_t count) noexcept {
    begin_ += count;
    size_ -= count;
    if (size_ == 0) {
      clear();
    } else if (begin_ == chunk_size) {
      chunks_.pop_front();
      (void)hold(chunks_.size());  // less is always granted
      begin_ = 0;
    }
  }

  void clear() noexcept {
    chunks_.clear();
    (void)hold(0);
    begin_ = size_ = 0;
  }

 private:
  using Chunk = std::array<std::byte, chunk_size>;

  [[nodiscard]] bool hold(std::size_t chunks) noexcept {
    return share_.hold(chunks > 1 ? (chunks - 1) * chunk_size : 0);
  }

  bool append(Bytes bytes) {
    while (!bytes.empty()) {
      const std::size_t used = (begin_ + size_) % chunk_size;
      if (begin_ + size_ == chunks_.size() * chunk_size) {
        if (!hold(chunks_.size() + 1)) return false;
        chunks_.push_back(std::make_unique_for_overwrite<Chunk>());
      }
      const Bytes piece = bytes.first(std::min(bytes.size(), chunk_size - used));
      copy_bytes(chunks_.back()->data() + used, piece.data(), piece.size());
      size_ += piece.size();
      bytes = bytes.subspan(piece.size());
    }
    return true;
  }

  BudgetShare share_;
  std::deque<std::unique_ptr<Chunk>> chunks_;
  std::size_t begin_ = 0;  // in the first chunk
  std::size_t size_ = 0;
};

}  // namespace corelane::transport
