// MemoryBudget limits the memory that peers make this process hold, over all connections together:
// - half-received messages,
// - requests that wait or run,
// - bytes that wait for a peer to take them,
// - memory by which channels have grown.
//
// Each peer (an address, or a user of this host) has a share. While a peer has used up its share, its connections that
// hold more than 64 KiB are not read further. Half messages may use half of the share. Beyond that, each connection has
// an equal part of it. When the whole budget is used up, all peers have equal shares. Reading continues when some of
// the peer's requests have ended, or it has taken what waits for it.
//
// Memory that does not become free by waiting is freed by ending a connection, while another one waits for room. Only a
// connection of a peer beyond its share is ended, or an elected one (see below). First comes one over which no request
// has ever come, then the one with most bytes that have not moved for `patience`.
//
// All connections of a user are one peer. If too many replies wait for the user, a process of the user is still read on
// two conditions: few replies wait for that process itself, and the budget has room.
//
// Half messages do not become less by waiting. So one connection of each peer may be elected: it goes on beyond its
// part until its message is complete. Connections over which a request has come before are elected first, then the one
// with the longest half, then the oldest. A connection is elected if no request of the peer runs, if all that run wait
// for calls of their own, if there is room, or after `patience`. So each peer may hold one message more than its share.
// Several peers may have an elected connection as long as the memory in use, with the whole messages of the elected
// ones, is at most twice the budget. When the whole budget is used up, peers take turns.
//
// A channel may grow while its peer holds no more than its share, and all peers no more than the budget. Both sums
// include the memory of channels. Channel memory does not stop reading, because a request cannot go on without memory,
// but a channel can: it sends in pieces. Connections that cannot be kept waiting, and channels of tasks, may exceed the
// bounds; they are counted.
//
// Threads: any; one lock. Reading the first 64 KiB of a connection needs no lock while there is room.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/os/pi_mutex.h"
#include "orb/transport/memory_progress.h"
#include "orb/transport/memory_wait.h"

namespace corelane::transport {

class MemoryAccount;

// MemoryHolder is a connection as the budget sees it. Thread: any, without a lock.
class MemoryHolder {
 public:
  // Called when there may be room: ask MemoryAccount::may_read() again.
  virtual void on_room() noexcept = 0;
  // Called when the connection has to end, so that others have room. Its peer has taken nothing, or has sent no more of
  // a message.
  enum class Stalled : std::uint8_t { takes_nothing, sends_nothing };
  virtual void close_stalled(Stalled why) noexcept = 0;

 protected:
  ~MemoryHolder() = default;
};

class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  struct Bounds {
    std::size_t all = 0;
    std::size_t of_peer = 0;       // a peer that holds more is not read
    std::size_t message = 0;       // the longest message
    std::size_t free = 64 * 1024;  // of each connection; not counted
    Duration patience = std::chrono::seconds{1};
  };
  // Returns bounds that give a peer a quarter, and one message at least.
  static Bounds bounds_of(std::size_t all, std::size_t message, Duration patience) noexcept {
    return {.all = all, .of_peer = std::max(all / 4, message), .message = message, .patience = patience};
  }

  using Clock = Time (*)() noexcept;
  // `now`: a test may have a clock of its own.
  explicit MemoryBudget(const Bounds& bounds, Clock now = &os::now) noexcept : bounds_(bounds), now_(now) {}

  // Opens an account for a connection of that peer, and of that process of the peer; 0: not known. std::bad_alloc.
  std::shared_ptr<MemoryAccount> open(std::uint32_t peer, std::int32_t process = 0);

  const Bounds& bounds() const noexcept { return bounds_; }
  // Returns what all peers hold beyond the free bytes, without the memory of channels.
  std::size_t used() const noexcept;
  // Returns the memory by which all channels have grown.
  std::size_t channels() const noexcept;

 private:
  friend class MemoryAccount;
  struct Peer {
    std::size_t accounts = 0;
    std::size_t holders = 0;  // accounts that hold something
    std::size_t held = 0;
    std::size_t halves = 0;  // part of `held`
    std::size_t backlogs = 0;
    std::size_t channels = 0;
    MemoryAccount* elected = nullptr;   // continues beyond the share until its message is complete
    MemoryAccount* first = nullptr;     // see find_firsts()
    std::atomic<bool> is_tight{false};  // may_read() has to check in detail
  };
  using Peers = std::map<std::uint32_t, Peer>;
  using Accounts = MemoryWait::Queue;

  bool end_election(MemoryAccount& account) noexcept CORELANE_REQUIRES(mutex_);
  void count(MemoryAccount& account) noexcept CORELANE_REQUIRES(mutex_);
  bool has_used_share(const Peer& peer) const noexcept CORELANE_REQUIRES(mutex_);
  bool is_beyond_share(const Peer& peer) const noexcept CORELANE_REQUIRES(mutex_);
  bool has_part_left(const MemoryAccount& account) const noexcept CORELANE_REQUIRES(mutex_);
  std::size_t projected_use() const noexcept CORELANE_REQUIRES(mutex_);
  bool has_room_to_elect() const noexcept CORELANE_REQUIRES(mutex_);
  bool has_backlog_to_spare(const MemoryAccount& account) const noexcept CORELANE_REQUIRES(mutex_);
  bool may_read(MemoryAccount& account, Time now, MemoryAccount*& next) noexcept CORELANE_REQUIRES(mutex_);
  MemoryAccount* first_in_turn(MemoryAccount& asking) noexcept CORELANE_REQUIRES(mutex_);
  void elect(MemoryAccount& account, Time now) noexcept CORELANE_REQUIRES(mutex_);
  void end_idle_elections(Time now) noexcept CORELANE_REQUIRES(mutex_);
  bool makes_progress(const Peer& peer) const noexcept CORELANE_REQUIRES(mutex_);
  static bool takes_part(const MemoryAccount& account) noexcept;
  static std::pair<bool, std::size_t> rank_in_peer(const MemoryAccount& account) noexcept;
  void find_firsts(const MemoryAccount& asking) noexcept CORELANE_REQUIRES(mutex_);
  bool has_room_without_waiting(const Peer& peer, std::size_t bytes) const noexcept CORELANE_REQUIRES(mutex_);
  MemoryAccount* stalled(const MemoryAccount& asking, Time now) noexcept CORELANE_REQUIRES(mutex_);
  std::shared_ptr<MemoryHolder> take_from_stalled(const MemoryAccount& asking, Time now,
                                                  MemoryHolder::Stalled& why) noexcept CORELANE_REQUIRES(mutex_);
  void end_wait(MemoryAccount& account) noexcept CORELANE_REQUIRES(mutex_);
  void forget_wait(MemoryAccount& account) noexcept CORELANE_REQUIRES(mutex_);

  void wake(const Peer* peer) noexcept;
  bool wake_elsewhere() noexcept;
  void wake_here(const Peer* peer) noexcept;
  void close(MemoryAccount& account) noexcept;

  const Bounds bounds_;
  const Clock now_;
  std::atomic<bool> is_tight_{false};  // see Peer
  mutable os::PiMutex mutex_;
  Peers peers_ CORELANE_GUARDED_BY(mutex_);
  Accounts accounts_ CORELANE_GUARDED_BY(mutex_);  // oldest first
  std::size_t used_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::size_t channels_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::size_t holders_ CORELANE_GUARDED_BY(mutex_) = 0;  // peers that hold something
  std::size_t elected_ CORELANE_GUARDED_BY(mutex_) = 0;  // peers that have an elected connection
  std::size_t held_by_elected_ CORELANE_GUARDED_BY(mutex_) = 0;
  // The connections that wait for room, in the order of MemoryWait::order(). last_wait_ numbers them.
  Accounts waiting_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t last_wait_ CORELANE_GUARDED_BY(mutex_) = 0;
  // This budget, while an ordinary thread is to wake the waiting connections.
  std::shared_ptr<MemoryBudget> woken_elsewhere_ CORELANE_GUARDED_BY(mutex_);
};

// MemoryAccount counts what one connection holds.
class MemoryAccount {
 public:
  // std::bad_alloc.
  MemoryAccount(std::shared_ptr<MemoryBudget> budget, MemoryBudget::Peers::iterator peer, std::int32_t process)
      : budget_(std::move(budget)), peer_(peer), process_(process) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;
  ~MemoryAccount();

  // Registers the holder: from now on it may have to wait or to end.
  void belongs_to(std::weak_ptr<MemoryHolder> holder) noexcept;

  // Returns whether the connection may be read. If false, MemoryHolder::on_room() is called when it is worth asking
  // again. Ask again also after Bounds::patience. May end other connections.
  bool may_read() noexcept;

  // Returns whether may_read() may return false. Takes no lock.
  bool is_tight() const noexcept;
  // Call it when the bytes that may_read() refused are gone, or never existed: the connection waits for its peer.
  void stop_waiting() noexcept;

  // Sets how many bytes of half messages it holds from now on. Returns false if it had to end for others. Thread: the
  // reader's.
  [[nodiscard]] bool hold_half(std::size_t bytes) noexcept;
  // For a connection that must be read anyway: returns whether it may keep its half. May end other connections.
  bool may_keep_half() noexcept;
  // Counts the bytes of a request until it has ended.
  void add_request(std::size_t bytes) noexcept;
  // Does the same for a message that has just become complete. What was counted as its half now counts as the request,
  // so that no room appears in between. Thread: the reader's.
  void turn_into_request(std::size_t bytes) noexcept;
  // Notes a request that takes no memory of its own.
  void note_request() noexcept;
  void remove_request(std::size_t bytes) noexcept;
  // Returns whether counted requests are in progress.
  bool has_requests() const noexcept;
  // Note when a request begins and ends running, and when it begins and ends waiting for a call of its own. Call them
  // in pairs.
  void begin_run() noexcept { running_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: see makes_progress()
  void end_run() noexcept { running_.fetch_sub(1, std::memory_order_relaxed); }    // relaxed: see makes_progress()
  void begin_wait() noexcept;
  void end_wait() noexcept { suspended_.fetch_sub(1, std::memory_order_relaxed); }  // relaxed: see makes_progress()

  // Sets how many bytes wait for the peer from now on. `was_taken`: the peer has taken some. If that makes room, call
  // tell_others() afterwards without any lock.
  void hold_backlog(std::size_t bytes, bool was_taken) noexcept;
  void tell_others() noexcept;
  // Counts so many bytes by which the connection's channel grows. Returns false if it may not grow. `is_promised`: it
  // may grow in any case.
  [[nodiscard]] bool grow_channel(std::size_t bytes, bool is_promised) noexcept;
  void shrink_channel(std::size_t bytes) noexcept;
  // For a sender that may not wait: returns whether so many more bytes may be kept for the peer.
  bool has_room(std::size_t bytes) const noexcept;

 private:
  friend class MemoryBudget;
  std::size_t messages() const noexcept {
    // relaxed: a thread that changes them counts afterwards, with the lock
    return messages_.load(std::memory_order_relaxed);
  }
  bool has_sent_request() const noexcept {
    return has_sent_request_.load(std::memory_order_relaxed);  // relaxed: see add_request()
  }
  bool add(std::size_t bytes) noexcept;

  const std::shared_ptr<MemoryBudget> budget_;
  const MemoryBudget::Peers::iterator peer_;
  const std::int32_t process_;

  std::atomic<std::size_t> messages_{0};  // half messages and requests
  std::atomic<std::size_t> half_{0};
  std::atomic<int> running_{0}, suspended_{0};
  std::atomic<bool> has_sent_request_{false};
  std::atomic<bool> made_room_{false};   // tell_others() must be called
  std::atomic<bool> is_elected_{false};  // changes under the lock
  std::atomic<bool> waits_hint_{false};  // MemoryWait::is_refused()

  // Guarded by the budget's mutex.
  MemoryBudget::Accounts::iterator place_{};
  std::weak_ptr<MemoryHolder> holder_;
  std::size_t counted_ = 0;
  std::size_t counted_half_ = 0;  // part of counted_
  std::size_t backlog_ = 0;
  std::size_t channel_ = 0;
  MemoryProgress progress_;
  // may_read() has refused it. Only may_read() or stop_waiting() ends this, not on_room().
  MemoryWait wait_{this};
  bool was_evicted_ = false;
};

}  // namespace corelane::transport
