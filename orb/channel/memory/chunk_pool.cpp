#include "orb/channel/memory/chunk_pool.h"

#include <algorithm>
#include <atomic>

namespace corelane::channel {
namespace {

// How many bytes are lent before the pool checks which chunks the peer has given back. So the pool uses about this much
// memory in turn. With less, it would use chunks that the peer has just read: these are in the peer's cache, and
// writing to them fetches line by line from there. With a whole pool, no chunk would still be in a cache. The size in
// between is what a core's second-level cache holds.
constexpr std::uint64_t lent_before_look = 512 * 1024;

}  // namespace

ChunkPool::ChunkPool(const Shape& shape, const Control& borrower, const Mapping* growing)
    : borrower_(&borrower),
      growing_(growing),
      chunks_at_(chunks_offset(shape)),
      chunk_size_(shape.chunk_size),
      runs_(shape.chunks, Run{.has_pages = growing == nullptr}),
      memory_(growing == nullptr ? largest() : 0) {}

std::uint32_t ChunkPool::chunks_for(std::uint64_t bytes) const noexcept {
  return static_cast<std::uint32_t>((bytes + chunk_size_ - 1) / chunk_size_);
}

// Returns the lowest run for so many bytes that is known to be free, and makes sure that it has pages.
std::optional<std::uint32_t> ChunkPool::seek(std::uint64_t bytes) noexcept {
  if (bytes == 0 || bytes > largest()) return std::nullopt;
  const std::uint32_t length = chunks_for(bytes);
  std::optional<std::uint32_t> first;
  if (lent_ + bytes <= lent_before_look) first = find(length);
  if (!first) {
    collect();
    first = find(length);
  }
  if (first && !take_pages(*first, *first + length)) return std::nullopt;
  return first;
}

std::optional<std::uint32_t> ChunkPool::lend(std::uint64_t bytes) noexcept {
  const auto first = seek(bytes);
  if (!first) return std::nullopt;
  Run& run = runs_[*first];
  run.length = chunks_for(bytes);
  was_lent_ = true;
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
    if (run.length == 0 || run.is_written) continue;
    // PAIR chunk.returned: acquire here <- release in End::count_return(). The borrower's reads of the chunks are over.
    if (load_shared(borrower_->returned[at], std::memory_order_acquire) == run.returns) run.length = 0;
  }
}

// ---- Pages

std::uint32_t ChunkPool::chunks_in(std::size_t most) const noexcept {
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(most / chunk_size_, 1, runs_.size()));
}

void ChunkPool::set_pages(std::uint32_t begin, std::uint32_t end, bool has_pages) noexcept {
  for (std::uint32_t at = begin; at < end; ++at) runs_[at].has_pages = has_pages;
  const std::size_t bytes = std::size_t{end - begin} * chunk_size_;
  // relaxed: a report
  has_pages ? memory_.fetch_add(bytes, std::memory_order_relaxed) : memory_.fetch_sub(bytes, std::memory_order_relaxed);
}

// Returns false if the meter refuses, or the system has no memory left.
bool ChunkPool::take_gap(std::uint32_t begin, std::uint32_t end) noexcept {
  const std::size_t bytes = std::size_t{end - begin} * chunk_size_;
  if (meter_ != nullptr && !meter_->take(bytes, keeps_) && !keeps_) return false;
  if (growing_->take(offset_of(begin), bytes)) return set_pages(begin, end, true), true;
  if (meter_ != nullptr) meter_->give_back(bytes);
  return false;
}

// Bound: the chunks of the run. Returns false like take_gap(); then the chunks before the gap have pages.
bool ChunkPool::take_pages(std::uint32_t begin, std::uint32_t end) noexcept {
  for (std::uint32_t at = begin; at < end;) {
    if (runs_[at].has_pages) {
      ++at;
      continue;
    }
    std::uint32_t behind = at + 1;
    while (behind < end && !runs_[behind].has_pages) ++behind;
    if (!take_gap(at, behind)) return false;
    at = behind;
  }
  return true;
}

// Bound: the chunks.
bool ChunkPool::take_some(std::size_t most) noexcept {
  keeps_ = true;
  const auto size = static_cast<std::uint32_t>(runs_.size());
  std::uint32_t begin = 0;
  while (begin < size && runs_[begin].has_pages) ++begin;
  return begin < size && take_pages(begin, begin + std::min(chunks_in(most), size - begin));
}

// Bound: the chunks.
bool ChunkPool::give_back_some(std::size_t most) noexcept {
  if (!may_shrink()) return false;
  collect();
  const auto size = static_cast<std::uint32_t>(runs_.size());
  std::uint32_t begin = 0, end = 0;
  // Chunks from `begin` to `end` can go. A chunk that cannot go ends the search, or moves its start forward.
  while (end < size && end - begin < chunks_in(most)) {
    if (runs_[end].length == 0 && runs_[end].has_pages) {
      ++end;
    } else if (begin != end) {
      break;
    } else {
      end += std::max(runs_[end].length, 1u);
      begin = end;
    }
  }
  const std::size_t bytes = std::size_t{end - begin} * chunk_size_;
  if (begin >= end || !growing_->give_back(offset_of(begin), bytes)) return false;
  set_pages(begin, end, false);
  if (meter_ != nullptr) meter_->give_back(bytes);
  return true;
}

}  // namespace corelane::channel
