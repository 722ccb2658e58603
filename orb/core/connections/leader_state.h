// LeaderState says whether a thread leads a client's connection, which means that it reads for all, and whether the
// list of waiting calls (WaitingCalls) has entries. Leading is taken like a lock: a thread that finds neither leads
// alone, and its call is not in the list. Threads: any; set_listed() and clear_listed() with the list's lock.
#pragma once

#include <atomic>
#include <cstdint>

namespace corelane::core {

class LeaderState {
 public:
  // Returns whether a call that begins now would have to share the connection. A hint.
  bool is_busy() const noexcept { return bits_.load(std::memory_order_relaxed) != 0; }  // relaxed: a hint

  // Tries to lead alone. Returns false if another thread leads, or calls are in the list.
  bool lead_unlisted() noexcept {
    std::uint32_t nobody = 0;
    // PAIR client_connection.use: acquire here <- release in stop_unlisted() and stop(). This thread sees what the
    // leader before it has read. relaxed on failure: the call goes to the list, under its lock
    return bits_.compare_exchange_strong(nobody, led, std::memory_order_acquire, std::memory_order_relaxed);
  }
  // Tries to lead. Returns false if another thread leads.
  bool lead() noexcept {
    // seq_cst: as in stop_unlisted(), for ClientConnection::on_peer_end()
    return (bits_.fetch_or(led, std::memory_order_seq_cst) & led) == 0;
  }
  // Stops leading, unless calls are in the list; then it returns false, and the leader calls stop() with the list's
  // lock.
  bool stop_unlisted() noexcept {
    std::uint32_t own = led;
    // PAIR client_connection.use: release here -> acquire in lead_unlisted() and lead(). seq_cst: before the peer's end
    // is read, see ClientConnection::on_peer_end(). relaxed on failure: a call has come to the list; its lock orders
    // the rest
    return bits_.compare_exchange_strong(own, 0, std::memory_order_seq_cst, std::memory_order_relaxed);
  }
  void stop() noexcept {
    // PAIR client_connection.use: release here -> acquire in lead_unlisted() and lead(). seq_cst: as in stop_unlisted()
    bits_.fetch_and(~led, std::memory_order_seq_cst);
  }
  // relaxed: a leader wakes a successor under the list's lock when it stops
  bool is_led() const noexcept { return (bits_.load(std::memory_order_relaxed) & led) != 0; }

  void set_listed() noexcept {
    // PAIR client_connection.listed: release here -> acquire in has_listed().
    bits_.fetch_or(listed, std::memory_order_release);
  }
  void clear_listed() noexcept {
    bits_.fetch_and(~listed, std::memory_order_relaxed);  // relaxed: it only says that the list is empty
  }
  bool has_listed() const noexcept {
    // PAIR client_connection.listed: acquire here <- release in set_listed(). A call is listed before its request is
    // sent.
    return (bits_.load(std::memory_order_acquire) & listed) != 0;
  }

 private:
  // led: a thread reads, or is about to. listed: the list has entries.
  static constexpr std::uint32_t led = 1, listed = 2;

  std::atomic<std::uint32_t> bits_{0};
};

}  // namespace corelane::core
