#include "services/nameserver/stores/etcd_leases.h"

#include "orb/os/log.h"

namespace corelane::nameserver {

Expected<EtcdLease, EtcdFault> EtcdLeases::lease_of(const std::string& owner) {
  const std::lock_guard granting(granting_);
  {
    const std::lock_guard lock(mutex_);
    const auto held = held_.find(owner);
    if (held != held_.end() && held->second.lease != 0) return held->second.lease;
  }
  const auto lease = client_.grant(time_);
  if (!lease) return lease;
  const std::lock_guard lock(mutex_);
  held_[owner].lease = *lease;
  return lease;
}

void EtcdLeases::adopt(const std::string& owner, EtcdLease lease) {
  const std::lock_guard lock(mutex_);
  held_.try_emplace(owner, Held{.lease = lease, .names = {}, .is_adopted = true});
}

void EtcdLeases::ran_out(const std::string& owner, EtcdLease lease) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(owner);
  if (held != held_.end() && held->second.lease == lease) held->second.lease = 0;
}

Expected<bool, EtcdFault> EtcdLeases::end(const std::string& owner) {
  const std::lock_guard turn(turn_);
  EtcdLease lease = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto held = held_.find(owner);
    if (held == held_.end()) return false;
    lease = held->second.lease;
  }
  if (lease != 0)
    if (const auto done = client_.revoke(lease); !done && done.error().kind != EtcdFault::Kind::no_lease)
      return done.error();
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(owner);
  if (held == held_.end() || held->second.lease != lease) return false;  // he has begun anew meanwhile
  held_.erase(held);
  return true;
}

std::vector<std::string> EtcdLeases::owners() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> owners;
  for (const auto& [owner, held] : held_) owners.push_back(owner);
  return owners;
}

void EtcdLeases::bound(const std::string& owner, const EtcdName& name, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  for (auto& [other, held] : held_)
    if (other != owner) held.names.erase(name.key);
  if (!owner.empty()) held_[owner].names[name.key] = {.name = name, .revision = revision};
}

EtcdLeases::Name* EtcdLeases::held_name(const std::string& key) {
  for (auto& [owner, held] : held_)
    if (const auto name = held.names.find(key); name != held.names.end()) return &name->second;
  return nullptr;
}

void EtcdLeases::lost(const std::string& key, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  const Name* const name = held_name(key);
  if (name == nullptr || name->revision >= revision) return;
  for (auto& [owner, held] : held_) held.names.erase(key);
}

void EtcdLeases::vanished(const std::string& key, std::uint64_t revision) {
  const std::lock_guard lock(mutex_);
  Name* const name = held_name(key);
  if (name != nullptr && name->revision < revision) name->is_doubtful = true;
}

std::map<std::string, EtcdLease> EtcdLeases::leases() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, EtcdLease> leases;
  for (const auto& [owner, held] : held_) leases[owner] = held.lease;
  return leases;
}

std::vector<std::string> EtcdLeases::doubtful_of(const std::string& owner) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> keys;
  const auto held = held_.find(owner);
  if (held == held_.end()) return keys;
  for (const auto& [key, name] : held->second.names)
    if (name.is_doubtful) keys.push_back(key);
  return keys;
}

Expected<void, EtcdFault> EtcdLeases::keep() {
  for (const auto& [owner, lease] : leases())
    if (const auto kept = keep_one(owner, lease); !kept) return kept;
  return {};
}

Expected<void, EtcdFault> EtcdLeases::keep_one(const std::string& owner, EtcdLease lease) {
  const std::lock_guard turn(turn_);
  if (!has(owner, lease)) return {};  // it has ended meanwhile, or another has taken its place
  const std::vector<std::string> doubtful = doubtful_of(owner);
  const auto kept = lease == 0 ? EtcdFault{EtcdFault::Kind::no_lease, {}} : client_.keep_alive(lease);
  if (!kept && kept.error().kind != EtcdFault::Kind::no_lease) return kept;
  if (!kept) return is_over(owner) ? Expected<void, EtcdFault>{} : renew(owner, lease);
  // The lease is there, so it was not its end that took them.
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(owner);
  if (held == held_.end() || held->second.lease != lease) return {};
  for (const std::string& key : doubtful)
    if (const auto name = held->second.names.find(key); name != held->second.names.end() && name->second.is_doubtful)
      held->second.names.erase(name);
  return {};
}

bool EtcdLeases::has(const std::string& owner, EtcdLease lease) const {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(owner);
  return held != held_.end() && held->second.lease == lease;
}

// An adopted one that nothing was bound with since then.
bool EtcdLeases::is_over(const std::string& owner) {
  const std::lock_guard lock(mutex_);
  const auto held = held_.find(owner);
  if (held == held_.end()) return true;
  if (!held->second.is_adopted || !held->second.names.empty()) return false;
  held_.erase(held);
  return true;
}

Expected<void, EtcdFault> EtcdLeases::renew(const std::string& owner, EtcdLease old) {
  ran_out(owner, old);
  const auto lease = lease_of(owner);
  if (!lease) return lease.error();
  std::vector<EtcdName> names;
  {
    const std::lock_guard lock(mutex_);
    const auto held = held_.find(owner);
    if (held == held_.end()) return {};
    for (const auto& [key, name] : held->second.names) names.push_back(name.name);
  }
  for (const EtcdName& name : names)
    if (const auto done = bind_again(owner, name, *lease); !done) return done;
  return {};
}

Expected<void, EtcdFault> EtcdLeases::bind_again(const std::string& owner, const EtcdName& name, EtcdLease lease) {
  EtcdTransaction transaction;
  transaction.if_absent(name.key).then_put(name.key, name.value, lease).else_get(name.key);
  if (!name.context_key.empty()) transaction.if_present(name.context_key);
  const auto outcome = client_.commit(transaction);
  if (!outcome) return outcome.error();
  if (outcome->held) return bound(owner, name, outcome->revision), Expected<void, EtcdFault>{};
  for (const auto& there : outcome->entries)
    if (!there.empty() && there.front().value == name.value && there.front().lease == lease)
      return {};  // bound since then
  os::log::warn("the lease of " + owner + " ran out while etcd was away, and " + name.key + " is not his any more");
  lost(name.key, outcome->revision + 1);
  return {};
}

}  // namespace corelane::nameserver
