// ReadGate: what a reactor may not read yet waits here, in order, and is read when the budget is back. Open until
// limit() is called.
//
// Threads: the reactor's, but for deferred().
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_budget.h"

namespace corelane::transport {

class ReadGate {
 public:
  static constexpr std::size_t bytes_per_turn = 4096;  // while reading is limited: a turn is not interrupted

  explicit ReadGate(Reactor::Impl& reactor) : reactor_(reactor) {}

  void limit(const sched::Reservation& reservation) noexcept;
  bool is_limited() const noexcept { return budget_.has_value(); }

  // Whether the handler's descriptor is not to be read now; its on_read_turn() will be called when it is.
  bool defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler);
  // What the thread has used since the last charge was for this one.
  void charge(ReadAccount& account) noexcept;

  // How often something readable had to wait. Any thread.
  std::uint64_t deferred() const noexcept { return deferred_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  using Queue = std::deque<std::weak_ptr<ReadinessHandler>>;
  Queue& queue_of(ReadPayer payer) noexcept { return queues_[static_cast<std::size_t>(payer)]; }
  void wait(Time until, ReadPayer payer);
  void wait(Time until, const std::weak_ptr<ReadinessHandler>& handler);
  void resume(ReadPayer payer);

  Reactor::Impl& reactor_;
  std::optional<ReadBudget> budget_;
  std::array<Queue, 2> queues_;
  Duration charged_{};     // the thread's processor time at the last charge
  bool resuming_ = false;  // whose turn it is comes from a queue
  std::atomic<std::uint64_t> deferred_{0};
};

}  // namespace corelane::transport
