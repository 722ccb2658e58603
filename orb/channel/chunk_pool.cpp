#include "orb/channel/chunk_pool.h"

#include <algorithm>
#include <atomic>

namespace corelane::channel {
namespace {

// Bytes that are lent before a look at the peer's words, so that about so many go round. Chunks that the peer has just
// read are in its cache, and writing them takes line by line from there; those of a whole pool are in nobody's. Between
// them lies what a core's second cache holds.
constexpr std::uint64_t lent_before_look = 512 * 1024;

}  // namespace

ChunkPool::ChunkPool(const Shape& shape, const Control& borrower)
    : borrower_(&borrower), chunk_size_(shape.chunk_size), runs_(shape.chunks) {}

std::uint32_t ChunkPool::chunks_for(std::uint64_t bytes) const noexcept {
  return static_cast<std::uint32_t>((bytes + chunk_size_ - 1) / chunk_size_);
}

// The lowest free run for so many bytes.
std::optional<std::uint32_t> ChunkPool::seek(std::uint64_t bytes) noexcept {
  if (bytes == 0 || bytes > largest()) return std::nullopt;
  const std::uint32_t length = chunks_for(bytes);
  if (lent_ + bytes <= lent_before_look)
    if (const auto first = find(length)) return first;
  collect();
  return find(length);
}

std::optional<std::uint32_t> ChunkPool::lend(std::uint64_t bytes) noexcept {
  const auto first = seek(bytes);
  if (!first) return std::nullopt;
  Run& run = runs_[*first];
  run.length = chunks_for(bytes);
  ++run.returns;
  lent_ += bytes;
  return first;
}

bool ChunkPool::has_room(std::uint64_t bytes) noexcept { return seek(bytes).has_value(); }

void ChunkPool::cancel(std::uint32_t first) noexcept {
  runs_[first].length = 0;
  --runs_[first].returns;
}

// Bound: the chunks.
std::optional<std::uint32_t> ChunkPool::find(std::uint32_t length) const noexcept {
  std::uint32_t begin = 0;
  for (std::uint32_t at = 0; at < runs_.size();) {
    if (runs_[at].length != 0) {
      at += runs_[at].length;
      begin = at;
    } else if (++at - begin == length) {
      return begin;
    }
  }
  return std::nullopt;
}

// Bound: the chunks.
void ChunkPool::collect() noexcept {
  lent_ = 0;
  for (std::uint32_t at = 0; at < runs_.size(); ++at) {
    Run& run = runs_[at];
    if (run.length == 0) continue;
    // PAIR chunk.returned: acquire here <- release in End::count_return(). The borrower's reads of the chunks are over.
    if (load_shared(borrower_->returned[at], std::memory_order_acquire) == run.returns) run.length = 0;
  }
}

}  // namespace corelane::channel
