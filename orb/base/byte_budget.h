// ByteBudget: bytes that many may hold together, and the share that one of them holds. For what peers make a process
// keep, half received messages and bytes that wait for them: a peer chooses how many connections it opens.
//
// Threads: a budget any; a share its owner's. Nothing blocks: what is not there is refused.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace corelane {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes) noexcept : limit_(bytes) {}

  // All of it or nothing.
  bool take(std::size_t bytes) noexcept {
    std::size_t used = used_.load(std::memory_order_relaxed);  // relaxed: the exchange below checks it
    do {
      if (bytes > limit_ - used) return false;
      // relaxed: a count; nothing is published by it
    } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void give(std::size_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }  // relaxed: as in take()

  std::size_t used() const noexcept { return used_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  const std::size_t limit_;
  std::atomic<std::size_t> used_{0};
};

// What one party holds of a budget, until destruction. Without a budget everything is granted.
class BudgetShare {
 public:
  explicit BudgetShare(std::shared_ptr<ByteBudget> budget = nullptr) noexcept : budget_(std::move(budget)) {}
  BudgetShare(BudgetShare&& other) noexcept : budget_(std::move(other.budget_)), held_(std::exchange(other.held_, 0)) {}
  BudgetShare& operator=(BudgetShare&&) = delete;
  ~BudgetShare() { (void)hold(0); }

  // Holds `bytes` from here on instead of what it held. false, and nothing changed, when the budget has not so many
  // left; holding less never fails.
  [[nodiscard]] bool hold(std::size_t bytes) noexcept {
    if (!budget_ || bytes == held_) return true;
    if (bytes > held_ && !budget_->take(bytes - held_)) return false;
    if (bytes < held_) budget_->give(held_ - bytes);
    held_ = bytes;
    return true;
  }

 private:
  std::shared_ptr<ByteBudget> budget_;
  std::size_t held_ = 0;
};

}  // namespace corelane
