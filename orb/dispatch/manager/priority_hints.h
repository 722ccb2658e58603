// PriorityHints tells a thread that submits a job which priority the task's jobs have in the request queue. It is only
// a hint: an outdated answer puts one job in another place of the queue, and does nothing else.
//
// Threads: the holder of the manager's lock writes; any thread reads at any time, without a lock. It is a fixed table
// with linear probing. Bound: `probes` places are looked at. A task that finds no free place there has no hint
// (priority 1).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "orb/base/ids.h"

namespace corelane::dispatch {

class PriorityHints {
 public:
  explicit PriorityHints(std::size_t max_tasks) : places_(std::bit_ceil(4 * max_tasks + probes)) {}

  // With the manager's lock.
  void set(TaskId task, Priority priority) noexcept {
    Place* place = find(task);
    if (!place) place = find(no_task, task);
    if (!place) return;
    // relaxed in this class: each place is a hint by itself, nothing is published through it.
    place->priority.store(priority.value, std::memory_order_relaxed);
    place->task.store(task.value, std::memory_order_relaxed);  // relaxed: see above
  }
  void erase(TaskId task) noexcept {
    if (Place* place = find(task)) place->task.store(0, std::memory_order_relaxed);  // relaxed: see set()
  }

  // Any thread.
  Priority of(TaskId task) const noexcept {
    const Place* place = const_cast<PriorityHints*>(this)->find(task);
    return place ? Priority{place->priority.load(std::memory_order_relaxed)} : Priority{1};  // relaxed: see set()
  }

 private:
  static constexpr std::size_t probes = 16;
  struct Place {
    std::atomic<std::uint64_t> task{0};
    std::atomic<std::int32_t> priority{0};
  };

  Place* find(TaskId task) noexcept { return find(task, task); }
  // Returns the place near `home` that holds `task`; null: there is none.
  Place* find(TaskId task, TaskId home) noexcept {
    const std::size_t first = static_cast<std::size_t>(home.value * 0x9e37'79b9'7f4a'7c15 >> 32);
    for (std::size_t i = 0; i < probes; ++i) {
      Place& place = places_[(first + i) & (places_.size() - 1)];
      if (place.task.load(std::memory_order_relaxed) == task.value) return &place;  // relaxed: see set()
    }
    return nullptr;
  }

  std::vector<Place> places_;
};

}  // namespace corelane::dispatch
