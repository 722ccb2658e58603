// Counters with one writing thread and any number of readers.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::dispatch {

// Increments the counter. Thread: its only writer.
inline void increment(std::atomic<std::uint64_t>& counter) noexcept {
  // relaxed: one writer, so nothing is lost between the load and the store; readers need no order
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace corelane::dispatch
