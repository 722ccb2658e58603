// FairShares: how many places of a bounded queue each peer has taken, so that no peer can fill the queue for others. A
// peer may take one more while it has fewer places than are free. So one peer alone gets half of the queue, n peers
// that take what they can get have one part in n + 1 each, and one part stays free for the next peer.
//
// Requests of an admitted task count for the task, whichever peer calls it. Requests of this process count for nobody.
//
// Threads: guarded by the queue's lock. Nothing allocates after construction. Bound of each function: the tasks and
// peers that have places, and `most_counted`.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/peer.h"

namespace corelane::dispatch {

class FairShares {
 public:
  // Whom a place counts for: the task, or without one the holder of the peer's connection.
  struct Sharer {
    TaskId task = no_task;
    PeerId peer{};
  };
  static constexpr std::size_t most_counted = 1024;  // further ones are not counted

  explicit FairShares(std::size_t capacity) : capacity_(capacity) { counts_.reserve(std::min(capacity, most_counted)); }

  bool is_full() const noexcept { return taken_ >= capacity_; }
  std::size_t taken() const noexcept { return taken_; }
  std::size_t capacity() const noexcept { return capacity_; }

  bool may_take(const Sharer& sharer) const noexcept {
    if (is_full()) return false;
    const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const Count& c) { return is_of(c, sharer); });
    return found == counts_.end() || found->places < capacity_ - taken_;
  }
  void take(const Sharer& sharer) noexcept {
    ++taken_;
    if (!is_counted(sharer)) return;
    const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const Count& c) { return is_of(c, sharer); });
    if (found != counts_.end())
      ++found->places;
    else if (counts_.size() < counts_.capacity())
      counts_.push_back({.sharer = sharer, .places = 1});
  }
  void give_back(const Sharer& sharer) noexcept {
    --taken_;
    const auto found = std::find_if(counts_.begin(), counts_.end(), [&](const Count& c) { return is_of(c, sharer); });
    if (found == counts_.end() || --found->places > 0) return;
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
  static bool is_counted(const Sharer& sharer) noexcept { return sharer.task != no_task || sharer.peer != PeerId{}; }
  static bool is_of(const Count& count, const Sharer& sharer) noexcept {
    if (sharer.task != no_task || count.sharer.task != no_task) return count.sharer.task == sharer.task;
    return sharer.peer != PeerId{} && same_holder(count.sharer.peer, sharer.peer);
  }

  const std::size_t capacity_;
  std::vector<Count> counts_;
  std::size_t taken_ = 0;
};

// A place that is given back with this object. The shares outlive it. Threads: as FairShares.
class FairPlace {
 public:
  FairPlace() = default;
  FairPlace(FairShares& shares, const FairShares::Sharer& sharer) noexcept : shares_(&shares), sharer_(sharer) {
    shares.take(sharer);
  }
  FairPlace(FairPlace&& other) noexcept : shares_(std::exchange(other.shares_, nullptr)), sharer_(other.sharer_) {}
  FairPlace& operator=(FairPlace&& other) noexcept {
    std::swap(shares_, other.shares_);
    std::swap(sharer_, other.sharer_);
    return *this;
  }
  ~FairPlace() {
    if (shares_ != nullptr) shares_->give_back(sharer_);
  }

 private:
  FairShares* shares_ = nullptr;
  FairShares::Sharer sharer_;
};

}  // namespace corelane::dispatch
