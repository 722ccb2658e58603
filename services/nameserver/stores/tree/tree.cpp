#include "services/nameserver/stores/tree/tree.h"

#include <algorithm>
#include <iterator>

namespace corelane::nameserver {
namespace {

// Entries of an answer for which memory is reserved before their number is known.
constexpr std::size_t most_reserved = 1024;
constexpr std::size_t most_surplus = 16;  // contexts that are destroyed at once; etcd does it in one transaction

Change change_of(Change::Kind kind, ContextId context, const NameComponent& name = {}, const Binding& binding = {}) {
  return {.kind = kind, .context = context, .name = name, .binding = binding};
}

bool is_of_this_store(const Binding& binding) {
  return binding.type == BindingType::context && binding.reference.empty();
}

}  // namespace

Expected<Binding, StoreFault> Tree::find(ContextId context, const NameComponent& name) const {
  const auto names = contexts_.find(context);
  if (names == contexts_.end()) return StoreFault::no_such_context;
  const auto found = names->second.find(name);
  if (found == names->second.end()) return StoreFault::not_found;
  return found->second;
}

Expected<std::vector<Entry>, StoreFault> Tree::list(ContextId context, const NameComponent* after,
                                                    std::size_t most) const {
  const auto names = contexts_.find(context);
  if (names == contexts_.end()) return StoreFault::no_such_context;
  std::vector<Entry> entries;
  entries.reserve(std::min({most, names->second.size(), most_reserved}));
  auto next = after == nullptr ? names->second.begin() : names->second.upper_bound(*after);
  for (; next != names->second.end() && entries.size() < most; ++next) entries.push_back({next->first, next->second});
  return entries;
}

std::vector<ContextId> Tree::contexts() const {
  std::vector<ContextId> ids;
  for (const auto& [id, names] : contexts_)
    if (id != root_context) ids.push_back(id);
  return ids;
}

std::vector<std::string> Tree::owners() const {
  std::vector<std::string> owners;
  for (const auto& [owner, places] : owned_) owners.push_back(owner);
  return owners;
}

bool Tree::is_full(ContextId context, std::size_t more) const {
  const auto names = contexts_.find(context);
  const std::size_t here = names == contexts_.end() ? 0 : names->second.size();
  return bindings_ + more >= limits_.bindings || here + more >= limits_.bindings_per_context;
}

bool Tree::lacks_target(const Binding& binding) const {
  return is_of_this_store(binding) && !has_context(binding.context);
}

Expected<Changes, StoreFault> Tree::add(ContextId context, const NameComponent& name, const Binding& binding) {
  const auto bound = find(context, name);
  if (bound) return StoreFault::already_bound;
  if (bound.error() != StoreFault::not_found) return bound.error();
  if (lacks_target(binding)) return StoreFault::no_target;
  if (is_full(context) || is_too_long(binding)) return StoreFault::full;
  if (is_client_full(binding.bound_by)) return StoreFault::client_full;
  return done(change_of(Change::Kind::bound, context, name, binding));
}

Expected<Changes, StoreFault> Tree::replace(ContextId context, const NameComponent& name, const Binding& binding) {
  const auto bound = find(context, name);
  if (!bound) return add(context, name, binding);
  if (bound->type != binding.type) return StoreFault::wrong_type;
  if (!may_change(binding.bound_by, *bound)) return StoreFault::not_owner;
  if (lacks_target(binding)) return StoreFault::no_target;
  if (is_too_long(binding)) return StoreFault::full;
  return done(change_of(Change::Kind::rebound, context, name, binding));
}

Expected<Changes, StoreFault> Tree::remove(ContextId context, const NameComponent& name, const std::string& by) {
  const auto bound = find(context, name);
  if (!bound) return bound.error();
  if (!may_change(by, *bound)) return StoreFault::not_owner;
  return done(change_of(Change::Kind::unbound, context, name, *bound));
}

std::vector<ContextId> Tree::surplus(const std::optional<ContextId>& parent) const {
  std::vector<ContextId> oldest;
  // A caller that makes an unbound context gets it, even if the limit is 0.
  const std::size_t kept = parent ? limits_.loose_contexts : std::max<std::size_t>(limits_.loose_contexts, 1) - 1;
  const std::size_t some = std::min(loose_.size() - std::min(loose_.size(), kept), most_surplus);
  for (auto next = loose_.begin(); next != loose_.end() && oldest.size() < some; ++next)
    if (*next != parent) oldest.push_back(*next);
  return oldest;
}

Expected<Changes, StoreFault> Tree::make_context() { return make_context_for(std::nullopt); }

Expected<Changes, StoreFault> Tree::make_context_for(const std::optional<ContextId>& parent) {
  const std::vector<ContextId> gone = surplus(parent);
  if (is_full_of_contexts(gone.size())) return StoreFault::full;
  Changes changes = done(change_of(Change::Kind::made, next_context_));
  for (const ContextId context : gone) {
    changes.push_back(change_of(Change::Kind::destroyed, context));
    apply(changes.back());
  }
  return changes;
}

Expected<Changes, StoreFault> Tree::add_context(ContextId context, const NameComponent& name, const std::string& by) {
  const auto bound = find(context, name);
  if (bound) return StoreFault::already_bound;
  if (bound.error() != StoreFault::not_found) return bound.error();
  if (is_full(context)) return StoreFault::full;
  if (is_client_full(by)) return StoreFault::client_full;
  auto changes = make_context_for(context);
  if (!changes) return changes;
  const Binding binding{.type = BindingType::context, .context = changes->front().context, .bound_by = by};
  changes->push_back(change_of(Change::Kind::bound, context, name, binding));
  apply(changes->back());
  return changes;
}

Expected<Changes, StoreFault> Tree::destroy_context(ContextId context, const std::string& by) {
  const auto names = contexts_.find(context);
  if (names == contexts_.end()) return StoreFault::no_such_context;
  if (context == root_context) return StoreFault::wrong_type;
  if (!may_destroy(by, context)) return StoreFault::not_owner;
  if (!names->second.empty()) return StoreFault::not_empty;
  return done(change_of(Change::Kind::destroyed, context));
}

Expected<Changes, StoreFault> Tree::remove_owned(const std::string& owner) {
  Changes changes;
  const auto owned = owned_.find(owner);
  if (owned == owned_.end()) return changes;
  for (const auto& [context, name] : owned->second)
    changes.push_back(change_of(Change::Kind::unbound, context, name, contexts_.at(context).at(name)));
  for (const Change& change : changes) apply(change);
  return changes;
}

void Tree::apply(const Change& change) {
  switch (change.kind) {
    case Change::Kind::bound:
    case Change::Kind::rebound:
      return bind(change.context, change.name, change.binding);
    case Change::Kind::unbound:
      return unbind(change.context, change.name);
    case Change::Kind::made:
      contexts_[change.context];
      weigh(change.context);
      return skip_contexts_below(change.context + 1);
    case Change::Kind::destroyed:
      contexts_.erase(change.context);
      weigh(change.context);
  }
}

Changes Tree::done(Change change) {
  apply(change);
  Changes changes;
  changes.push_back(std::move(change));
  return changes;
}

void Tree::bind(ContextId context, const NameComponent& name, const Binding& binding) {
  unbind(context, name);
  contexts_[context].emplace(name, binding);
  ++bindings_;
  if (!binding.owner.empty()) owned_[binding.owner].insert({context, name});
  count(binding.bound_by, true);
  link(binding, true);
  weigh(context);
}

void Tree::unbind(ContextId context, const NameComponent& name) {
  const auto names = contexts_.find(context);
  if (names == contexts_.end()) return;
  const auto bound = names->second.find(name);
  if (bound == names->second.end()) return;
  disown(bound->second.owner, {context, name});
  count(bound->second.bound_by, false);
  link(bound->second, false);
  names->second.erase(bound);
  --bindings_;
  weigh(context);
}

void Tree::link(const Binding& binding, bool is_bound) {
  if (!is_of_this_store(binding)) return;
  auto& links = links_[binding.context];
  if (is_bound)
    links.insert(binding.bound_by);
  else if (const auto gone = links.find(binding.bound_by); gone != links.end())
    links.erase(gone);
  if (links.empty()) links_.erase(binding.context);
  weigh(binding.context);
}

void Tree::count(const std::string& client, bool is_bound) {
  if (client.empty()) return;
  std::size_t& names = of_client_[client];
  names = is_bound ? names + 1 : names - 1;
  if (names == 0) of_client_.erase(client);
}

bool Tree::is_privileged(const std::string& client) const {
  return client.empty() || std::ranges::find(limits_.privileged, client) != limits_.privileged.end();
}

bool Tree::may_change(const std::string& client, const Binding& bound) const {
  return bound.bound_by.empty() || bound.bound_by == client || is_privileged(client);
}

// Refuses even if the client bound one of the names that lead to the context: the others would lead nowhere.
bool Tree::may_destroy(const std::string& client, ContextId context) const {
  const auto links = links_.find(context);
  return links == links_.end() || is_privileged(client) ||
         std::ranges::all_of(links->second, [&](const auto& owner) { return owner.empty() || owner == client; });
}

bool Tree::is_client_full(const std::string& client) const {
  const auto counted = of_client_.find(client);
  const std::size_t names = counted == of_client_.end() ? 0 : counted->second;
  return names >= limits_.bindings_of_client && !is_privileged(client);
}

void Tree::weigh(ContextId context) {
  const auto names = contexts_.find(context);
  const bool is_loose =
      context != root_context && names != contexts_.end() && names->second.empty() && !links_.contains(context);
  if (is_loose)
    loose_.insert(context);
  else
    loose_.erase(context);
}

void Tree::disown(const std::string& owner, const Place& place) {
  const auto owned = owned_.find(owner);
  if (owned == owned_.end()) return;
  owned->second.erase(place);
  if (owned->second.empty()) owned_.erase(owned);
}

Changes Tree::content() const {
  Changes all;
  for (const ContextId id : contexts()) all.push_back(change_of(Change::Kind::made, id));
  for (const auto& [id, names] : contexts_)
    for (const auto& [name, binding] : names) all.push_back(change_of(Change::Kind::bound, id, name, binding));
  return all;
}

}  // namespace corelane::nameserver
