// ReadGate holds back what a reactor may not do yet for a connection, until the budget is back: reading it, and sending
// its backlog. It lets everything pass until limit() is called. When the budget is back, each peer gets a turn, one
// after another. So do the connections of each peer.
//
// A turn is what the reactor does for one connection without interruption. It lasts from begin() to charge(). A turn is
// charged to the account of the connection whose bytes it moved. So is the work before it: the return from the kernel,
// and the reactor's own bookkeeping. That way counts as at_most_before_a_turn at most. What else the thread did since
// the last turn (timers, posted functions) belongs to no connection; platform.budget covers it.
//
// Threads: the reactor's, except for deferred().
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

  // The bytes that one turn moves while everything is limited. A turn is not interrupted.
  static constexpr std::size_t bytes_per_turn = 4096;
  // The bytes that one read may bring while what is unforeseen is limited, enough for some requests. If more is missing
  // of one message, it may bring that.
  static constexpr std::size_t bytes_of_messages = 512;
  static constexpr Duration at_most_before_a_turn = std::chrono::microseconds{5};

  explicit ReadGate(Reactor::Impl& reactor) : reactor_(reactor) {}

  void limit(const sched::Reservation& reservation, ReadLimit what,
             sched::ReaderServer kind = sched::ReaderServer::sporadic) noexcept;
  bool limits(ReadLimit what) const noexcept { return budget_ && budget_->limit() == what; }
  // Returns how many bytes the next read may bring. `rest`: the bytes missing of the current message; 0: none is
  // incomplete.
  std::size_t bytes_per_read(std::size_t rest) const noexcept;
  // Returns whether a turn that has read once is over, given what it has noted (see ReadTurn).
  bool is_over(const ReadAccount& account, const ReadTurn& turn) const noexcept {
    return budget_ && !(budget_->is_exempt(account) && !turn.unforeseen);
  }

  // Returns whether a turn would have to wait for the budget of what is unforeseen.
  bool has_to_wait(ReadAccount& account) noexcept;

  // Begins a turn, or returns true if the handler has to wait for it. Then its on_turn() is called when it may begin.
  bool defers(ReadAccount& account, const std::weak_ptr<ReadinessHandler>& handler, Turn turn);
  // Ends the turn that began last. Does nothing if none began because the connection had ended.
  void charge(ReadAccount& account, const ReadTurn& turn = {}) noexcept;

  // Returns how often something had to wait. Thread: any.
  std::uint64_t deferred() const noexcept { return deferred_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  struct Waiting {
    std::weak_ptr<ReadinessHandler> handler;
    Turn turn;
    void call() const;
  };
  // What waits, in turn by peer. Bound of its functions: the peers.
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
  Queue& queue_of(ReadShare share) noexcept { return queues_[static_cast<std::size_t>(share)]; }
  void wait(Time until, ReadShare share);
  void wait(Time until, const Waiting& waiting);
  void resume(ReadShare share);
  void begin(Time now, const ReadAccount& account) noexcept;

  Reactor::Impl& reactor_;
  std::optional<ReadBudget> budget_;
  std::array<Queue, 2> queues_;
  Duration charged_{};  // the thread's processor time at the end of the last turn
  Duration begun_{};    // the processor time from which on this turn is paid, if that clock is read
  Time begun_at_{};     // otherwise the clock counts, which takes no system call
  bool timed_ = false;  // by processor time
  bool in_turn_ = false;
  bool resuming_ = false;  // the current turn comes from a queue
  std::atomic<std::uint64_t> deferred_{0};
};

}  // namespace corelane::transport
