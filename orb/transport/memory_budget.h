// MemoryBudget: what peers make this process hold, all connections together: messages that are half received, requests
// that wait or run, bytes that wait for a peer to take them, and the memory by which channels have grown.
//
// Each peer (an address, or a user of this host) has a share. While a peer holds more than that, its connections are
// read no further, until some of its requests have ended or it has taken what waits for it. What does not become free
// by waiting ends: the connection that holds most, if its peer has sent no more of a message, or has taken nothing, for
// `patience`, while another one waits for room.
//
// A user's connections are one peer. If its backlogs exceed the share, its other processes are read on: those of which
// no more waits than an equal part of the share, as long as there is room for all.
//
// What the peer needs to get its requests done goes on: the first bytes of each connection count nowhere; and while no
// request of the peer runs, or those that run wait for calls of their own, the longest half goes on, or a request that
// belongs to such a call. So one message more than the share may be there for each peer.
//
// A channel may grow while its peer holds no more than its share, and all no more than the budget, the memory of their
// channels included. That memory keeps nobody from being read: a channel that may not grow goes on in pieces, while a
// request could not go on. So the requests and channels of connections that can be kept waiting hold twice the budget
// together, at most. Connections that are read all the same, and promised channels (those of tasks), may go beyond it;
// they are counted.
//
// Threads: any; one lock, which is not taken for the first bytes of a connection while there is room.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "orb/base/time.h"
#include "orb/os/pi_mutex.h"

namespace corelane::transport {

class MemoryAccount;

// A connection as the budget sees it. Thread: any, without a lock.
class MemoryHolder {
 public:
  // There may be room: MemoryAccount::may_read() is to be asked again.
  virtual void on_room() noexcept = 0;
  // The connection has to end, so that others have room: its peer has taken nothing, or has sent no more of a message.
  enum class Stalled : std::uint8_t { takes_nothing, sends_nothing };
  virtual void give_up(Stalled why) noexcept = 0;

 protected:
  ~MemoryHolder() = default;
};

class MemoryBudget : public std::enable_shared_from_this<MemoryBudget> {
 public:
  struct Bounds {
    std::size_t all = 0;
    std::size_t of_peer = 0;       // more than this, and it is not read
    std::size_t message = 0;       // the longest
    std::size_t free = 64 * 1024;  // of each connection; counts nowhere
    Duration patience = std::chrono::seconds{1};
  };
  // A peer gets a quarter, and one message at least.
  static Bounds bounds_of(std::size_t all, std::size_t message, Duration patience) noexcept {
    return {.all = all, .of_peer = std::max(all / 4, message), .message = message, .patience = patience};
  }

  explicit MemoryBudget(const Bounds& bounds) noexcept : bounds_(bounds) {}

  // For a connection of that peer, and of that process of it; 0: not known. std::bad_alloc.
  std::shared_ptr<MemoryAccount> open(std::uint32_t peer, std::int32_t process = 0);

  const Bounds& bounds() const noexcept { return bounds_; }
  // What all hold beyond what is free, but for channels.
  std::size_t used() const noexcept;
  // By which the channels of all have grown.
  std::size_t channels() const noexcept;

 private:
  friend class MemoryAccount;
  struct Peer {
    std::size_t accounts = 0;
    std::size_t holders = 0;  // of them, those that hold something
    std::size_t held = 0;
    std::size_t backlogs = 0;
    std::size_t channels = 0;
    MemoryAccount* elected = nullptr;   // goes on beyond the share until its message is whole
    std::atomic<bool> is_tight{false};  // may_read() has to look closer
  };
  using Peers = std::map<std::uint32_t, Peer>;
  using Accounts = std::list<MemoryAccount*>;

  // Under the lock.
  void end_election(MemoryAccount& account) noexcept;
  void count(MemoryAccount& account) noexcept;
  bool is_beyond_share(const Peer& peer) const noexcept;
  bool has_backlog_to_spare(const MemoryAccount& account) const noexcept;
  bool may_read(MemoryAccount& account, Time now) noexcept;
  bool makes_progress(const Peer& peer) const noexcept;
  bool is_first(const MemoryAccount& account) const noexcept;
  bool has_room_without_waiting(const Peer& peer, std::size_t bytes) const noexcept;
  MemoryAccount* stalled(const MemoryAccount& asking, Time now) noexcept;
  std::shared_ptr<MemoryHolder> take_from_stalled(const MemoryAccount& asking, Time now,
                                                  MemoryHolder::Stalled& why) noexcept;
  void end_wait(MemoryAccount& account) noexcept;
  void forget_wait(MemoryAccount& account) noexcept;

  void wake(const Peer* peer) noexcept;
  bool wake_elsewhere() noexcept;
  void wake_here(const Peer* peer) noexcept;
  void close(MemoryAccount& account) noexcept;

  const Bounds bounds_;
  std::atomic<bool> is_tight_{false};  // see Peer
  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  Peers peers_;
  Accounts accounts_;  // oldest first
  std::size_t used_ = 0;
  std::size_t channels_ = 0;
  std::size_t holders_ = 0;                        // peers that hold something
  std::size_t waiting_ = 0;                        // connections that wait for room
  std::uint64_t last_wait_ = 0;                    // numbers them
  std::shared_ptr<MemoryBudget> woken_elsewhere_;  // this, while an ordinary thread is to wake those that wait
};

// What one connection holds.
class MemoryAccount {
 public:
  MemoryAccount(std::shared_ptr<MemoryBudget> budget, MemoryBudget::Peers::iterator peer, std::int32_t process) noexcept
      : budget_(std::move(budget)), peer_(peer), process_(process) {}
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;
  ~MemoryAccount();

  // From here on it may have to wait or to end. Before that nothing is asked of it.
  void belongs_to(std::weak_ptr<MemoryHolder> holder) noexcept;

  // Whether the connection may be read. False: MemoryHolder::on_room() is called when it is worth asking again, and it
  // should be asked again after Bounds::patience. May end other connections.
  bool may_read() noexcept;

  // Whether may_read() may say no. Without a lock.
  bool is_tight() const noexcept;
  // What may_read() refused is not there any more, or never was: the connection waits for its peer.
  void stop_waiting() noexcept;

  // It holds so many bytes of half messages from here on. False: it had to end for others. Thread: the reader's.
  [[nodiscard]] bool hold_half(std::size_t bytes) noexcept;
  // For a connection that is read all the same: whether it may keep its half. May end other connections.
  bool may_keep_half() noexcept;
  // Of a request, until it has ended.
  void add_request(std::size_t bytes) noexcept;
  // The same of a message that has just become whole: what was counted as a half of it is the request's from here on,
  // so that there is no room in between. Thread: the reader's.
  void turn_into_request(std::size_t bytes) noexcept;
  // A request that takes no memory of its own.
  void note_request() noexcept;
  void remove_request(std::size_t bytes) noexcept;
  // Whether requests are under way that it counts.
  bool has_requests() const noexcept;
  // A request begins to run and to wait for a call of its own. Pairs.
  void begin_run() noexcept { running_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: see makes_progress()
  void end_run() noexcept { running_.fetch_sub(1, std::memory_order_relaxed); }    // relaxed: see makes_progress()
  void begin_wait() noexcept;
  void end_wait() noexcept { suspended_.fetch_sub(1, std::memory_order_relaxed); }  // relaxed: see makes_progress()

  // So many bytes wait for the peer from here on. `was_taken`: it has taken some. Where that makes room, tell_others()
  // is to follow without any lock.
  void hold_backlog(std::size_t bytes, bool was_taken) noexcept;
  void tell_others() noexcept;
  // The channel of the connection grows by so many bytes; false: it may not. `is_promised`: it may in any case.
  [[nodiscard]] bool grow_channel(std::size_t bytes, bool is_promised) noexcept;
  void shrink_channel(std::size_t bytes) noexcept;
  // For a sender that may not wait: whether so many bytes more may be kept for the peer.
  bool has_room(std::size_t bytes) const noexcept;

 private:
  friend class MemoryBudget;
  std::size_t messages() const noexcept {
    return messages_.load(std::memory_order_relaxed);  // relaxed: who changes them counts afterwards, with the lock
  }
  bool has_sent_request() const noexcept {
    return has_sent_request_.load(std::memory_order_relaxed);  // relaxed: see add_request()
  }
  bool add(std::size_t bytes) noexcept;

  const std::shared_ptr<MemoryBudget> budget_;
  const MemoryBudget::Peers::iterator peer_;
  const std::int32_t process_;

  std::atomic<std::size_t> messages_{0};  // half ones and requests
  std::atomic<std::size_t> half_{0};
  std::atomic<int> running_{0}, suspended_{0};
  std::atomic<bool> has_sent_request_{false};
  std::atomic<bool> made_room_{false};   // tell_others() is owed
  std::atomic<bool> is_elected_{false};  // changes with the lock
  std::atomic<bool> waits_hint_{false};  // waits_since_ is there

  // Guarded by the budget's mutex.
  MemoryBudget::Accounts::iterator place_{};
  std::weak_ptr<MemoryHolder> holder_;
  std::size_t counted_ = 0;
  std::size_t backlog_ = 0;
  std::size_t channel_ = 0;
  Time half_grew_at_{}, backlog_taken_at_{};
  std::uint64_t to_be_told_ = 0;  // by on_room(), in the order of these numbers; 0: not
  // Since when may_read() has refused it. on_room() does not end this, only may_read() or stop_waiting().
  Time waits_since_ = never;
  bool gave_way_ = false;
};

}  // namespace corelane::transport
