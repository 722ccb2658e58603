#include "services/nameserver/stores/etcd/etcd_owned_names.h"

#include <algorithm>

#include "orb/os/lock.h"
#include "orb/os/log.h"

namespace corelane::nameserver {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t longest_step = 500'000;  // bytes of values; etcd takes 1.5 MiB
constexpr int most_tries = 10;                 // each try failed because another writer was faster

const EtcdEntry* entry_read(const EtcdOutcome& outcome, std::size_t number) {
  const bool is_there = number < outcome.entries.size() && !outcome.entries[number].empty();
  return is_there ? &outcome.entries[number].front() : nullptr;
}

}  // namespace

Expected<EtcdLease, EtcdFault> EtcdOwnedNames::lease() {
  const os::LockGuard granting(granting_);
  {
    const os::LockGuard lock(mutex_);
    if (lease_ != 0) return lease_;
  }
  const auto granted = client_.grant(time_);
  if (!granted) return granted;
  const os::LockGuard lock(mutex_);
  lease_ = *granted;
  granted_.insert(lease_);
  return lease_;
}

void EtcdOwnedNames::ran_out(EtcdLease lease) {
  const os::LockGuard lock(mutex_);
  if (lease_ == lease) {
    lease_ = 0;
    // Transactions that are still on their way with that lease will be refused.
    std::erase_if(unanswered_, [](const auto& item) { return item.second.has_left; });
  }
  for (auto& [key, name] : names_)
    if (name.lease == lease) name.is_doubtful = false;
}

void EtcdOwnedNames::put(Name name) {
  erase(name.name.key);
  owned_.insert({name.owner, name.name.key});
  std::string key = name.name.key;
  names_.emplace(std::move(key), std::move(name));
}

void EtcdOwnedNames::erase(const std::string& key) {
  const auto name = names_.find(key);
  if (name == names_.end()) return;
  owned_.erase({name->second.owner, key});
  names_.erase(name);
}

void EtcdOwnedNames::asks(const std::string& owner) {
  const os::LockGuard lock(mutex_);
  if (owner.empty()) return;
  if (unanswered_.size() >= most_in_doubt) {
    const auto left =
        std::find_if(unanswered_.begin(), unanswered_.end(), [](const auto& item) { return item.second.has_left; });
    if (left != unanswered_.end()) unanswered_.erase(left);
  }
  ++unanswered_[owner].count;
}

void EtcdOwnedNames::answered(const std::string& owner) {
  const os::LockGuard lock(mutex_);
  const auto asked = unanswered_.find(owner);
  if (asked != unanswered_.end() && --asked->second.count == 0) unanswered_.erase(asked);
}

void EtcdOwnedNames::bound(const std::string& owner, const EtcdName& name, EtcdLease lease, std::uint64_t revision) {
  const os::LockGuard lock(mutex_);
  if (owner.empty()) return erase(name.key);
  put({.name = name, .owner = owner, .lease = lease, .revision = revision});
}

void EtcdOwnedNames::adopt(const std::string& owner, const EtcdName& name, EtcdLease lease, std::uint64_t revision,
                           Known known) {
  const os::LockGuard lock(mutex_);
  if (names_.contains(name.key)) return;
  const auto asked = unanswered_.find(owner);
  const bool is_late = asked != unanswered_.end() && asked->second.has_left;
  if (is_late) late_.insert(owner);
  put({.name = name,
       .owner = owner,
       .lease = lease,
       .revision = revision,
       .kept_by = granted_.contains(lease) ? KeptBy::this_nameserver : KeptBy::another,
       .is_remembered = known == Known::remembered,
       .is_leaving = is_late});
}

bool EtcdOwnedNames::is_ours(EtcdLease lease) const {
  const os::LockGuard lock(mutex_);
  return granted_.contains(lease);
}

bool EtcdOwnedNames::has_late_names() const {
  const os::LockGuard lock(mutex_);
  return !late_.empty();
}

void EtcdOwnedNames::lost(const std::string& key, std::uint64_t revision) {
  const os::LockGuard lock(mutex_);
  const auto name = names_.find(key);
  if (name != names_.end() && name->second.revision < revision) erase(key);
}

void EtcdOwnedNames::seen(const EtcdEvent& event) {
  const os::LockGuard lock(mutex_);
  const auto name = names_.find(event.entry.key);
  if (name == names_.end()) return;
  if (event.is_deletion) return missed(name->second, event.entry.modified);
  saw(name->second, event.entry);
}

void EtcdOwnedNames::seen_all(const std::vector<EtcdEntry>& entries, std::uint64_t revision) {
  const os::LockGuard lock(mutex_);
  auto there = entries.begin();
  for (auto next = names_.begin(); next != names_.end();) {
    const auto name = next++;  // before the name may be erased
    there = std::find_if(there, entries.end(), [&](const EtcdEntry& entry) { return entry.key >= name->first; });
    if (there == entries.end() || there->key != name->first)
      missed(name->second, revision);
    else
      saw(name->second, *there);
  }
}

void EtcdOwnedNames::saw(Name& name, const EtcdEntry& entry) {
  name.is_remembered = false;
  if (entry.modified <= name.revision) return;
  if (entry.value != name.name.value) return erase(std::string(name.name.key));
  name.kept_by = granted_.contains(entry.lease) ? KeptBy::this_nameserver : KeptBy::another;
  name.lease = entry.lease;
  name.revision = entry.modified;
  name.is_doubtful = false;
}

void EtcdOwnedNames::missed(Name& name, std::uint64_t revision) {
  if (revision <= name.revision) return;
  if (name.is_remembered) {
    name.is_doubtful = true;
    return;
  }
  if (name.kept_by != KeptBy::this_nameserver) return erase(std::string(name.name.key));
  if (name.lease == lease_) name.is_doubtful = true;
}

std::vector<std::string> EtcdOwnedNames::owners() const {
  const os::LockGuard lock(mutex_);
  std::vector<std::string> owners;
  for (const auto& [owner, key] : owned_)
    if (owners.empty() || owners.back() != owner) owners.push_back(owner);
  return owners;
}

void EtcdOwnedNames::leave(const std::string& owner) {
  const os::LockGuard lock(mutex_);
  for (auto next = owned_.lower_bound({owner, {}}); next != owned_.end() && next->first == owner; ++next)
    names_.at(next->second).is_leaving = true;
  if (const auto asked = unanswered_.find(owner); asked != unanswered_.end()) asked->second.has_left = true;
}

bool EtcdOwnedNames::may_have(const std::string& owner) const {
  const os::LockGuard lock(mutex_);
  const auto first = owned_.lower_bound({owner, {}});
  return (first != owned_.end() && first->first == owner) || unanswered_.contains(owner);
}

std::vector<EtcdOwnedNames::Name> EtcdOwnedNames::some_of(const std::string& owner) const {
  const os::LockGuard lock(mutex_);
  std::vector<Name> some;
  for (auto next = owned_.lower_bound({owner, {}}); next != owned_.end() && next->first == owner; ++next)
    if (some.size() < names_in_step) some.push_back(names_.at(next->second));
  return some;
}

Expected<std::uint64_t, EtcdFault> EtcdOwnedNames::remove(const std::string& owner) {
  const os::LockGuard turn(turn_);
  leave(owner);
  std::uint64_t revision = 0;
  for (auto some = some_of(owner); !some.empty(); some = some_of(owner)) {
    const auto removed = remove_some(owner, std::move(some));
    if (!removed) return removed;
    revision = std::max(revision, *removed);
  }
  return revision;
}

Expected<std::uint64_t, EtcdFault> EtcdOwnedNames::remove_some(const std::string& owner, std::vector<Name> names) {
  for (int attempt = 0; attempt < most_tries; ++attempt) {
    EtcdTransaction transaction;
    for (const Name& name : names) {
      transaction.if_unchanged(name.name.key, name.revision).else_get(name.name.key);
      if (name.revision != 0) transaction.then_delete(name.name.key);
    }
    const auto outcome = client_.commit(transaction);
    if (!outcome) return outcome.error();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const EtcdEntry* const there = outcome->held ? nullptr : entry_read(*outcome, i);
      names[i].revision = there != nullptr && there->value == names[i].name.value ? there->modified : 0;
      if (names[i].revision == 0) lost(names[i].name.key, outcome->revision + 1);
    }
    std::erase_if(names, [](const Name& name) { return name.revision == 0; });
    if (names.empty()) return outcome->revision;
  }
  return EtcdFault{EtcdFault::Kind::unreachable, "the names of " + owner + " change too fast to be removed"};
}

Expected<void, EtcdFault> EtcdOwnedNames::keep() {
  if (const auto done = keep_alive(); !done) return done;
  if (const auto done = remove_late(); !done) return done;
  if (const auto done = look_after_others(); !done) return done;
  return settle_all();
}

EtcdOwnedNames::Done EtcdOwnedNames::keep_alive() {
  EtcdLease kept = 0;
  {
    const os::LockGuard lock(mutex_);
    kept = lease_;
  }
  if (kept == 0) return {};
  const auto vanished = doubtful();
  const auto alive = client_.keep_alive(kept);
  if (!alive && alive.error().kind == EtcdFault::Kind::no_lease) return ran_out(kept), Done{};
  if (!alive) return alive;
  // The lease still exists, so it did not remove these names: a client did.
  const os::LockGuard lock(mutex_);
  for (const auto& [key, revision] : vanished)
    if (const auto name = names_.find(key);
        name != names_.end() && name->second.is_doubtful && name->second.revision == revision)
      erase(key);
  return {};
}

EtcdOwnedNames::Done EtcdOwnedNames::remove_late() {
  std::set<std::string> owners;
  {
    const os::LockGuard lock(mutex_);
    owners = late_;
  }
  for (const std::string& owner : owners) {
    if (const auto removed = remove(owner); !removed) return removed.error();
    const os::LockGuard lock(mutex_);
    const auto more = owned_.lower_bound({owner, {}});  // found since then
    if (more == owned_.end() || more->first != owner) late_.erase(owner);
  }
  return {};
}

std::map<std::string, std::uint64_t> EtcdOwnedNames::doubtful() const {
  const os::LockGuard lock(mutex_);
  std::map<std::string, std::uint64_t> found;
  for (const auto& [key, name] : names_)
    if (name.is_doubtful && !name.is_remembered) found[key] = name.revision;
  return found;
}

bool EtcdOwnedNames::watches_others() const { return !leases_of_others().empty(); }

std::set<EtcdLease> EtcdOwnedNames::leases_of_others() const {
  const os::LockGuard lock(mutex_);
  std::set<EtcdLease> leases;
  for (const auto& [key, name] : names_)
    if (name.kept_by == KeptBy::another) leases.insert(name.lease);
  return leases;
}

EtcdOwnedNames::Done EtcdOwnedNames::look_after_others() {
  for (const EtcdLease lease : leases_of_others()) {
    const auto time = client_.time_of(lease);
    if (!time && time.error().kind == EtcdFault::Kind::unreachable) return time.error();
    if (!time && time.error().kind != EtcdFault::Kind::no_lease) continue;
    const auto kept = [&] {
      return static_cast<double>(time->left / 1s) >= abandoned_below_ * static_cast<double>(time->granted / 1s);
    };
    if (time) drop_removed(lease);
    if (!time || !kept()) nobody_keeps(lease);
  }
  return {};
}

// Removes remembered names that have disappeared although their lease still exists: a client removed them.
void EtcdOwnedNames::drop_removed(EtcdLease lease) {
  const os::LockGuard lock(mutex_);
  for (auto next = names_.begin(); next != names_.end();) {
    const auto name = next++;  // before the name may be erased
    if (name->second.is_remembered && name->second.is_doubtful && name->second.lease == lease)
      erase(std::string(name->first));
  }
}

void EtcdOwnedNames::nobody_keeps(EtcdLease lease) {
  const os::LockGuard lock(mutex_);
  for (auto& [key, name] : names_) {
    if (name.kept_by != KeptBy::another || name.lease != lease) continue;
    name.kept_by = name.is_remembered && name.is_doubtful ? KeptBy::this_nameserver : KeptBy::nobody;
    name.is_remembered = name.is_doubtful = false;
  }
}

bool EtcdOwnedNames::is_unsettled(const Name& name) const {
  return !name.is_leaving && name.kept_by != KeptBy::another && (name.lease != lease_ || lease_ == 0);
}

std::vector<std::string> EtcdOwnedNames::unsettled_behind(const std::string& key) const {
  const os::LockGuard lock(mutex_);
  std::vector<std::string> keys;
  std::size_t bytes = 0;
  for (auto name = names_.upper_bound(key); name != names_.end() && keys.size() < names_in_step; ++name) {
    if (!is_unsettled(name->second)) continue;
    bytes += name->second.name.value.size();
    if (bytes > longest_step && !keys.empty()) break;
    keys.push_back(name->first);
  }
  return keys;
}

EtcdOwnedNames::Done EtcdOwnedNames::settle_all() {
  auto asked = std::chrono::steady_clock::now();
  std::string refused;
  for (auto keys = unsettled_behind({}); !keys.empty(); keys = unsettled_behind(keys.back())) {
    const auto settled = settle(keys);
    if (!settled && settled.error().kind == EtcdFault::Kind::unreachable) return settled;
    if (!settled) refused = settled.error().text;
    // Renews the lease meanwhile, so that the names that are bound already do not expire.
    if (std::chrono::steady_clock::now() - asked < time_ / 4) continue;
    if (const auto alive = keep_alive(); !alive) return alive;
    asked = std::chrono::steady_clock::now();
  }
  if (!refused.empty()) os::log::warn(refused + ": names of processes could not be bound again");
  return {};
}

// Returns the names with the revisions that etcd is expected to have. Those bound here disappeared with their lease.
std::vector<EtcdOwnedNames::Name> EtcdOwnedNames::expected_of(const std::vector<std::string>& keys) const {
  const os::LockGuard lock(mutex_);
  std::vector<Name> names;
  for (const std::string& key : keys) {
    const auto name = names_.find(key);
    if (name == names_.end() || !is_unsettled(name->second)) continue;
    names.push_back(name->second);
    if (name->second.kept_by == KeptBy::this_nameserver) names.back().revision = 0;
  }
  return names;
}

EtcdOwnedNames::Done EtcdOwnedNames::settle(const std::vector<std::string>& keys) {
  const os::LockGuard turn(turn_);
  const auto with = lease();
  if (!with) return with.error();
  std::vector<Name> names = expected_of(keys);
  for (int attempt = 0; attempt < most_tries && !names.empty(); ++attempt) {
    EtcdTransaction transaction;
    std::set<std::string> contexts;
    for (const Name& each : names) {
      transaction.if_unchanged(each.name.key, each.revision).else_get(each.name.key);
      transaction.then_put(each.name.key, each.name.value, *with);
      if (!each.name.context_key.empty()) contexts.insert(each.name.context_key);
    }
    for (const std::string& context : contexts) transaction.if_present(context).else_get(context);
    const auto outcome = client_.commit(transaction);
    if (!outcome && outcome.error().kind == EtcdFault::Kind::no_lease) return ran_out(*with), Done{};
    if (!outcome) return outcome.error();
    if (!outcome->held) {
      judge(names, *outcome, *with);
      continue;
    }
    for (const Name& name : names) bound(name.owner, name.name, *with, outcome->revision);
    return {};
  }
  return {};
}

// Keeps in `names` those that must be tried again, with their present revisions.
void EtcdOwnedNames::judge(std::vector<Name>& names, const EtcdOutcome& outcome, EtcdLease lease) {
  std::set<std::string> contexts;
  for (std::size_t i = names.size(); i < outcome.entries.size(); ++i)
    if (const EtcdEntry* const context = entry_read(outcome, i)) contexts.insert(context->key);
  std::vector<Name> again;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Name& name = names[i];
    const EtcdEntry* const there = entry_read(outcome, i);
    const bool has_context = name.name.context_key.empty() || contexts.contains(name.name.context_key);
    if (!has_context || is_to_be_dropped(name, there)) {
      lost(name.name.key, outcome.revision + 1);
    } else if (there != nullptr && there->lease == lease) {
      bound(name.owner, name.name, lease, there->modified);
    } else if (name.kept_by == KeptBy::nobody && there->lease != name.lease) {
      seen({.is_deletion = false, .entry = *there});  // a third nameserver has taken it over
    } else {
      name.revision = there == nullptr ? 0 : there->modified;
      again.push_back(std::move(name));
    }
  }
  names = std::move(again);
}

bool EtcdOwnedNames::is_to_be_dropped(const Name& name, const EtcdEntry* there) {
  if (there == nullptr) return name.kept_by == KeptBy::nobody;  // its owner may have ended
  if (there->value == name.name.value) return false;
  os::log::warn("the lease of " + name.owner + " ran out while etcd was away, and " + name.name.key +
                " is bound by another owner now");
  return true;
}

}  // namespace corelane::nameserver
