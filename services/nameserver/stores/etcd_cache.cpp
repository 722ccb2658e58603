#include "services/nameserver/stores/etcd_cache.h"

#include <algorithm>
#include <set>

#include "orb/os/log.h"

namespace corelane::nameserver {

Changes EtcdCache::load(const std::vector<EtcdEntry>& entries, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> there;
  for (const EtcdEntry& entry : entries) there.insert(entry.key);
  std::vector<EtcdEvent> events;
  for (const auto& [key, entry] : entries_)
    if (!there.contains(key)) events.push_back({.is_deletion = true, .entry = {.key = key, .modified = revision}});
  // Names go before their contexts: "name/" after "context/".
  std::reverse(events.begin(), events.end());
  const auto last_deletion = static_cast<std::ptrdiff_t>(events.size());
  for (const EtcdEntry& entry : entries)
    if (const auto known = entries_.find(entry.key);
        known == entries_.end() || known->second.modified != entry.modified)
      events.push_back({.is_deletion = false, .entry = entry});
  std::stable_sort(events.begin() + last_deletion, events.end(),
                   [](const EtcdEvent& a, const EtcdEvent& b) { return a.entry.modified < b.entry.modified; });
  std::rotate(events.begin(), events.begin() + last_deletion, events.end());
  Changes changes;
  for (const EtcdEvent& event : events) change_of(event, event.entry.modified, changes);
  revision_ = revision;
  grown_.notify_all();
  return changes;
}

Changes EtcdCache::apply(const std::vector<EtcdEvent>& events) {
  const std::lock_guard lock(mutex_);
  Changes changes;
  for (const EtcdEvent& event : events) {
    change_of(event, event.entry.modified, changes);
    revision_ = std::max(revision_, event.entry.modified);
  }
  grown_.notify_all();
  return changes;
}

void EtcdCache::change_of(const EtcdEvent& event, std::uint64_t revision, Changes& changes) {
  if (event.is_deletion) return drop(event.entry.key, revision, changes);
  settle(event.entry, changes);
}

void EtcdCache::settle(const EtcdEntry& entry, Changes& changes) {
  const auto place = keys_.place_of(entry.key);
  if (!place) {
    entries_[entry.key] = entry;
    return;
  }
  entries_[entry.key] = {.key = entry.key, .value = {}, .modified = entry.modified};
  if (!place->name) {
    if (!tree_.has_context(place->context))
      take({.kind = Change::Kind::made, .context = place->context, .revision = entry.modified}, changes);
    return;
  }
  const auto binding = binding_in(entry.value);
  if (!binding) return os::log::warn("what etcd has at " + entry.key + " is no binding: it is passed over");
  const auto bound = tree_.find(place->context, *place->name);
  if (bound && *bound == *binding) return;
  take({.kind = bound ? Change::Kind::rebound : Change::Kind::bound,
        .context = place->context,
        .name = *place->name,
        .binding = *binding,
        .revision = entry.modified},
       changes);
}

void EtcdCache::drop(const std::string& key, std::uint64_t revision, Changes& changes) {
  entries_.erase(key);
  const auto place = keys_.place_of(key);
  if (!place) return;
  if (!place->name) {
    if (tree_.has_context(place->context))
      take({.kind = Change::Kind::destroyed, .context = place->context, .revision = revision}, changes);
    return;
  }
  if (const auto bound = tree_.find(place->context, *place->name))
    take({.kind = Change::Kind::unbound,
          .context = place->context,
          .name = *place->name,
          .binding = *bound,
          .revision = revision},
         changes);
}

void EtcdCache::take(Change change, Changes& changes) {
  tree_.apply(change);
  changes.push_back(std::move(change));
}

EtcdEntry EtcdCache::entry(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? EtcdEntry{.key = key, .value = {}, .modified = 0} : found->second;
}

std::uint64_t EtcdCache::revision() const {
  const std::lock_guard lock(mutex_);
  return revision_;
}

bool EtcdCache::wait_for(std::uint64_t revision, std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  grown_.wait_until(lock, deadline, [&] { return revision_ >= revision || !is_followed_; });
  return revision_ >= revision;
}

void EtcdCache::set_followed(bool is_followed) {
  const std::lock_guard lock(mutex_);
  if (is_followed_ && !is_followed) left_ = std::chrono::steady_clock::now();
  is_followed_ = is_followed;
  grown_.notify_all();
}

bool EtcdCache::is_followed() const {
  const std::lock_guard lock(mutex_);
  return is_followed_;
}

std::optional<std::chrono::milliseconds> EtcdCache::stale_for() const {
  const std::lock_guard lock(mutex_);
  if (is_followed_) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - left_);
}

}  // namespace corelane::nameserver
