// ChunkPool lends runs of adjacent chunks of its own region, and learns from the peer's words which runs came back.
//
// In growing memory, a chunk gets pages with its first loan. give_back_some() takes them away while the chunk is free.
// In other memory all chunks always have pages.
//
// Thread: the writer's, except for memory(). Allocates only at construction, and makes system calls only to take pages
// and to give them back. A run is free again when the peer has counted its return. What a peer returns too early, or
// never, is memory of its own channel. The memory goes with the channel, so nothing has to be recovered from a peer
// that died.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "orb/channel/growth_meter.h"
#include "orb/channel/layout.h"
#include "orb/channel/memory/memory.h"

namespace corelane::channel {

class ChunkPool {
 public:
  // `borrower` is the peer's control page. `growing` is the own region if its chunks have no pages yet; it outlives the
  // pool. Null: all chunks have pages.
  ChunkPool(const Shape& shape, const Control& borrower, const Mapping* growing = nullptr);

  // From now on the pool asks the meter before it takes pages; null: it asks none. The meter outlives every later call
  // except the destructor.
  void measure(GrowthMeter* meter) noexcept { meter_ = meter; }

  // Returns the first chunk of the lowest run for so many bytes that is known to be free. Returns nothing if there is
  // none, if the system has no memory for it, or if the meter refuses it.
  std::optional<std::uint32_t> lend(std::uint64_t bytes) noexcept;
  // Returns whether lend() would find a run.
  bool has_room(std::uint64_t bytes) noexcept;
  // Takes back a run that was never sent.
  void cancel(std::uint32_t first) noexcept;
  // Sets whether this end still writes to the run. Until it ends that, the run is not free, even if it came back.
  void set_written(std::uint32_t first, bool is_written) noexcept { runs_[first].is_written = is_written; }

  std::uint64_t largest() const noexcept { return std::uint64_t{chunk_size_} * runs_.size(); }

  // Returns the bytes of the chunks that have pages. Thread: any.
  // relaxed: a report
  std::size_t memory() const noexcept { return memory_.load(std::memory_order_relaxed); }
  // Returns whether take_some() was called.
  bool keeps() const noexcept { return keeps_; }
  // Returns whether give_back_some() may have something to give back, now or when more chunks are free.
  bool may_shrink() const noexcept { return growing_ != nullptr && !keeps_ && memory() != 0; }
  // Returns whether nothing was lent since the last call.
  bool was_quiet() noexcept { return !std::exchange(was_lent_, false); }
  // Gives the pages of free chunks back, up to `most` bytes or one chunk. Returns false if nothing is left to give
  // back.
  bool give_back_some(std::size_t most) noexcept;
  // Takes pages for further chunks, up to `most` bytes or one chunk. From the first call on nothing is given back any
  // more. Returns false if all chunks have pages, or the system has no memory.
  bool take_some(std::size_t most) noexcept;

 private:
  struct Run {
    std::uint32_t length = 0;   // chunks of the run that begins here; 0: no run begins here
    std::uint32_t returns = 0;  // the peer's count when that run has come back
    bool has_pages = true;      // of this chunk alone
    bool is_written = false;    // see set_written()
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
  std::size_t chunks_at_;  // offset in the region
  std::uint32_t chunk_size_;
  std::vector<Run> runs_;
  std::uint64_t lent_ = 0;  // bytes lent since the last check of the peer's words
  bool was_lent_ = false;   // since the last was_quiet()
  bool keeps_ = false;      // take_some() was called
  std::atomic<std::size_t> memory_;
};

}  // namespace corelane::channel
