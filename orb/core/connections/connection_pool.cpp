#include "orb/core/connections/connection_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <unordered_map>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/base/thread_value.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"

namespace corelane::core {
namespace {

using errors::deadline_passed;
using errors::orb_destroyed;

// How long a thread tries to make a further connection. Then it shares one.
constexpr std::chrono::milliseconds patience_for_further{250};
// For how long no further connection is tried after the server refused one.
constexpr std::chrono::seconds between_growths{10};
// For how long an endpoint that did not answer is tried after all others.
constexpr std::chrono::seconds silence{10};

std::uint64_t next_pool_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only uniqueness counts
}

// ThreadConnections holds the thread's connection of each pool.
class ThreadConnections {
 public:
  struct Entry {
    std::weak_ptr<ClientConnection> connection{};
    bool ordered = false;  // what the thread has sent over it may still be on its way

    Entry() = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { take(nullptr); }
    // Makes this the thread's connection, in place of the one before. Null: none.
    void take(const std::shared_ptr<ClientConnection>& taken) noexcept {
      // relaxed: numbers by which a pool chooses
      if (const auto before = connection.lock()) before->threads().fetch_sub(1, std::memory_order_relaxed);
      if (taken) taken->threads().fetch_add(1, std::memory_order_relaxed);
      connection = taken;
      ordered = false;
    }
  };

  // Returns null if the thread has no connection of that pool.
  Entry* find(std::uint64_t pool) noexcept {
    if (pool == last_pool_) return last_;
    const auto found = entries_.find(pool);
    if (found == entries_.end()) return nullptr;
    last_pool_ = pool;
    return last_ = &found->second;
  }
  // Finds or makes the entry. Throws std::bad_alloc.
  Entry& make(std::uint64_t pool) {
    if (Entry* const known = find(pool)) return *known;
    if (entries_.size() >= sweep_at_) sweep();
    last_ = &entries_[pool];
    last_pool_ = pool;
    return *last_;
  }

 private:
  // Removes entries whose connection is gone, so that a thread that calls many servers in turn keeps few entries.
  void sweep() {
    std::erase_if(entries_, [](const auto& entry) { return entry.second.connection.expired(); });
    sweep_at_ = std::max(least_sweep, 2 * entries_.size());
    last_pool_ = 0;
  }

  static constexpr std::size_t least_sweep = 32;
  std::unordered_map<std::uint64_t, Entry> entries_;
  std::size_t sweep_at_ = least_sweep;
  std::uint64_t last_pool_ = 0;  // the pool of last_; no pool has id 0
  Entry* last_ = nullptr;
};

// Makes this the calling thread's connection. Does nothing in a thread that is about to end.
void give_to_thread(std::uint64_t pool, const std::shared_ptr<ClientConnection>& connection, CallOrder order) {
  auto* const kept = thread_value<ThreadConnections>();
  if (kept == nullptr) return;
  ThreadConnections::Entry& entry = kept->make(pool);
  if (entry.connection.lock() != connection) entry.take(connection);
  entry.ordered = entry.ordered || order == CallOrder::ordered;
}

}  // namespace

ConnectionPool::ConnectionPool(transport::Endpoint endpoint, const giop::Limits& limits, std::size_t most)
    : id_(next_pool_id()), endpoint_(std::move(endpoint)), limits_(limits), most_(std::max<std::size_t>(most, 1)) {}

ConnectionPool::~ConnectionPool() = default;

[[gnu::hot]] ConnectionPool::ConnectionPtr ConnectionPool::of_thread(Time now, CallOrder order) noexcept {
  auto* const kept = thread_value<ThreadConnections>();
  ThreadConnections::Entry* const entry = kept != nullptr ? kept->find(id_) : nullptr;
  if (entry == nullptr) return nullptr;
  ConnectionPtr found = entry->connection.lock();
  if (!found || !found->usable(now)) return nullptr;
  if (order == CallOrder::ordered) {
    entry->ordered = true;
  } else if (!entry->ordered && found->busy()) {
    if (auto other = not_busy()) {
      entry->take(other);
      return other;
    }
  }
  return found;
}

bool ConnectionPool::keeps_thread() const noexcept {
  auto* const kept = thread_value<ThreadConnections>();
  const ThreadConnections::Entry* const entry = kept != nullptr ? kept->find(id_) : nullptr;
  if (entry == nullptr || !entry->ordered) return false;
  const ConnectionPtr connection = entry->connection.lock();
  return connection && connection->open();
}

// Returns a connection that no call uses now; null if there is none.
ConnectionPool::ConnectionPtr ConnectionPool::not_busy() noexcept {
  const os::LockGuard lock(mutex_);
  for (const ConnectionPtr& connection : connections_)  // bound: client.connections
    if (!connection->busy() && connection->open()) return connection;
  return nullptr;
}

bool ConnectionPool::connected() const noexcept {
  const os::LockGuard lock(mutex_);
  return std::any_of(connections_.begin(), connections_.end(), [](const auto& c) { return c->open(); });
}

bool ConnectionPool::failed() const noexcept {
  const os::LockGuard lock(mutex_);
  return failed_;
}

bool ConnectionPool::silent(Time now) const noexcept {
  const os::LockGuard lock(mutex_);
  return now < silent_until_;
}

std::vector<ConnectionPool::ConnectionPtr> ConnectionPool::connections() const {
  const os::LockGuard lock(mutex_);
  return connections_;
}

std::size_t ConnectionPool::waiting() const noexcept {
  const os::LockGuard lock(mutex_);
  std::size_t count = 0;
  for (const auto& attempt : attempts_) count += attempt->waiting.size();
  return count;
}

bool ConnectionPool::tidy() {
  std::vector<ConnectionPtr> broken;  // destroyed after the lock is released
  const os::LockGuard lock(mutex_);
  broken = take_broken();
  return connections_.empty() && attempts_.empty();
}

// Removes the broken connections. Destroy the result without the lock.
std::vector<ConnectionPool::ConnectionPtr> ConnectionPool::take_broken() {
  const auto kept =
      std::partition(connections_.begin(), connections_.end(), [](const ConnectionPtr& c) { return c->open(); });
  std::vector<ConnectionPtr> broken{std::move_iterator(kept), std::move_iterator(connections_.end())};
  connections_.erase(kept, connections_.end());
  return broken;
}

ConnectionPool::ConnectionPtr ConnectionPool::without_thread() const noexcept {
  for (const ConnectionPtr& connection : connections_)
    if (connection->threads().load(std::memory_order_relaxed) == 0) return connection;  // relaxed: a hint
  return nullptr;
}

ConnectionPool::ConnectionPtr ConnectionPool::least_shared() const noexcept {
  // relaxed: a hint
  const auto threads = [](const ConnectionPtr& c) { return c->threads().load(std::memory_order_relaxed); };
  const auto least = std::min_element(connections_.begin(), connections_.end(),
                                      [&](const auto& a, const auto& b) { return threads(a) < threads(b); });
  return least != connections_.end() ? *least : nullptr;
}

bool ConnectionPool::may_grow(Time now) const noexcept {
  return connections_.size() + attempts_.size() < most_ && now >= grows_from_;
}

// Null: no connection is being made.
std::shared_ptr<ConnectionPool::Attempt> ConnectionPool::least_awaited() const noexcept {
  const auto least = std::min_element(attempts_.begin(), attempts_.end(), [](const auto& a, const auto& b) {
    return a->waiting.size() < b->waiting.size();
  });
  return least != attempts_.end() ? *least : nullptr;
}

// Whether fewer threads would share the attempt's connection than share the best one that is there.
bool ConnectionPool::is_worth_waiting(const Attempt& attempt) const noexcept {
  const ConnectionPtr least = least_shared();
  // relaxed: a hint
  return !least || std::cmp_less(1 + attempt.waiting.size(), least->threads().load(std::memory_order_relaxed));
}

// Connecting is an attempt of this thread. The attempt ends at end(), or in the destructor after an exception.
class ConnectionPool::Connecting {
 public:
  // Reserves the place of the connection, so that end() allocates nothing and always wakes the threads that wait.
  // Throws std::bad_alloc.
  explicit Connecting(ConnectionPool& pool) CORELANE_REQUIRES(pool.mutex_)
      : pool_(pool), attempt_(std::make_shared<Attempt>()) {
    pool_.connections_.reserve(pool_.connections_.size() + pool_.attempts_.size() + 1);
    pool_.attempts_.push_back(attempt_);
  }
  Connecting(const Connecting&) = delete;
  Connecting& operator=(const Connecting&) = delete;
  ~Connecting() {
    if (!ended_) (void)end(errors::connect_failed);
  }

  // Ends the attempt and returns its outcome. That is orb_destroyed if the pool was closed meanwhile.
  Expected<ConnectionPtr> end(Expected<ConnectionPtr> outcome) noexcept {
    const os::LockGuard lock(pool_.mutex_);
    ended_ = true;
    std::erase(pool_.attempts_, attempt_);
    if (pool_.closed_) outcome = orb_destroyed;
    pool_.failed_ = !outcome && pool_.connections_.empty();
    if (!outcome && !pool_.connections_.empty()) pool_.grows_from_ = os::now() + between_growths;  // before others wake
    if (outcome) {
      // relaxed: a hint; other threads do not take the connection before this thread has it
      (*outcome)->threads().fetch_add(1, std::memory_order_relaxed);
      pool_.connections_.push_back(*outcome);
      pool_.silent_until_ = {};
    } else if (outcome.error().kind == ErrorKind::timeout) {
      pool_.silent_until_ = os::now() + silence;
    }
    pool_.finish(*attempt_, outcome);
    return *attempt_->outcome;
  }

 private:
  ConnectionPool& pool_;
  const std::shared_ptr<Attempt> attempt_;
  bool ended_ = false;
};

Expected<ConnectionPool::ConnectionPtr> ConnectionPool::acquire(transport::Transport& transport, Time deadline,
                                                                CallOrder order) {
  const Time now = os::now();
  if (auto found = of_thread(now, order)) return found;
  // Bound: the deadline. A round repeats if another thread ran out of its own time, or has made a connection.
  for (;;) {
    (void)tidy();
    os::UniqueLock lock(mutex_);
    if (closed_) return orb_destroyed;
    ConnectionPtr mine = without_thread();
    const bool may_connect = may_grow(now) && (!connections_.empty() || attempts_.empty());
    auto attempt = may_connect ? nullptr : least_awaited();
    if (!mine && !may_connect && !(attempt && is_worth_waiting(*attempt))) mine = least_shared();
    if (mine) {
      give_to_thread(id_, mine, order);
      lock.unlock();
      if (mine->usable(now)) return mine;
      continue;
    }
    if (attempt) {
      if (auto outcome = join(std::move(attempt), deadline)) return std::move(*outcome);
      continue;
    }
    const bool is_first = connections_.empty();
    Connecting making(*this);
    lock.unlock();
    auto made = connect(transport, is_first ? deadline : std::min(deadline, os::now() + patience_for_further), making);
    if (!made && !is_first) continue;  // no further connection could be made: share one
    if (!made) return made;
    give_to_thread(id_, *made, order);
    (*made)->threads().fetch_sub(1, std::memory_order_relaxed);  // relaxed: a hint; see Connecting::end()
    return made;
  }
}

// Makes a connection, and ends the attempt.
Expected<ConnectionPool::ConnectionPtr> ConnectionPool::connect(transport::Transport& transport, Time deadline,
                                                                Connecting& attempt) {
  auto stream = transport.connect(endpoint_, deadline);
  if (!stream) return attempt.end(stream.error());
  return attempt.end(ClientConnection::make(std::move(*stream), limits_, weak_from_this()));
}

// Waits for another thread's attempt, with the lock released. Returns its outcome, or nothing if this thread must look
// again, because another thread may try, or because there are connections that it can share.
std::optional<Expected<ConnectionPool::ConnectionPtr>> ConnectionPool::join(std::shared_ptr<Attempt> attempt,
                                                                            Time deadline) {
  os::Parker parker;
  attempt->waiting.push_back(&parker);
  bool woken = false;
  {
    const os::ReleasedLock released(mutex_);
    woken = parker.park(deadline);
  }
  if (!attempt->outcome) return std::erase(attempt->waiting, &parker), deadline_passed;
  if (*attempt->outcome || !connections_.empty()) return std::nullopt;
  if (attempt->outcome->error().kind != ErrorKind::timeout) return attempt->outcome;
  if (!woken) return deadline_passed;
  return std::nullopt;
}

// Ends the attempt and wakes the threads that wait for it. The lock is held, since a waiter takes it before it destroys
// its parker.
void ConnectionPool::finish(Attempt& attempt, Expected<ConnectionPtr> outcome) noexcept {
  if (attempt.outcome) return;
  attempt.outcome = std::move(outcome);
  for (os::Parker* waiter : std::exchange(attempt.waiting, {})) waiter->unpark();
}

std::vector<ConnectionPool::ConnectionPtr> ConnectionPool::close(Time deadline) {
  std::vector<ConnectionPtr> closing;
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
    closing.swap(connections_);
    for (const auto& attempt : std::exchange(attempts_, {})) finish(*attempt, orb_destroyed);
  }
  for (const ConnectionPtr& connection : closing) connection->close_when_sent(deadline);
  return closing;
}

// Removes the connection. A server that ends a connection before it has answered anything has enough connections, so no
// further one is tried for a while.
void ConnectionPool::on_broken(ClientConnection& connection, bool answered) noexcept {
  ConnectionPtr ending;  // destroyed after the lock is released
  const os::LockGuard lock(mutex_);
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const ConnectionPtr& c) { return c.get() == &connection; });
  if (found == connections_.end() || closed_) return;
  ending = std::move(*found);
  connections_.erase(found);
  if (!answered && !connections_.empty()) grows_from_ = os::now() + between_growths;
}

}  // namespace corelane::core
