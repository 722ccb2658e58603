// ChunkPool: lends runs of the chunks of its own region, and learns from the peer's words which of them came back.
//
// Thread: the writer's. Allocates at construction only. A run is free again when the peer has counted its return; what
// a peer returns too early or never is the memory of its own channel. Both die with the channel: nothing is taken back
// from the dead.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orb/channel/layout.h"

namespace corelane::channel {

class ChunkPool {
 public:
  // `borrower` is the peer's control page.
  ChunkPool(const Shape& shape, const Control& borrower);

  // The first chunk of a run for so many bytes, the lowest that is free; nothing when there is none.
  std::optional<std::uint32_t> lend(std::uint64_t bytes) noexcept;
  // Whether lend() would find some.
  bool has_room(std::uint64_t bytes) noexcept;
  // It was never sent.
  void cancel(std::uint32_t first) noexcept;

  std::uint64_t largest() const noexcept { return std::uint64_t{chunk_size_} * runs_.size(); }

 private:
  struct Run {
    std::uint32_t length = 0;   // in chunks, of the run that begins here; 0: none does
    std::uint32_t returns = 0;  // the peer's count once that run has come back
  };

  std::optional<std::uint32_t> seek(std::uint64_t bytes) noexcept;
  std::uint32_t chunks_for(std::uint64_t bytes) const noexcept;
  std::optional<std::uint32_t> find(std::uint32_t length) const noexcept;
  void collect() noexcept;

  const Control* borrower_;
  std::uint32_t chunk_size_;
  std::vector<Run> runs_;
  std::uint64_t lent_ = 0;  // bytes, since the last look at the peer's words
};

}  // namespace corelane::channel
