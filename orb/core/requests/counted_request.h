// CountedRequest is what the memory account of a connection counts for one request: the bytes of a message that was
// copied, and whether the request runs. Memory shared with the peer is not counted. A request in place holds no memory.
// It counts only if it waits, or if another thread reads the connection meanwhile.
//
// The functions take the account of the connection; null: nothing is counted.
//
// Threads: one at a time, except for begin_run().
#pragma once

#include <atomic>
#include <cstddef>

#include "orb/transport/memory_budget.h"

namespace corelane::core {

class CountedRequest {
 public:
  using MemoryAccount = transport::MemoryAccount;

  // Counts the bytes until end().
  void add(MemoryAccount* account, std::size_t bytes) noexcept {
    bytes_ = bytes;
    if (account != nullptr) account->add_request(bytes);
  }
  // Does the same for a message that has just become complete; see MemoryAccount::turn_into_request().
  void add_completed(MemoryAccount* account, std::size_t bytes) noexcept {
    bytes_ = bytes;
    if (account != nullptr) account->turn_into_request(bytes);
  }
  // Counts the request among those that run until end(), unless it counts already. Thread: the one that runs the
  // request, or the one that detaches it.
  void begin_run(MemoryAccount* account) noexcept {
    // relaxed: it decides which thread is first; the account orders nothing by it
    if (account != nullptr && !runs_.exchange(true, std::memory_order_relaxed)) account->begin_run();
  }
  // Counts nothing any more. Does nothing if nothing is counted.
  void end(MemoryAccount* account) noexcept {
    const bool runs = runs_.load(std::memory_order_relaxed);  // relaxed: no other thread counts the request any more
    if (!runs && bytes_ == 0) return;
    if (account != nullptr && runs) account->end_run();
    if (account != nullptr && bytes_ > 0) account->remove_request(bytes_);
    runs_.store(false, std::memory_order_relaxed);  // relaxed: as above
    bytes_ = 0;
  }

 private:
  std::size_t bytes_ = 0;
  std::atomic<bool> runs_{false};
};

}  // namespace corelane::core
