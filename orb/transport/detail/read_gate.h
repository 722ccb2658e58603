// ReadGate: what a reactor may not do yet for a connection waits here until the budget is back: reading it, and sending
// it what waits in its backlog. Open until limit() is called. When the budget is back each peer gets a turn, one after
// another, and so do the connections of each peer.
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
#include <list>
#include <memory>
#include <optional>

#include "orb/transport/detail/reactor_impl.h"
#include "orb/transport/detail/read_budget.h"

namespace corelane::transport {

class ReadGate {
 public:
  using Turn = ReadinessHandler::Turn;

  // A turn is not interrupted. While everything is limited it moves so many bytes.
  static constexpr std::size_t bytes_per_turn = 4096;
  // While what is unforeseen is limited, a read brings the rest of one message, or so many bytes: some requests.
  static constexpr std::size_t bytes_of_messages = 512;
  static constexpr Duration at_most_before_a_turn = std::chrono::microseconds{5};

  explicit ReadGate(Reactor::Impl& reactor) : reactor_(reactor) {}

  void limit(const sched::Reservation& reservation, ReadLimit what) noexcept;
  bool limits(ReadLimit what) const noexcept { return budget_ && budget_->limit() == what; }
  // How many bytes the next read may bring. `rest`: what is missing of the message under way; 0: none is under way.
  std::size_t bytes_per_read(std::size_t rest) const noexcept;
  // Whether a turn that has read once is over, with what it has noted (see ReadTurn).
  bool is_over(const ReadAccount& account, const ReadTurn& turn) const noexcept {
    return budget_ && !(budget_->is_exempt(account) && !turn.unforeseen);
  }

  // Whether a turn would have to wait for the budget of what is unforeseen.
  bool has_to_wait(ReadAccount& account) noexcept;

  // Begins a turn, unless the handler has to wait for it: its on_turn() will be called when it may.
  bool defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler, Turn turn);
  // Ends the turn that began last; nothing where none began, since the connection had ended.
  void charge(ReadAccount& account, const ReadTurn& turn = {}) noexcept;

  // How often something had to wait. Any thread.
  std::uint64_t deferred() const noexcept { return deferred_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  struct Waiting {
    std::weak_ptr<ReadinessHandler> handler;
    Turn turn;
    void call() const;
  };
  // What waits, a peer after the other. Bound of its functions: the peers.
  class Queue {
   public:
    bool empty() const noexcept { return peers_.empty(); }
    bool has_one() const noexcept { return peers_.size() == 1 && peers_.front().waiting.size() == 1; }
    void push(PeerId peer, const Waiting& waiting);
    Waiting pop() noexcept;

   private:
    struct Peer {
      PeerId peer;
      std::deque<Waiting> waiting;
    };
    std::list<Peer> peers_;
  };
  Queue& queue_of(ReadPayer payer) noexcept { return queues_[static_cast<std::size_t>(payer)]; }
  void wait(Time until, ReadPayer payer);
  void wait(Time until, const Waiting& waiting);
  void resume(ReadPayer payer);
  void begin(Time now, const ReadAccount& account) noexcept;

  Reactor::Impl& reactor_;
  std::optional<ReadBudget> budget_;
  std::array<Queue, 2> queues_;
  Duration charged_{};  // the thread's processor time when the last turn ended
  Duration begun_{};    // and from when on this one is paid, where that time is read
  Time begun_at_{};     // else the clock counts, which takes no system call
  bool timed_ = false;  // by the processor time
  bool in_turn_ = false;
  bool resuming_ = false;  // whose turn it is comes from a queue
  std::atomic<std::uint64_t> deferred_{0};
};

}  // namespace corelane::transport
