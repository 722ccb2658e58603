// ChunkPool: lends runs of the chunks of its own region, and learns from the peer's words which of them came back.
//
// In growing memory a chunk has pages only from its first loan on, until give_back_some() takes them away while it is
// free. Elsewhere all chunks have pages.
//
// Thread: the writer's, but for memory(). Allocates at construction only, and calls the system only to take and give
// back pages. A run is free again when the peer has counted its return; what a peer returns too early or never is the
// memory of its own channel. Both die with the channel: nothing is taken back from the dead.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "orb/channel/growth_meter.h"
#include "orb/channel/layout.h"
#include "orb/channel/memory.h"

namespace corelane::channel {

class ChunkPool {
 public:
  // `borrower` is the peer's control page. `growing`: the own region if its chunks have no pages yet; it outlives the
  // pool. Null: all chunks have pages.
  ChunkPool(const Shape& shape, const Control& borrower, const Mapping* growing = nullptr);

  // From here on the meter is asked; null: none is. It outlives every later call but the destructor.
  void measure(GrowthMeter* meter) noexcept { meter_ = meter; }

  // The first chunk of a run for so many bytes, the lowest that is free; nothing when there is none, or when the system
  // has no memory for it, or the meter refuses it.
  std::optional<std::uint32_t> lend(std::uint64_t bytes) noexcept;
  // Whether lend() would find some.
  bool has_room(std::uint64_t bytes) noexcept;
  // It was never sent.
  void cancel(std::uint32_t first) noexcept;

  std::uint64_t largest() const noexcept { return std::uint64_t{chunk_size_} * runs_.size(); }

  // Bytes of the chunks that have pages. Thread: any.
  // relaxed: a report
  std::size_t memory() const noexcept { return memory_.load(std::memory_order_relaxed); }
  // Whether give_back_some() may have something to give back, now or once more chunks are free.
  bool may_shrink() const noexcept { return growing_ != nullptr && !keeps_ && memory() != 0; }
  // Whether nothing was lent since the last call.
  bool was_quiet() noexcept { return !std::exchange(was_lent_, false); }
  // Gives the pages of free chunks back, up to `most` bytes or one chunk. False: there is nothing left to give back.
  bool give_back_some(std::size_t most) noexcept;
  // From the first call on nothing is given back any more, and each call takes pages for further chunks, up to `most`
  // bytes or one chunk. False: all chunks have pages, or the system has no memory.
  bool take_some(std::size_t most) noexcept;

 private:
  struct Run {
    std::uint32_t length = 0;   // in chunks, of the run that begins here; 0: none does
    std::uint32_t returns = 0;  // the peer's count once that run has come back
    bool has_pages = true;      // this chunk
  };

  std::optional<std::uint32_t> seek(std::uint64_t bytes) noexcept;
  std::uint32_t chunks_for(std::uint64_t bytes) const noexcept;
  std::optional<std::uint32_t> find(std::uint32_t length) const noexcept;
  void collect() noexcept;
  bool take_pages(std::uint32_t begin, std::uint32_t end) noexcept;
  bool take_gap(std::uint32_t begin, std::uint32_t end) noexcept;
  void set_pages(std::uint32_t begin, std::uint32_t end, bool has_pages) noexcept;
  std::size_t offset_of(std::uint32_t chunk) const noexcept { return chunks_at_ + std::size_t{chunk} * chunk_size_; }
  std::uint32_t chunks_in(std::size_t most) const noexcept;

  const Control* borrower_;
  const Mapping* growing_;
  GrowthMeter* meter_ = nullptr;
  std::size_t chunks_at_;  // in the region
  std::uint32_t chunk_size_;
  std::vector<Run> runs_;
  std::uint64_t lent_ = 0;  // bytes, since the last look at the peer's words
  bool was_lent_ = false;   // since the last was_quiet()
  bool keeps_ = false;      // take_some() was called
  std::atomic<std::size_t> memory_;
};

}  // namespace corelane::channel
