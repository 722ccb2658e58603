#include "orb/core/connection_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/log.h"
#include "orb/os/thread.h"
#include "orb/transport/not_trusted.h"

namespace corelane::core {
namespace {

using transport::Endpoint;
using transport::EndpointKind;

using errors::deadline_passed;
using errors::orb_destroyed;
constexpr std::size_t most_announced = 1024;  // endpoints; with more they are all said once more

constexpr Error nowhere{ErrorKind::transient, Completion::no, minor::no_usable_profile};

// The share of the time left that the first of `endpoints` may take, so that a silent one hides no other.
Time share_of(Time deadline, std::size_t endpoints) noexcept {
  if (deadline == never) return never;
  return os::now() + os::left_until(deadline) / static_cast<Duration::rep>(endpoints);
}

bool is_unix(const Endpoint& endpoint) noexcept { return endpoint.kind == EndpointKind::unix_socket; }

bool names_channel(const Address& address) noexcept {
  return std::any_of(address.endpoints.begin(), address.endpoints.end(),
                     [](const Endpoint& endpoint) { return endpoint.kind == EndpointKind::channel; });
}

// As its file tells.
std::string unix_fault(const Endpoint& socket) {
  if (faccessat(AT_FDCWD, socket.path.c_str(), W_OK, AT_EACCESS) == 0) return "its Unix socket did not answer";
  if (errno == EACCES) return "its Unix socket is not for this user (endpoint.unix_mode of the server)";
  return std::string("its Unix socket: ") + std::strerror(errno);
}

}  // namespace

std::string why_text(const Endpoint& endpoint, const Address& address, bool channels) {
  const auto used = std::find(address.endpoints.begin(), address.endpoints.end(), endpoint);
  const auto failed = [&](EndpointKind kind) {
    return std::any_of(address.endpoints.begin(), used, [&](const Endpoint& before) { return before.kind == kind; });
  };
  std::string why(text_of(address.same_host)), faults;
  if (endpoint.kind != EndpointKind::channel && failed(EndpointKind::channel))
    faults = channels ? "no channel came about" : "client.channel is off";
  if (endpoint.kind == EndpointKind::tcp && failed(EndpointKind::unix_socket))
    faults += (faults.empty() ? "" : ", and ") + unix_fault(*std::find_if(address.endpoints.begin(), used, is_unix));
  if (endpoint.kind == EndpointKind::unix_socket && !names_channel(address))
    why += ", and the reference names no channel";
  return faults.empty() ? why : why + ", but " + faults;
}

std::string way_text(const Endpoint& endpoint, const Address& address, bool channels) {
  return (endpoint.kind == EndpointKind::tcp ? "calls over TCP to " : "calls over ") + to_string(endpoint) + ": " +
         why_text(endpoint, address, channels);
}

// The end of an attempt, whichever way it comes.
class ConnectionCache::Lead {
 public:
  Lead(ConnectionCache& cache, const Endpoint& endpoint, const std::shared_ptr<Attempt>& attempt)
      : cache_(cache), endpoint_(endpoint), attempt_(attempt) {}
  Lead(const Lead&) = delete;
  Lead& operator=(const Lead&) = delete;
  ~Lead() { (void)end(errors::connect_failed); }

  // The outcome that counts: the cache may have been closed meanwhile.
  Expected<ConnectionPtr> end(Expected<ConnectionPtr> outcome) {
    const std::lock_guard lock(cache_.mutex_);
    if (attempt_->outcome) return *attempt_->outcome;
    Entry& entry = cache_.entries_[endpoint_];
    entry.attempt.reset();
    if (outcome) entry.connection = *outcome;
    finish(*attempt_, outcome);
    return outcome;
  }

 private:
  ConnectionCache& cache_;
  const Endpoint& endpoint_;
  const std::shared_ptr<Attempt>& attempt_;
};

Expected<ConnectionCache::ConnectionPtr> ConnectionCache::acquire(transport::Transport& transport,
                                                                  const Address& address, Time deadline) {
  for (const Endpoint& endpoint : address.endpoints)  // bound: the profile's addresses
    if (auto known = usable_at(endpoint)) return known;
  const os::CancellationDelay delay;
  std::optional<Error> error;
  std::size_t left = address.endpoints.size();
  for (const Endpoint& endpoint : address.endpoints) {
    // Anybody may listen at a port, and nobody tells who does: it is no way around a socket that is a stranger's.
    const bool is_way_around = endpoint.kind == EndpointKind::tcp && error == transport::not_trusted;
    if (!takes(endpoint) || is_way_around) {
      --left;
      continue;
    }
    auto connection = acquire_one(transport, endpoint, share_of(deadline, left--));
    if (connection) {
      announce(endpoint, way_text(endpoint, address, channels_));
      return connection;
    }
    if (error != transport::not_trusted) error = connection.error();
  }
  return error.value_or(nowhere);
}

ConnectionCache::ConnectionPtr ConnectionCache::usable_at(const Endpoint& endpoint) {
  ConnectionPtr known;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(endpoint);
    if (entry != entries_.end()) known = entry->second.connection;
  }
  return known && known->usable() ? known : nullptr;
}

Expected<ConnectionCache::ConnectionPtr> ConnectionCache::acquire_one(transport::Transport& transport,
                                                                      const Endpoint& endpoint, Time deadline) {
  ConnectionPtr broken;
  // Bound: the deadline; a round is repeated when another thread ran out of its own time, or for a newer connection.
  for (;;) {
    os::Parker parker;
    const auto place = enter(endpoint, broken, parker);
    if (!place) return place.error();
    if (place->leads) return lead(transport, endpoint, place->attempt, deadline);
    if (place->known) {
      if (place->known->usable()) return place->known;
      broken = place->known;
    } else if (auto outcome = join(*place->attempt, parker, deadline)) {
      return std::move(*outcome);
    }
  }
}

// What is broken goes when the next connection is made: servers come back at other endpoints.
std::vector<ConnectionCache::ConnectionPtr> ConnectionCache::take_broken() {
  std::vector<ConnectionPtr> broken;
  for (auto at = entries_.begin(); at != entries_.end();) {
    Entry& entry = at->second;
    const bool over = !entry.attempt && (!entry.connection || !entry.connection->open());
    if (over && entry.connection) broken.push_back(std::move(entry.connection));
    at = over ? entries_.erase(at) : std::next(at);
  }
  return broken;
}

// `broken` is not taken for a connection; `parker` waits for the attempt, if there is one to wait for.
Expected<ConnectionCache::Place> ConnectionCache::enter(const Endpoint& endpoint, const ConnectionPtr& broken,
                                                        os::Parker& parker) {
  std::vector<ConnectionPtr> others;  // end after the lock
  const std::lock_guard lock(mutex_);
  if (closed_) return orb_destroyed;
  Entry& entry = entries_[endpoint];
  if (entry.connection && entry.connection != broken) return Place{.known = entry.connection, .attempt = nullptr};
  const bool leads = !entry.attempt;
  if (leads) {
    entry.attempt = std::make_shared<Attempt>();
    others = take_broken();
  } else {
    entry.attempt->waiting.push_back(&parker);
  }
  return Place{.known = nullptr, .attempt = entry.attempt, .leads = leads};
}

Expected<ConnectionCache::ConnectionPtr> ConnectionCache::lead(transport::Transport& transport,
                                                               const Endpoint& endpoint,
                                                               const std::shared_ptr<Attempt>& attempt, Time deadline) {
  Lead mine(*this, endpoint, attempt);
  auto stream = transport.connect(endpoint, deadline);
  if (!stream) return mine.end(stream.error());
  return mine.end(std::make_shared<ClientConnection>(std::move(*stream), limits_,
                                                     half_messages_ ? half_messages_->share() : nullptr));
}

// The outcome of another's attempt; nothing when that one was late and this one is not.
std::optional<Expected<ConnectionCache::ConnectionPtr>> ConnectionCache::join(Attempt& attempt, os::Parker& parker,
                                                                              Time deadline) {
  const bool woken = parker.park(deadline);
  const std::lock_guard lock(mutex_);
  if (!attempt.outcome) return std::erase(attempt.waiting, &parker), deadline_passed;
  if (*attempt.outcome || attempt.outcome->error().kind != ErrorKind::timeout) return attempt.outcome;
  if (!woken) return deadline_passed;
  return std::nullopt;
}

// Wakes under the lock: a waiter that is late takes it before its parker goes.
void ConnectionCache::finish(Attempt& attempt, Expected<ConnectionPtr> outcome) {
  attempt.outcome = std::move(outcome);
  for (os::Parker* waiter : std::exchange(attempt.waiting, {})) waiter->unpark();
}

// Once for each endpoint: a connection that is made again says nothing new.
void ConnectionCache::announce(const Endpoint& endpoint, const std::string& why) {
  {
    const std::lock_guard lock(mutex_);
    if (announced_.size() >= most_announced) announced_.clear();
    if (closed_ || !announced_.insert(endpoint).second) return;
  }
  os::log::info(why);
}

Expected<void> ConnectionCache::adopt(const ConnectionPtr& connection) {
  const std::lock_guard lock(mutex_);
  if (closed_) return orb_destroyed;
  std::erase_if(adopted_, [](const auto& weak) { return weak.expired(); });
  adopted_.push_back(connection);
  return {};
}

void ConnectionCache::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& weak : std::exchange(adopted_, {}))
    if (const auto connection = weak.lock()) connection->close();
  for (auto& [endpoint, entry] : entries_) {
    if (entry.connection) entry.connection->close();
    if (entry.attempt) finish(*entry.attempt, orb_destroyed);
  }
  entries_.clear();
}

std::size_t ConnectionCache::size() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [endpoint, entry] : entries_) count += entry.connection ? 1 : 0;
  return count;
}

std::size_t ConnectionCache::waiting() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [endpoint, entry] : entries_) count += entry.attempt ? entry.attempt->waiting.size() : 0;
  return count;
}

}  // namespace corelane::core
