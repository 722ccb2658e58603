// JobLog keeps what the servants of a run note of their jobs.
//
// Threads: add() on any number of threads, real-time ones included: no lock, no allocation. rows() may run meanwhile,
// and returns what was added before. Bound: `capacity` jobs; later ones are counted and dropped.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "services/corelane/real_run/node_messages.h"

namespace corelane::tool {

class JobLog {
 public:
  explicit JobLog(std::size_t capacity) : slots_(capacity) {}

  void add(const JobRow& row) noexcept {
    // relaxed: the number only gives each writer a slot of its own
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= slots_.size()) return;
    slots_[index].row = row;
    // PAIR job_log.written: release here -> acquire in rows(). Publishes the row.
    slots_[index].written.store(true, std::memory_order_release);
  }

  // Not for real-time threads: it allocates.
  std::vector<JobRow> rows() const {
    std::vector<JobRow> rows;
    for (const Slot& slot : slots_)
      // PAIR job_log.written: acquire here <- release in add(). The row is complete.
      if (slot.written.load(std::memory_order_acquire)) rows.push_back(slot.row);
    return rows;
  }

  std::uint64_t dropped() const noexcept {
    // relaxed: a count for a report
    const std::size_t added = next_.load(std::memory_order_relaxed);
    return added - std::min(added, slots_.size());
  }

 private:
  struct Slot {
    JobRow row{};
    std::atomic<bool> written{false};
  };

  std::vector<Slot> slots_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace corelane::tool
