// ReadGate: what a reactor may not do yet for a connection waits here, in order, until the budget is back: reading it,
// and sending it what waits in its backlog. Open until limit() is called.
//
// A turn is what the reactor does for one connection without a break. It lasts from begin() to charge(), and is paid
// from the account of the connection whose bytes it moved, with the way to it: the return from the kernel and the
// reactor's own bookkeeping. That way counts as at_most_before_a_turn, since what else the thread did since the last
// turn is nobody's: timers and what was posted to it. platform.budget covers those.
//
// Threads: the reactor's, but for deferred().
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_budget.h"

namespace corelane::transport {

class ReadGate {
 public:
  using Turn = ReadinessHandler::Turn;

  static constexpr std::size_t bytes_per_turn = 4096;  // while there is a limit: a turn is not interrupted
  static constexpr Duration at_most_before_a_turn = std::chrono::microseconds{5};

  explicit ReadGate(Reactor::Impl& reactor) : reactor_(reactor) {}

  void limit(const sched::Reservation& reservation) noexcept;
  bool is_limited() const noexcept { return budget_.has_value(); }

  // Begins a turn, unless the handler has to wait for it: its on_turn() will be called when it may.
  bool defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler, Turn turn);
  // Ends the turn that began last; nothing where none began, since the connection had ended.
  void charge(ReadAccount& account) noexcept;

  // How often something had to wait. Any thread.
  std::uint64_t deferred() const noexcept { return deferred_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  struct Waiting {
    std::weak_ptr<ReadinessHandler> handler;
    Turn turn;
    void call() const;
  };
  using Queue = std::deque<Waiting>;
  Queue& queue_of(ReadPayer payer) noexcept { return queues_[static_cast<std::size_t>(payer)]; }
  void wait(Time until, ReadPayer payer);
  void wait(Time until, const Waiting& waiting);
  void resume(ReadPayer payer);
  void begin() noexcept;

  Reactor::Impl& reactor_;
  std::optional<ReadBudget> budget_;
  std::array<Queue, 2> queues_;
  Duration charged_{};  // the thread's processor time when the last turn ended
  Duration begun_{};    // and from when on this one is paid
  bool in_turn_ = false;
  bool resuming_ = false;  // whose turn it is comes from a queue
  std::atomic<std::uint64_t> deferred_{0};
};

}  // namespace corelane::transport
