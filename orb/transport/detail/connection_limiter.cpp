#include "orb/transport/detail/connection_limiter.h"

#include <algorithm>
#include <utility>

#include "orb/base/peer.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"

namespace corelane::transport {
namespace {

struct Holders {
  os::PiMutex mutex;
  std::unordered_map<std::string, std::weak_ptr<const Holder>> known CORELANE_GUARDED_BY(mutex);
  std::size_t cleaned_at CORELANE_GUARDED_BY(mutex) = 64;  // from this number of entries on, expired ones are removed
  std::uint32_t last CORELANE_GUARDED_BY(mutex) = 0;
};

}  // namespace

// After most_holders the numbers start again. Two peers that then have the same number share their limit.
std::shared_ptr<const Holder> Holder::of(const std::string& host) {
  static Holders& all = *new Holders;  // never destroyed, because reactors may outlive static objects
  const os::LockGuard lock(all.mutex);
  if (all.known.size() >= all.cleaned_at) {
    std::erase_if(all.known, [](const auto& entry) { return entry.second.expired(); });
    all.cleaned_at = 2 * all.known.size() + 64;
  }
  std::weak_ptr<const Holder>& place = all.known[host];
  if (auto known = place.lock()) return known;
  all.last = all.last % most_holders + 1;
  auto made = std::make_shared<const Holder>(all.last);
  place = made;
  return made;
}

Expected<ConnectionLimiter::Ticket, std::string> ConnectionLimiter::enter(const std::string& host) {
  const os::LockGuard lock(mutex_);
  if (places_.size() >= total_limit_) return reached("limits.connections", "LimitsConnections", total_limit_);
  if (count_of(host) >= peer_limit_)
    return reached("limits.connections_per_peer", "LimitsConnectionsPerPeer", peer_limit_);
  auto holder = Holder::of(host);
  std::size_t& count = by_host_[host];  // first: if memory runs out here, nothing is counted by half
  places_.emplace(++last_number_, Place{.host = host});
  ++count;
  return Ticket(shared_from_this(), last_number_, std::move(holder));
}

std::string ConnectionLimiter::reached(const std::string& limit, const std::string& option, std::size_t most) {
  return limit + " = " + std::to_string(most) + " is reached; close some, or raise it (-ORB" + option + ")";
}

std::size_t ConnectionLimiter::count_of(const std::string& host) const noexcept {
  const auto known = by_host_.find(host);
  return known == by_host_.end() ? 0 : known->second;
}

// Calls `may_go` under the lock. The caller releases the evictable connections that were found outside of it, because
// an evictable connection that dies gives its ticket back.
template <typename MayGo>
std::vector<ConnectionLimiter::Candidate> ConnectionLimiter::candidates(MayGo may_go) {
  std::vector<Candidate> found, others;
  const os::LockGuard lock(mutex_);
  // Reserved first: if an allocation threw below, an evictable connection would be released under the lock, and might
  // call leave() there.
  found.reserve(places_.size());
  others.reserve(places_.size());
  for (const auto& [number, place] : places_) {
    auto evictable = place.evictable.lock();
    if (!evictable) continue;
    Candidate candidate{.has_sent_message = evictable->has_sent_message(),
                        .number = number,
                        .quiet_since = evictable->quiet_since(),
                        .evictable = nullptr};
    candidate.evictable = std::move(evictable);
    (may_go(place, candidate) ? found : others).push_back(std::move(candidate));
  }
  return found;
}

// Ends one of these connections. A peer that sends a byte now and then looks active, although it never completes a
// message. So connections without a complete message are ordered by their numbers, that is by age, and not by the time
// since their last byte.
bool ConnectionLimiter::evict_one_of(std::vector<Candidate> left) {
  const auto silent = std::count_if(left.begin(), left.end(), [](const auto& c) { return !c.has_sent_message; });
  const bool crowded = silent > static_cast<std::ptrdiff_t>(left.size() / 4);
  const auto later = [crowded](const Candidate& a, const Candidate& b) {
    if (a.has_sent_message != b.has_sent_message) return a.has_sent_message == crowded;
    return a.has_sent_message ? a.quiet_since > b.quiet_since : a.number > b.number;
  };
  std::make_heap(left.begin(), left.end(), later);
  for (auto end = left.end(); end != left.begin(); --end) {
    std::pop_heap(left.begin(), end, later);
    if (std::prev(end)->evictable->evict()) return true;
  }
  return false;
}

bool ConnectionLimiter::evict_idle(const std::string& host) {
  return evict_one_of(candidates([&](const Place& place, const Candidate&) CORELANE_REQUIRES(mutex_) {
    return count_of(host) < peer_limit_ || place.host == host;  // if that host uses its whole share, one of its own
  }));
}

bool ConnectionLimiter::evict_quietest() {
  return evict_one_of(candidates([](const Place&, const Candidate&) { return true; }));
}

bool ConnectionLimiter::evict_channel(Time quiet_since) {
  return evict_one_of(candidates([&](const Place&, const Candidate& candidate) {
    return candidate.evictable->is_channel() && candidate.quiet_since <= quiet_since;
  }));
}

void ConnectionLimiter::set_evictable(std::uint64_t number, std::weak_ptr<Evictable> evictable) {
  const os::LockGuard lock(mutex_);
  if (const auto place = places_.find(number); place != places_.end()) place->second.evictable = std::move(evictable);
}

void ConnectionLimiter::leave(std::uint64_t number) noexcept {
  const os::LockGuard lock(mutex_);
  const auto place = places_.find(number);
  const auto host = by_host_.find(place->second.host);
  if (--host->second == 0) by_host_.erase(host);
  places_.erase(place);
}

}  // namespace corelane::transport
