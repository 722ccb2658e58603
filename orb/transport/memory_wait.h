// MemoryWait is the place of a connection in the queue of those that wait for room (MemoryBudget).
//
// Threads: any; MemoryBudget's mutex guards it. Nothing allocates after construction.
#pragma once

#include <cstdint>
#include <list>
#include <utility>

#include "orb/base/time.h"

namespace corelane::transport {

class MemoryAccount;

class MemoryWait {
 public:
  using Queue = std::list<MemoryAccount*>;

  // std::bad_alloc.
  explicit MemoryWait(MemoryAccount* account) : outside_{account}, place_(outside_.begin()) {}
  MemoryWait(const MemoryWait&) = delete;
  MemoryWait& operator=(const MemoryWait&) = delete;

  // Enters the queue as its last one, if it is not in it. `last` numbers those that have entered.
  void enter(Queue& queue, std::uint64_t& last) noexcept {
    if (is_queued()) return;
    order_ = ++last;
    queue.splice(queue.end(), outside_);
  }
  // Returns whether it was in the queue.
  bool leave(Queue& queue) noexcept {
    if (std::exchange(order_, 0) == 0) return false;
    outside_.splice(outside_.end(), queue, place_);
    return true;
  }
  // Returns whether MemoryHolder::on_room() follows.
  bool is_queued() const noexcept { return order_ != 0; }
  // Returns the number in the queue; 0 outside of it.
  std::uint64_t order() const noexcept { return order_; }

  // May not read. Only end_refusal() ends this. It may leave the queue and enter it again meanwhile.
  void refuse(Time now) noexcept {
    if (!is_refused()) refused_since_ = now;
  }
  void end_refusal() noexcept { refused_since_ = never; }
  bool is_refused() const noexcept { return refused_since_ != never; }
  Time refused_since() const noexcept { return refused_since_; }  // never: it is not refused

 private:
  std::uint64_t order_ = 0;
  Queue outside_;  // has the node of the account while it is not in the queue
  const Queue::iterator place_;
  Time refused_since_ = never;
};

}  // namespace corelane::transport
