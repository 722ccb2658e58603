#include "services/nameserver/stores/etcd/etcd_cache.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"

namespace corelane::nameserver {

bool EtcdCache::is_as_known(const EtcdEntry& entry) const {
  const auto known = entries_.find(entry.key);
  return known != entries_.end() && known->second.modified == entry.modified &&
         known->second.hash == std::hash<std::string>{}(entry.value);
}

std::vector<EtcdEvent> EtcdCache::missed(const std::vector<EtcdEntry>& entries, std::uint64_t revision) const {
  std::set<std::string_view> there;
  for (const EtcdEntry& entry : entries) there.insert(entry.key);
  const os::LockGuard lock(mutex_);
  std::vector<EtcdEvent> events;
  for (const auto& [key, known] : entries_)
    if (!there.contains(key)) events.push_back({.is_deletion = true, .entry = {.key = key, .modified = revision}});
  // In reverse order, so that names are removed before their contexts: "name/" sorts after "context/".
  std::reverse(events.begin(), events.end());
  const auto last_deletion = static_cast<std::ptrdiff_t>(events.size());
  for (const EtcdEntry& entry : entries)
    if (!is_as_known(entry)) events.push_back({.is_deletion = false, .entry = entry});
  std::stable_sort(events.begin() + last_deletion, events.end(),
                   [](const EtcdEvent& a, const EtcdEvent& b) { return a.entry.modified < b.entry.modified; });
  std::rotate(events.begin(), events.begin() + last_deletion, events.end());
  return events;
}

Changes EtcdCache::apply(const std::vector<EtcdEvent>& events, std::uint64_t revision) {
  const os::LockGuard lock(mutex_);
  Changes changes;
  for (const EtcdEvent& event : events) change_of(event, changes);
  revision_ = revision;
  grown_.notify_all();
  return changes;
}

void EtcdCache::remember(const std::vector<EtcdEntry>& entries, std::uint64_t revision, std::chrono::seconds age) {
  apply(missed(entries, revision), revision);
  const os::LockGuard lock(mutex_);
  left_ -= age;
}

void EtcdCache::change_of(const EtcdEvent& event, Changes& changes) {
  if (event.is_deletion) return drop(event.entry.key, event.entry.modified, changes);
  settle(event.entry, changes);
}

void EtcdCache::settle(const EtcdEntry& entry, Changes& changes) {
  const auto place = keys_.place_of(entry.key);
  entries_[entry.key] = {.value = place ? std::string() : entry.value,
                         .hash = std::hash<std::string>{}(entry.value),
                         .modified = entry.modified};
  if (!place) return;
  if (!place->name) {
    if (!tree_.has_context(place->context))
      take({.kind = Change::Kind::made, .context = place->context, .revision = entry.modified}, changes);
    return;
  }
  const auto binding = binding_in(entry.value);
  if (!binding) return os::log::warn("the value of etcd's key " + entry.key + " is no binding and is ignored");
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
  const os::LockGuard lock(mutex_);
  return seen_entry(key);
}

std::vector<EtcdEntry> EtcdCache::surplus(const std::optional<ContextId>& parent) const {
  const os::LockGuard lock(mutex_);
  std::vector<EtcdEntry> entries;
  for (const ContextId context : tree_.surplus(parent)) {
    EtcdEntry entry = seen_entry(keys_.context(context));
    // If modified is 0, etcd has only names in the context, which cannot be removed then.
    if (entry.modified != 0) entries.push_back(std::move(entry));
  }
  return entries;
}

EtcdEntry EtcdCache::seen_entry(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return {.key = key};
  return {.key = key, .value = found->second.value, .modified = found->second.modified};
}

std::uint64_t EtcdCache::revision() const {
  const os::LockGuard lock(mutex_);
  return revision_;
}

bool EtcdCache::wait_for(std::uint64_t revision, std::chrono::steady_clock::time_point deadline) {
  os::UniqueLock lock(mutex_);
  grown_.wait_until(lock, deadline, [&]() CORELANE_REQUIRES(mutex_) { return revision_ >= revision || !is_followed_; });
  return revision_ >= revision;
}

void EtcdCache::wait_for_other(const EtcdEntry& entry, std::chrono::steady_clock::time_point deadline) {
  os::UniqueLock lock(mutex_);
  grown_.wait_until(lock, deadline, [&]() CORELANE_REQUIRES(mutex_) {
    return seen_entry(entry.key).modified != entry.modified || !is_followed_;
  });
}

void EtcdCache::set_followed(bool is_followed) {
  const os::LockGuard lock(mutex_);
  if (is_followed_ && !is_followed) left_ = std::chrono::steady_clock::now();
  is_followed_ = is_followed;
  grown_.notify_all();
}

bool EtcdCache::is_followed() const {
  const os::LockGuard lock(mutex_);
  return is_followed_;
}

std::optional<std::chrono::milliseconds> EtcdCache::stale_for() const {
  const os::LockGuard lock(mutex_);
  if (is_followed_) return std::nullopt;
  return std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - left_);
}

}  // namespace corelane::nameserver
