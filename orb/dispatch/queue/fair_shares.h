// FairShares counts the places of a bounded queue that each sharer (a task or a peer) has taken, so that none can fill
// the queue alone. A sharer may take one more while it has fewer places than are free. One sharer alone gets half of
// the queue. Of n sharers that take places by turns, each gets one part in n + 1. If they come one after another, each
// gets half of what the others left free: 1/2, 1/4, 1/8, and so on. A sharer without a place gets one until the queue
// is full.
//
// Requests of an admitted task count for the task, whichever peer calls it, so a peer with many tasks has many shares.
// Requests of this process count for no sharer.
//
// Threads: guarded by the queue's lock. Nothing allocates after construction. Each function looks at the counts of all
// sharers that have places, once: `most_counted` at most.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/peer.h"

namespace corelane::dispatch {

class FairShares {
 public:
  // The task for which a place counts; without a task, the holder of the peer's connection.
  struct Sharer {
    TaskId task = no_task;
    PeerId peer{};
  };
  static constexpr std::size_t most_counted = 1024;  // further ones are not counted

  explicit FairShares(std::size_t capacity) : capacity_(capacity) {
    counts_.reserve(std::min(capacity + 1, most_counted));
  }

  bool is_full() const noexcept { return taken_ >= capacity_; }
  std::size_t taken() const noexcept { return taken_; }
  std::size_t capacity() const noexcept { return capacity_; }

  // Takes a place. Returns false if the sharer may not have one more. `given_up`: places, 0 or 1, that the caller gives
  // back next, which count as free.
  [[nodiscard]] bool take(const Sharer& sharer, std::size_t given_up = 0) noexcept {
    Count* const found = find(sharer);
    if (!has_share(found, given_up)) return false;
    ++taken_;
    if (found != nullptr)
      ++found->places;
    else if (is_counted(sharer) && counts_.size() < counts_.capacity())
      counts_.push_back({.sharer = sharer, .places = 1});
    return true;
  }
  void give_back(const Sharer& sharer) noexcept {
    --taken_;
    Count* const found = find(sharer);
    if (found == nullptr || --found->places > 0) return;
    *found = counts_.back();
    counts_.pop_back();
  }
  void give_all_back() noexcept {
    taken_ = 0;
    counts_.clear();
  }

 private:
  struct Count {
    Sharer sharer;
    std::size_t places;
  };
  // Returns null if the sharer has no place that is counted.
  Count* find(const Sharer& sharer) noexcept {
    const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const Count& c) { return is_of(c, sharer); });
    return found == counts_.end() ? nullptr : &*found;
  }
  bool has_share(const Count* has, std::size_t given_up) const noexcept {
    return (has == nullptr ? 0 : has->places) < capacity_ + given_up - taken_;
  }
  static bool is_counted(const Sharer& sharer) noexcept { return sharer.task != no_task || sharer.peer != PeerId{}; }
  static bool is_of(const Count& count, const Sharer& sharer) noexcept {
    if (sharer.task != no_task || count.sharer.task != no_task) return count.sharer.task == sharer.task;
    return sharer.peer != PeerId{} && same_holder(count.sharer.peer, sharer.peer);
  }

  const std::size_t capacity_;
  std::vector<Count> counts_;
  std::size_t taken_ = 0;
};

}  // namespace corelane::dispatch
