#include "services/nameserver/stores/etcd/etcd_store.h"

#include <algorithm>
#include <charconv>

#include "orb/base/text/counted.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/mutex.h"
#include "services/nameserver/stores/etcd/etcd_address.h"
#include "services/nameserver/stores/etcd/etcd_follower.h"
#include "services/nameserver/stores/http/tls.h"

namespace corelane::nameserver {
namespace {

constexpr int most_attempts = 50;          // each attempt failed because another writer was faster
constexpr std::size_t little_room = 1000;  // more names than are bound in the time that a copy is behind

class EtcdStore final : public Store {
 public:
  EtcdStore(const EtcdAddress& address, std::shared_ptr<HttpNetwork> network, const StoreOptions& options)
      : place_(address.text()),
        keys_(address.prefix),
        client_({.endpoints = address.endpoints,
                 .network = std::move(network),
                 .user = options.etcd_user,
                 .password = options.etcd_password,
                 .timeout = options.etcd_timeout}),
        cache_(keys_, options.limits),
        owned_(client_, options.etcd_lease),
        copy_(EtcdCopy::open(options.etcd_copy, place_)),
        follower_(client_, keys_, cache_, copy_.get(), owned_, notifier_,
                  {.period = std::chrono::milliseconds(options.etcd_lease) / 3, .page = options.etcd_page}) {}

  Expected<void, EtcdFault> wait_for_contact(std::chrono::steady_clock::time_point deadline) {
    return follower_.wait_for_contact(deadline);
  }
  // Returns whether it serves names from the copy, without etcd.
  bool remembers() const { return follower_.remembers(); }
  void say_that_it_remembers(const EtcdFault& why) {
    const StoreStatus now = status();
    os::log::warn("naming: etcd is away (" + why.text + "): " + counted(now.names, "name is", "names are") +
                  " found as the copy " + copy_->path() + " has them, which is " +
                  std::to_string(std::chrono::floor<std::chrono::seconds>(now.stale_for).count()) +
                  " s old, and none can be bound until etcd is back: start it, or repair the connection to it");
  }

  Expected<Binding, StoreFault> find(ContextId context, const NameComponent& name) override;
  Expected<std::vector<Entry>, StoreFault> list(ContextId context, const NameComponent* after,
                                                std::size_t most) override;
  Expected<bool, StoreFault> has_context(ContextId context) override;
  Expected<std::vector<ContextId>, StoreFault> contexts() override;
  Expected<std::vector<std::string>, StoreFault> owners() override;
  Expected<void, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding) override;
  Expected<void, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding) override;
  Expected<Binding, StoreFault> remove(ContextId context, const NameComponent& name, const std::string& by) override;
  Expected<ContextId, StoreFault> make_context() override;
  Expected<ContextId, StoreFault> add_context(ContextId context, const NameComponent& name,
                                              const std::string& by) override;
  Expected<void, StoreFault> destroy_context(ContextId context, const std::string& by) override;
  Expected<void, StoreFault> remove_owned(const std::string& owner) override;
  void on_change(std::function<void(const Change&)> told) override { notifier_.on_change(std::move(told)); }
  StoreStatus status() override;

 private:
  using Done = Expected<void, StoreFault>;
  // The result of one attempt of a writer; nothing if another writer was faster and it must be tried again.
  using Attempt = std::optional<Expected<std::uint64_t, StoreFault>>;

  // Returns what writers are told. The log and status() have the reason until a write succeeds again.
  StoreFault say(const EtcdFault& fault);
  void all_is_well();
  std::string remark() const;

  // Returns the key that says that the context exists; empty for the root.
  std::string key_of(ContextId context) const {
    return context == root_context ? std::string() : keys_.context(context);
  }
  // Returns the key of the context of this store that the binding leads to; empty for other bindings and for the root.
  std::string target_key_of(const Binding& binding) const {
    const bool is_ours = binding.type == BindingType::context && binding.reference.empty();
    return is_ours ? key_of(binding.context) : std::string();
  }
  // Says whether few free names are left. Then writers must bind one after another, so that no two of them take the
  // last free name. room_for() returns a fault if there is no free name. It counts only if the name is not bound.
  struct Room {
    bool is_little = false;
    std::uint64_t taken_at = 0;  // the revision at which the last of those writers took a name
  };
  Expected<Room, StoreFault> room_for(ContextId context, const NameComponent& name, const std::string& by) const;
  void take_place(EtcdTransaction& transaction, const Room& room) const;
  // Writes the binding with its owner's lease if the transaction's conditions hold. Returns the outcome of the commit:
  // its revision, or what was read instead.
  Expected<EtcdOutcome, StoreFault> put(EtcdTransaction transaction, ContextId context, const NameComponent& name,
                                        const Binding& binding);
  // `refusal` says why the binding that was seen may not be replaced. It is returned if etcd confirms that binding.
  Attempt try_replace(ContextId context, const NameComponent& name, const Binding& binding, EtcdEntry& seen,
                      std::optional<StoreFault> refusal);
  ContextId number_of_next(const EtcdEntry& next) const;
  // Adds the removal of the surplus contexts, on the condition that they are unchanged and empty.
  void drop_surplus(EtcdTransaction& transaction, const std::vector<EtcdEntry>& surplus) const;
  // Waits until the cache shows those contexts as removed that other writers removed. `read_behind` is the number of
  // entries that the transaction read after them.
  void learn_of_gone(const EtcdOutcome& outcome, const std::vector<EtcdEntry>& surplus, std::size_t read_behind);
  bool is_too_long(const Binding& binding) const {
    return cache_.with_tree([&](const Tree& tree) { return tree.is_too_long(binding); });
  }
  bool may_change(const std::string& client, const Binding& bound) const {
    return cache_.with_tree([&](const Tree& tree) { return tree.may_change(client, bound); });
  }
  // Makes a context, and binds it if a name is given.
  Expected<ContextId, StoreFault> make(const NameComponent* name, ContextId parent, const std::string& by);
  // Returns whether etcd is away. Then writers fail at once, without waiting for a timeout.
  bool is_away() const { return !cache_.is_followed(); }
  // Commits a transaction that writes no binding.
  Expected<EtcdOutcome, StoreFault> commit(const EtcdTransaction& transaction);
  std::chrono::steady_clock::time_point in_time() const { return std::chrono::steady_clock::now() + client_.timeout(); }
  // Waits until readers see the change.
  void show(std::uint64_t revision) { cache_.wait_for(revision, in_time()); }

  const std::string place_;
  const EtcdKeys keys_;
  EtcdClient client_;
  EtcdCache cache_;
  EtcdOwnedNames owned_;
  ChangeNotifier notifier_;
  const std::unique_ptr<EtcdCopy> copy_;
  EtcdFollower follower_;

  mutable os::Mutex remark_mutex_;
  std::string remark_ CORELANE_GUARDED_BY(remark_mutex_);
};

// Returns an entry that a transaction has read. If it does not exist, modified is 0.
EtcdEntry read_entry(const EtcdOutcome& outcome, std::size_t number) {
  const bool is_there = number < outcome.entries.size() && !outcome.entries[number].empty();
  return is_there ? outcome.entries[number].front() : EtcdEntry{};
}

// Returns the newest revision of what a transaction has read.
std::uint64_t newest_of(const EtcdOutcome& outcome) {
  std::uint64_t newest = 0;
  for (std::size_t i = 0; i < outcome.entries.size(); ++i) newest = std::max(newest, read_entry(outcome, i).modified);
  return newest;
}

// Requires that a context exists. The transaction reads its key after all others.
void require_context(EtcdTransaction& transaction, const std::string& key) {
  if (!key.empty()) transaction.if_present(key).else_get(key);
}
bool lacks_context(const EtcdOutcome& outcome, const std::string& key) {
  return !key.empty() && (outcome.entries.empty() || outcome.entries.back().empty());
}

// Requires that the context to be bound exists. The transaction reads its key before that of require_context(). It also
// writes the key again. So a drop_surplus() that saw the context without a name fails.
void require_target(EtcdTransaction& transaction, const std::string& key) {
  if (!key.empty()) transaction.if_present(key).then_put(key, {}).else_get(key);
}
bool lacks_target(const EtcdOutcome& outcome, const std::string& key, const std::string& context_key) {
  const std::size_t from_end = context_key.empty() ? 1 : 2;
  return !key.empty() && outcome.entries.size() >= from_end &&
         outcome.entries[outcome.entries.size() - from_end].empty();
}

StoreFault EtcdStore::say(const EtcdFault& fault) {
  const bool has_no_room = fault.kind == EtcdFault::Kind::no_room;
  if (!has_no_room && fault.kind != EtcdFault::Kind::refused) return StoreFault::unavailable;
  const std::string remark = "names cannot be written: " + fault.text +
                             (has_no_room ? ": compact and defragment etcd, or start it with a larger "
                                            "--quota-backend-bytes, then `etcdctl alarm disarm`"
                                          : "");
  const os::LockGuard lock(remark_mutex_);
  if (remark != remark_) os::log::error(remark);
  remark_ = remark;
  return has_no_room ? StoreFault::no_space : StoreFault::unavailable;
}

void EtcdStore::all_is_well() {
  const os::LockGuard lock(remark_mutex_);
  if (!remark_.empty()) os::log::info("names are written to etcd again");
  remark_.clear();
}

std::string EtcdStore::remark() const {
  std::string trouble = follower_.trouble();
  const os::LockGuard lock(remark_mutex_);
  return trouble.empty() ? remark_ : trouble;
}

Expected<Binding, StoreFault> EtcdStore::find(ContextId context, const NameComponent& name) {
  return cache_.with_tree([&](const Tree& tree) { return tree.find(context, name); });
}

Expected<std::vector<Entry>, StoreFault> EtcdStore::list(ContextId context, const NameComponent* after,
                                                         std::size_t most) {
  return cache_.with_tree([&](const Tree& tree) { return tree.list(context, after, most); });
}

Expected<bool, StoreFault> EtcdStore::has_context(ContextId context) {
  return cache_.with_tree([&](const Tree& tree) { return tree.has_context(context); });
}

Expected<std::vector<ContextId>, StoreFault> EtcdStore::contexts() {
  return cache_.with_tree([](const Tree& tree) { return tree.contexts(); });
}

Expected<std::vector<std::string>, StoreFault> EtcdStore::owners() {
  std::vector<std::string> owners = owned_.owners();
  cache_.with_tree([&](const Tree& tree) {
    return std::erase_if(owners, [&](const std::string& owner) { return !tree.has_owner(owner); });
  });
  return owners;
}

StoreStatus EtcdStore::status() {
  const auto stale_for = cache_.stale_for();
  StoreStatus status{.kind = "etcd",
                     .place = place_,
                     .stale = stale_for.has_value(),
                     .remark = remark(),
                     .revision = cache_.revision(),
                     .stale_for = stale_for.value_or(std::chrono::milliseconds{})};
  cache_.with_tree([&](const Tree& tree) {
    status.names = tree.names();
    status.contexts = tree.contexts_but_root();
  });
  return status;
}

Expected<EtcdStore::Room, StoreFault> EtcdStore::room_for(ContextId context, const NameComponent& name,
                                                          const std::string& by) const {
  Room room{.is_little = false, .taken_at = cache_.entry(keys_.room()).modified};
  // Counted after that entry was read, so everything that was bound until then is in the tree.
  return cache_.with_tree([&](const Tree& tree) -> Expected<Room, StoreFault> {
    const auto bound = tree.find(context, name);
    if (bound || bound.error() != StoreFault::not_found) return room;
    if (tree.is_full(context)) return StoreFault::full;
    if (tree.is_client_full(by)) return StoreFault::client_full;
    room.is_little = tree.is_full(context, little_room);
    return room;
  });
}

void EtcdStore::take_place(EtcdTransaction& transaction, const Room& room) const {
  if (!room.is_little) return;
  transaction.if_unchanged(keys_.room(), room.taken_at).then_put(keys_.room(), {}).else_get(keys_.room());
}

Expected<EtcdOutcome, StoreFault> EtcdStore::put(EtcdTransaction transaction, ContextId context,
                                                 const NameComponent& name, const Binding& binding) {
  if (is_away()) return StoreFault::unavailable;
  const std::string host = binding.owner.empty() ? std::string() : etcd_host();
  const EtcdName bound{keys_.name(context, name), etcd_value_of(binding, host), key_of(context)};
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto lease = binding.owner.empty() ? Expected<EtcdLease, EtcdFault>(EtcdLease{0}) : owned_.lease();
    if (!lease) return say(lease.error());
    EtcdTransaction with_put = transaction;
    owned_.asks(binding.owner);
    const auto outcome = client_.commit(with_put.then_put(bound.key, bound.value, *lease));
    // Without an answer it may have been done. The follower will see the name, and its owner may have ended by then.
    if (outcome || outcome.error().kind != EtcdFault::Kind::unreachable) owned_.answered(binding.owner);
    if (outcome) {
      if (outcome->held) all_is_well();
      if (outcome->held) owned_.bound(binding.owner, bound, *lease, outcome->revision);
      return *outcome;
    }
    if (outcome.error().kind != EtcdFault::Kind::no_lease) return say(outcome.error());
    owned_.ran_out(*lease);
  }
  return StoreFault::unavailable;
}

Expected<EtcdOutcome, StoreFault> EtcdStore::commit(const EtcdTransaction& transaction) {
  if (is_away()) return StoreFault::unavailable;
  auto outcome = client_.commit(transaction);
  if (!outcome) return say(outcome.error());
  return std::move(*outcome);
}

Expected<void, StoreFault> EtcdStore::add(ContextId context, const NameComponent& name, const Binding& binding) {
  const std::string key = keys_.name(context, name), context_key = key_of(context);
  const std::string target_key = target_key_of(binding);
  if (is_too_long(binding)) return StoreFault::full;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto room = room_for(context, name, binding.bound_by);
    if (!room) return room.error();
    EtcdTransaction transaction;
    transaction.if_absent(key).else_get(key);
    take_place(transaction, *room);
    require_target(transaction, target_key);
    require_context(transaction, context_key);
    const auto outcome = put(transaction, context, name, binding);
    if (!outcome) return outcome.error();
    if (outcome->held) return show(outcome->revision), Done{};
    if (lacks_context(*outcome, context_key)) return StoreFault::no_such_context;
    show(newest_of(*outcome));
    if (read_entry(*outcome, 0).modified != 0) return StoreFault::already_bound;
    if (lacks_target(*outcome, target_key, context_key)) return StoreFault::no_target;
  }
  return StoreFault::unavailable;
}

Expected<void, StoreFault> EtcdStore::replace(ContextId context, const NameComponent& name, const Binding& binding) {
  EtcdEntry seen = cache_.entry(keys_.name(context, name));
  auto bound = find(context, name);
  if (is_too_long(binding)) return StoreFault::full;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    std::optional<StoreFault> refusal;
    if (bound && !may_change(binding.bound_by, *bound)) refusal = StoreFault::not_owner;
    if (bound && bound->type != binding.type) refusal = StoreFault::wrong_type;
    const auto replaced = try_replace(context, name, binding, seen, refusal);
    if (replaced) return *replaced ? Done{} : Done{replaced->error()};
    if (const auto now = binding_in(seen.value))
      bound = *now;
    else
      bound = StoreFault::not_found;
  }
  return StoreFault::unavailable;
}

EtcdStore::Attempt EtcdStore::try_replace(ContextId context, const NameComponent& name, const Binding& binding,
                                          EtcdEntry& seen, std::optional<StoreFault> refusal) {
  const std::string key = keys_.name(context, name), context_key = key_of(context);
  const std::string target_key = refusal ? std::string() : target_key_of(binding);
  const auto room = room_for(context, name, binding.bound_by);
  if (!room) return Expected<std::uint64_t, StoreFault>(room.error());
  EtcdTransaction transaction;
  transaction.if_unchanged(key, seen.modified).else_get(key);
  take_place(transaction, *room);
  require_target(transaction, target_key);
  require_context(transaction, context_key);
  const auto outcome = refusal ? commit(transaction) : put(transaction, context, name, binding);
  if (!outcome) return Expected<std::uint64_t, StoreFault>(outcome.error());
  if (outcome->held && refusal) return Expected<std::uint64_t, StoreFault>(*refusal);
  if (outcome->held) return show(outcome->revision), Expected<std::uint64_t, StoreFault>(outcome->revision);
  if (lacks_context(*outcome, context_key)) return Expected<std::uint64_t, StoreFault>(StoreFault::no_such_context);
  if (lacks_target(*outcome, target_key, context_key))
    return Expected<std::uint64_t, StoreFault>(StoreFault::no_target);
  seen = read_entry(*outcome, 0);
  show(newest_of(*outcome));
  return std::nullopt;
}

// Removes the name only if it is unchanged since it was seen. So it does not remove a name that another client bound
// meanwhile.
Expected<Binding, StoreFault> EtcdStore::remove(ContextId context, const NameComponent& name, const std::string& by) {
  const std::string key = keys_.name(context, name), context_key = key_of(context);
  EtcdEntry seen = cache_.entry(key);
  auto bound = find(context, name);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const bool may = !bound || may_change(by, *bound);
    EtcdTransaction transaction;
    transaction.if_unchanged(key, seen.modified).else_get(key);
    if (may && seen.modified != 0) transaction.then_delete(key);
    require_context(transaction, context_key);
    const auto outcome = commit(transaction);
    if (!outcome) return outcome.error();
    if (outcome->held && !may) return StoreFault::not_owner;
    if (outcome->held && seen.modified == 0) return StoreFault::not_found;
    if (outcome->held) {
      owned_.lost(key, outcome->revision);
      show(outcome->revision);
      const auto gone = binding_in(read_entry(*outcome, 0).value);
      return gone ? Expected<Binding, StoreFault>(*gone) : StoreFault::not_found;
    }
    if (lacks_context(*outcome, context_key)) return StoreFault::no_such_context;
    seen = read_entry(*outcome, 0);
    show(newest_of(*outcome));
    if (const auto now = binding_in(seen.value))
      bound = *now;
    else
      bound = StoreFault::not_found;
  }
  return StoreFault::unavailable;
}

Expected<ContextId, StoreFault> EtcdStore::make_context() { return make(nullptr, root_context, {}); }

Expected<ContextId, StoreFault> EtcdStore::add_context(ContextId context, const NameComponent& name,
                                                       const std::string& by) {
  return make(&name, context, by);
}

Expected<ContextId, StoreFault> EtcdStore::make(const NameComponent* name, ContextId parent, const std::string& by) {
  const std::string parent_key = key_of(parent), name_key = name == nullptr ? std::string() : keys_.name(parent, *name);
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const EtcdEntry next = cache_.entry(keys_.next());
    // Counted after that entry was read, because making a context changes it.
    const auto surplus = cache_.surplus(name == nullptr ? std::nullopt : std::optional(parent));
    if (cache_.with_tree([&](const Tree& tree) { return tree.is_full_of_contexts(surplus.size()); }))
      return StoreFault::full;
    const auto room = name == nullptr ? Expected<Room, StoreFault>(Room{}) : room_for(parent, *name, by);
    if (!room) return room.error();
    const ContextId made = number_of_next(next);
    EtcdTransaction transaction;
    transaction.if_unchanged(keys_.next(), next.modified).else_get(keys_.next());
    transaction.then_put(keys_.next(), std::to_string(made + 1)).then_put(keys_.context(made), {});
    if (name != nullptr) {
      const Binding binding{.type = BindingType::context, .context = made, .bound_by = by};
      transaction.if_absent(name_key).else_get(name_key).then_put(name_key, etcd_value_of(binding));
      take_place(transaction, *room);
    }
    drop_surplus(transaction, surplus);
    require_context(transaction, parent_key);
    const auto outcome = commit(transaction);
    if (!outcome) return outcome.error();
    if (outcome->held) return show(outcome->revision), Expected<ContextId, StoreFault>(made);
    if (lacks_context(*outcome, parent_key)) return StoreFault::no_such_context;
    show(newest_of(*outcome));
    if (name != nullptr && read_entry(*outcome, 1).modified != 0) return StoreFault::already_bound;
    learn_of_gone(*outcome, surplus, parent_key.empty() ? 0 : 1);
  }
  return StoreFault::unavailable;
}

// A writer that binds the context changes its key, and one that binds a name in it is found below names_of().
void EtcdStore::drop_surplus(EtcdTransaction& transaction, const std::vector<EtcdEntry>& surplus) const {
  for (const EtcdEntry& gone : surplus) {
    const std::string names = keys_.names_of(keys_.place_of(gone.key)->context);
    transaction.if_unchanged(gone.key, gone.modified).if_nothing_below(names).then_delete(gone.key);
    transaction.else_get(gone.key).else_get_first_below(names);
  }
}

// A deleted key has no revision that could be read, so this waits for its deletion itself.
void EtcdStore::learn_of_gone(const EtcdOutcome& outcome, const std::vector<EtcdEntry>& surplus,
                              std::size_t read_behind) {
  const std::size_t read = 2 * surplus.size() + read_behind;
  for (std::size_t i = 0; i < surplus.size() && read <= outcome.entries.size(); ++i)
    if (read_entry(outcome, outcome.entries.size() - read + 2 * i).modified == 0)
      cache_.wait_for_other(surplus[i], in_time());
}

ContextId EtcdStore::number_of_next(const EtcdEntry& next) const {
  ContextId counted = 0;
  std::from_chars(next.value.data(), next.value.data() + next.value.size(), counted);
  return std::max(counted, cache_.with_tree([](const Tree& tree) { return tree.next_context(); }));
}

Expected<void, StoreFault> EtcdStore::destroy_context(ContextId context, const std::string& by) {
  if (context == root_context) return StoreFault::wrong_type;
  if (!cache_.with_tree([&](const Tree& tree) { return tree.may_destroy(by, context); })) return StoreFault::not_owner;
  EtcdTransaction transaction;
  transaction.if_nothing_below(keys_.names_of(context)).then_delete(keys_.context(context));
  require_context(transaction, keys_.context(context));
  const auto outcome = commit(transaction);
  if (!outcome) return outcome.error();
  if (outcome->held) return show(outcome->revision), Done{};
  return lacks_context(*outcome, keys_.context(context)) ? StoreFault::no_such_context : StoreFault::not_empty;
}

Expected<void, StoreFault> EtcdStore::remove_owned(const std::string& owner) {
  owned_.leave(owner);
  // An owner without names needs nothing to be done later. So ended owners do not accumulate while etcd is away.
  if (is_away()) return owned_.may_have(owner) ? Done{StoreFault::unavailable} : Done{};
  const auto gone = owned_.remove(owner);
  if (!gone) return say(gone.error());
  show(*gone);
  return {};
}

}  // namespace

Expected<std::unique_ptr<Store>, std::string> open_etcd_store(const std::string& url, const StoreOptions& options) {
  const auto address = parse_etcd_address(url);
  if (!address) return address.error().text;
  auto network = std::make_shared<HttpNetwork>();
  network->longest_reply = options.etcd_reply;
  if (address->is_tls) {
    auto tls = TlsContext::make(options.etcd_tls);
    if (!tls) return "the name store " + url + " cannot be opened: " + tls.error();
    network->tls = std::move(*tls);
  }
  auto store = std::make_unique<EtcdStore>(*address, std::move(network), options);
  const auto start = std::chrono::steady_clock::now(), end = start + options.etcd_patience;
  auto contact = store->wait_for_contact(std::min(end, start + std::chrono::seconds{1}));
  const bool is_away = !contact && contact.error().kind != EtcdFault::Kind::refused;
  if (is_away && store->remembers()) {
    store->say_that_it_remembers(contact.error());
    return {std::move(store)};
  }
  if (is_away) {
    os::log::info("naming: waiting for etcd: " + contact.error().text);
    contact = store->wait_for_contact(end);
  }
  if (contact) return {std::move(store)};
  return "the name store " + url + " cannot be opened: " + contact.error().text +
         (contact.error().kind == EtcdFault::Kind::refused ? "" : ": start etcd there, or name another place");
}

}  // namespace corelane::nameserver
