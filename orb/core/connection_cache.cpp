#include "orb/core/connection_cache.h"

#include <chrono>

#include "orb/base/minor.h"

namespace corelane::core {
namespace {
constexpr Error destroyed{ErrorKind::bad_inv_order, Completion::no, minor::orb_destroyed};
constexpr Error too_late{ErrorKind::timeout, Completion::no, minor::deadline_passed};
}  // namespace

// The turn to connect to one endpoint, one thread at a time.
class ConnectionCache::Turn {
 public:
  Turn(ConnectionCache& cache, Entry& entry, Time deadline) : cache_(cache), entry_(entry) {
    std::unique_lock lock(cache_.mutex_);
    const auto is_free = [&] { return !entry_.connecting; };
    if (deadline == never) {
      entry_.freed.wait(lock, is_free);
    } else if (!entry_.freed.wait_until(lock, std::chrono::steady_clock::time_point(deadline.time_since_epoch()),
                                        is_free)) {
      return;
    }
    mine_ = entry_.connecting = true;
  }
  ~Turn() {
    if (!mine_) return;
    const std::lock_guard lock(cache_.mutex_);
    entry_.connecting = false;
    entry_.freed.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  explicit operator bool() const noexcept { return mine_; }

 private:
  ConnectionCache& cache_;
  Entry& entry_;
  bool mine_ = false;
};

Expected<std::shared_ptr<ClientConnection>> ConnectionCache::acquire(transport::Transport& transport,
                                                                     const std::vector<transport::Endpoint>& endpoints,
                                                                     Time deadline) {
  Error error{ErrorKind::transient, Completion::no, minor::no_usable_profile};
  for (const transport::Endpoint& endpoint : endpoints) {  // bound: the profile's addresses
    auto connection = acquire_one(transport, endpoint, deadline);
    if (connection) return connection;
    error = connection.error();
  }
  return error;
}

Expected<std::shared_ptr<ClientConnection>> ConnectionCache::acquire_one(transport::Transport& transport,
                                                                         const transport::Endpoint& endpoint,
                                                                         Time deadline) {
  std::shared_ptr<Entry> entry;
  std::shared_ptr<ClientConnection> known;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return destroyed;
    auto at = entries_.find(endpoint);
    if (at == entries_.end()) at = entries_.emplace(endpoint, std::make_shared<Entry>()).first;
    entry = at->second;
    known = entry->connection;
  }
  if (known && known->usable()) return known;

  const Turn turn(*this, *entry, deadline);
  if (!turn) return too_late;
  {
    const std::lock_guard lock(mutex_);
    if (entry->connection != known) known = entry->connection;  // another thread was faster
  }
  if (known && known->usable()) return known;
  auto stream = transport.connect(endpoint, deadline);
  if (!stream) return stream.error();
  auto connection = std::make_shared<ClientConnection>(std::move(*stream), limits_);
  const std::lock_guard lock(mutex_);  // ends before the turn does
  if (closed_) return destroyed;
  entry->connection = connection;
  return connection;
}

void ConnectionCache::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (auto& [endpoint, entry] : entries_)
    if (entry->connection) entry->connection->close();
  entries_.clear();
}

std::size_t ConnectionCache::size() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [endpoint, entry] : entries_) count += entry->connection ? 1 : 0;
  return count;
}

}  // namespace corelane::core
