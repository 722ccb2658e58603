// Counters that one thread writes and any thread reads.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::dispatch {

// Thread: the counter's only writer.
inline void increment(std::atomic<std::uint64_t>& counter) noexcept {
  // relaxed: one writer, so nothing is lost between the load and the store; readers need no order
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace corelane::dispatch
