#include "orb/core/connections/connection_cache.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/process/descriptor_limit.h"
#include "orb/os/thread.h"
#include "orb/transport/not_trusted.h"

namespace corelane::core {
namespace {

using transport::Endpoint;
using transport::TransportKind;

using errors::orb_destroyed;
constexpr std::size_t most_announced = 1024;  // endpoints; beyond that, all are logged once more

constexpr Error nowhere{ErrorKind::transient, Completion::no, minor::no_usable_profile};

bool names_channel(const Address& address) noexcept {
  return std::any_of(address.endpoints.begin(), address.endpoints.end(),
                     [](const Endpoint& endpoint) { return endpoint.kind->shares_memory; });
}

std::string_view fault_of(Channels channels) noexcept {
  switch (channels) {
    case Channels::on:
      return "no channel came about";
    case Channels::off:
      return "client.channel is off";
    case Channels::no_time:
      return "this call had no time to make a channel (CallDeadline)";
  }
  return {};
}

// Returns why the endpoint was not used, or "" if that is not known.
std::string fault_of(const Endpoint& endpoint, Channels channels) {
  if (endpoint.kind->shares_memory) return std::string(fault_of(channels));
  return endpoint.kind->why_silent != nullptr ? endpoint.kind->why_silent(endpoint) : std::string{};
}

}  // namespace

Channels channels_for(bool setting, bool is_fallback) noexcept {
  if (!setting) return Channels::off;
  return is_fallback ? Channels::no_time : Channels::on;
}

std::string why_text(const Endpoint& endpoint, const Address& address, Channels channels) {
  const auto used = std::find(address.endpoints.begin(), address.endpoints.end(), endpoint);
  std::string why(text_of(address.same_host)), faults;
  std::vector<const TransportKind*> told{endpoint.kind};
  for (auto before = address.endpoints.begin(); before != used; ++before) {  // the first one of each kind
    if (std::find(told.begin(), told.end(), before->kind) != told.end()) continue;
    told.push_back(before->kind);
    const std::string fault = fault_of(*before, channels);
    if (!fault.empty()) faults += (faults.empty() ? "" : ", and ") + fault;
  }
  if (endpoint.kind->of_this_host && !endpoint.kind->shares_memory && !names_channel(address))
    why += ", and the reference names no channel";
  return faults.empty() ? why : why + ", but " + faults;
}

// Returns the most channels to one server, at least 4. A channel takes eight descriptors. These channels may take an
// eighth of the descriptors of this process.
std::size_t most_channels() noexcept { return std::max<std::size_t>(4, os::descriptor_limit() / 64); }

std::string route_text(const Endpoint& endpoint, const Address& address, Channels channels) {
  return (endpoint.kind->is_iiop ? "calls over TCP to " : "calls over ") + to_string(endpoint) + ": " +
         why_text(endpoint, address, channels);
}

ConnectionCache::Pool ConnectionCache::make_pool(const Endpoint& endpoint, Traffic traffic) const {
  std::size_t most = traffic == Traffic::plain ? options_.connections : 1;
  if (endpoint.kind->shares_memory) most = std::min(most, most_channels());
  return std::make_shared<ConnectionPool>(endpoint, limits_, most);
}

ConnectionCache::Pool ConnectionCache::pool_of(const Endpoint& endpoint, Traffic traffic) {
  const os::LockGuard lock(mutex_);
  if (const auto known = pools_.find(endpoint); known != pools_.end())
    if (const Pool& pool = known->second[static_cast<std::size_t>(traffic)]) return pool;
  sweep();
  Pool& pool = pools_[endpoint][static_cast<std::size_t>(traffic)];
  pool = make_pool(endpoint, traffic);
  if (closed_) pool->close(Time{});
  return pool;
}

// Removes unused pools when the next one is made, because servers restart at other endpoints. An unused pool is not
// held by a reference, and only this cache could hand it out.
void ConnectionCache::sweep() {
  const auto unused = [](const Pool& pool) { return !pool || (pool->tidy() && pool.use_count() == 1); };
  std::erase_if(pools_, [&](const auto& entry) {
    const auto& [plain, contract] = entry.second;
    return unused(plain) && unused(contract);
  });
}

// Returns the pools in the order in which they are tried.
std::vector<ConnectionCache::Candidate> ConnectionCache::candidates(std::span<const Address> addresses,
                                                                    const Requirements& required) {
  const Time now = os::now();
  const auto is_last = [&](const Endpoint& endpoint) {
    return std::find(required.tried_last.begin(), required.tried_last.end(), endpoint) != required.tried_last.end();
  };
  std::vector<Candidate> kept, answering, silent, last;
  for (const Address& address : addresses) {  // bound: the profiles of a reference
    std::vector<Candidate> unconnected;
    for (const Endpoint& endpoint : address.endpoints) {  // bound: the profile's addresses
      if (!takes(endpoint)) continue;
      Candidate candidate{pool_of(endpoint, required.traffic), &address};
      const bool is_channel = endpoint.kind->shares_memory;
      auto& kind = is_last(endpoint)                          ? last
                   : candidate.pool->keeps_thread()           ? kept
                   : candidate.pool->connected()              ? answering
                   : is_channel && !required.may_make_channel ? silent
                   : candidate.pool->silent(now)              ? silent
                   : is_channel && !candidate.pool->failed()  ? answering
                                                              : unconnected;
      kind.push_back(std::move(candidate));
    }
    answering.insert(answering.end(), std::move_iterator(unconnected.begin()), std::move_iterator(unconnected.end()));
  }
  for (std::vector<Candidate>* const further : {&answering, &silent, &last})
    kept.insert(kept.end(), std::move_iterator(further->begin()), std::move_iterator(further->end()));
  return kept;
}

Expected<ConnectionCache::Found> ConnectionCache::acquire(transport::Transport& transport,
                                                          std::span<const Address> addresses, Time deadline,
                                                          const Requirements& required) {
  const os::CancellationDelay delay;
  std::optional<Error> error;
  const std::vector<Candidate> all = candidates(addresses, required);
  std::size_t left = all.size();
  for (const Candidate& candidate : all) {
    const Endpoint& endpoint = candidate.pool->endpoint();
    const Time until = os::first_share_of(deadline, left--);
    // Any user may listen at a port, and the kernel does not tell which one does. So if the server of the Unix socket
    // is not trusted, a network is not tried instead.
    if (!endpoint.kind->of_this_host && error == transport::not_trusted) continue;
    auto connection = candidate.pool->acquire(transport, until, required.order);
    if (connection) {
      const bool is_fallback = !required.may_make_channel && options_.channels && !endpoint.kind->shares_memory &&
                               names_channel(*candidate.address);
      Found found{std::move(*connection), candidate.pool, candidate.address, is_fallback};
      announce(found);
      return found;
    }
    if (error != transport::not_trusted) error = connection.error();
  }
  return error.value_or(nowhere);
}

// Logs each endpoint once: a further connection adds no information.
void ConnectionCache::announce(const Found& found) {
  const Endpoint& endpoint = found.pool->endpoint();
  {
    const os::LockGuard lock(mutex_);
    if (announced_.size() >= most_announced) announced_.clear();
    if (closed_ || !announced_.insert(endpoint).second) return;
  }
  os::log::debug(route_text(endpoint, *found.address, channels_for(options_.channels, found.is_fallback)));
}

Expected<void> ConnectionCache::adopt(const ConnectionPtr& connection) {
  const os::LockGuard lock(mutex_);
  if (closed_) return orb_destroyed;
  std::erase_if(adopted_, [](const auto& weak) { return weak.expired(); });
  adopted_.push_back(connection);
  return {};
}

std::vector<ConnectionCache::Pool> ConnectionCache::pools() const {
  std::vector<Pool> all;
  const os::LockGuard lock(mutex_);
  for (const auto& [endpoint, pools] : pools_)
    for (const Pool& pool : pools)
      if (pool) all.push_back(pool);
  return all;
}

void ConnectionCache::close(Time deadline) {
  std::vector<ConnectionPtr> closing;
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
    for (const auto& weak : std::exchange(adopted_, {}))
      if (auto connection = weak.lock()) closing.push_back(std::move(connection));
  }
  for (const ConnectionPtr& connection : closing) connection->close_when_sent(deadline);
  for (const Pool& pool : pools())
    for (ConnectionPtr& connection : pool->close(deadline)) closing.push_back(std::move(connection));
  if (options_.connect_stop) options_.connect_stop->stop();
  for (const ConnectionPtr& connection : closing) {
    (void)connection->stream().wait_until_closed(deadline);
    connection->close();
  }
  const os::LockGuard lock(mutex_);
  pools_.clear();
}

std::size_t ConnectionCache::size() const {
  std::size_t count = 0;
  for (const Pool& pool : pools()) count += pool->connections().size();
  return count;
}

std::size_t ConnectionCache::waiting() const {
  std::size_t count = 0;
  for (const Pool& pool : pools()) count += pool->waiting();
  return count;
}

}  // namespace corelane::core
