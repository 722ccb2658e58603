// Turn is the right to read one connection. Exactly one holder has it. It is free while the connection waits in an
// epoll set, or while an idle thread watches it. While the holder runs a servant, a monitor can take the turn and give
// it to another thread. So a long servant does not stop the reading of its connection.
//
//                      ┌──begin_wait()──▶ waiting ──end_wait() == true──▶ held
//   free ──claim()──▶ held ──begin_upcall()──▶ upcall ──end_upcall() is true──▶ held ──release()──▶ free
//                                                │
//                                                └──take_over(number)──▶ held, by the monitor; end_upcall() == false
//
// A thread that ends the connection may interrupt a holder that waits for bytes: then end_wait() returns false.
//
// Threads: claim(), interrupt() and take_over(): any; the other functions: the holder. What one holder did is visible
// to the next.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::dispatch {

class Turn {
 public:
  // The number of one upcall of this connection; never used again.
  using Upcall = std::uint64_t;
  static constexpr Upcall no_upcall = 0;

  // Takes the turn if it is free. The first holder is the thread that made the connection.
  bool claim() noexcept {
    std::uint64_t expected = free_;
    // PAIR turn.free: acquire here <- release in release(). relaxed on failure: another thread reads
    return word_.compare_exchange_strong(expected, held_, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void release() noexcept {
    // PAIR turn.free: release here -> acquire in claim(). Publishes what this holder did with the connection.
    word_.store(free_, std::memory_order_release);
  }

  // Call it before the holder waits for bytes. At that time it must have no data of the connection that may not be
  // lost.
  void begin_wait() noexcept {
    // PAIR turn.wait: release here -> acquire in interrupt(). Publishes what this holder did with the connection.
    word_.store(waiting_, std::memory_order_release);
  }
  // Ends the wait. False: another thread has the turn, and ends the connection.
  bool end_wait() noexcept {
    std::uint64_t expected = waiting_;
    // relaxed: only this thread has touched the connection, or another thread has it
    return word_.compare_exchange_strong(expected, held_, std::memory_order_relaxed);
  }
  // Takes the turn from a holder that waits for bytes. True: the caller is the holder, and has to end the connection.
  bool interrupt() noexcept {
    std::uint64_t expected = waiting_;
    // PAIR turn.wait: acquire here <- release in begin_wait(). relaxed on failure: the connection is in use
    return word_.compare_exchange_strong(expected, held_, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // Call it before a servant runs; it is one store. Nothing of the connection, this object included, may be touched
  // until end_upcall() of that number has returned true.
  Upcall begin_upcall() noexcept {
    const Upcall upcall = ++last_;
    // PAIR turn.upcall: release here -> acquire in take_over(). Publishes which job runs, and what is read and not
    // served.
    word_.store(upcall, std::memory_order_release);
    return upcall;
  }
  // Ends the upcall. False: the turn was taken over.
  bool end_upcall(Upcall upcall) noexcept {
    // relaxed: only this thread has touched the connection; or another thread has it, and finish_detached() takes a
    // lock
    return word_.compare_exchange_strong(upcall, held_, std::memory_order_relaxed);
  }

  // Returns the upcall under way, for the monitor; no_upcall: there is none.
  Upcall upcall() const noexcept {
    const std::uint64_t word = word_.load(std::memory_order_relaxed);  // relaxed: take_over() checks it
    return word > waiting_ ? word : no_upcall;
  }
  // Takes the turn if that upcall is still under way. True: the caller is the holder.
  bool take_over(Upcall upcall) noexcept {
    // PAIR turn.upcall: acquire here <- release in begin_upcall(). relaxed on failure: the upcall has ended
    return word_.compare_exchange_strong(upcall, held_, std::memory_order_acquire, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint64_t free_ = 0, held_ = 1, waiting_ = 2;
  std::atomic<std::uint64_t> word_{held_};
  // Owner: the holder.
  std::uint64_t last_ = waiting_;
};

}  // namespace corelane::dispatch
