// Tree holds contexts and bindings in memory and applies the rules of Store. It returns what an operation changes, or
// why it is refused.
// Threads: as for a container; its owner guards it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

using Changes = std::vector<Change>;  // without revisions until a store sets them

class Tree {
 public:
  explicit Tree(StoreLimits limits) : limits_(limits) {}

  Expected<Binding, StoreFault> find(ContextId context, const NameComponent& name) const;
  Expected<std::vector<Entry>, StoreFault> list(ContextId context, const NameComponent* after, std::size_t most) const;
  bool has_context(ContextId context) const { return contexts_.contains(context); }
  std::vector<ContextId> contexts() const;
  std::vector<std::string> owners() const;
  std::size_t names() const { return bindings_; }
  std::size_t contexts_but_root() const { return contexts_.size() - 1; }
  bool has_owner(const std::string& owner) const { return owned_.contains(owner); }

  // Return the changes made. If they return a fault, the tree is unchanged.
  Expected<Changes, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding);
  Expected<Changes, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding);
  Expected<Changes, StoreFault> remove(ContextId context, const NameComponent& name, const std::string& by);
  Expected<Changes, StoreFault> make_context();
  // The context that was made comes first in the changes.
  Expected<Changes, StoreFault> add_context(ContextId context, const NameComponent& name, const std::string& by);
  Expected<Changes, StoreFault> destroy_context(ContextId context, const std::string& by);
  Expected<Changes, StoreFault> remove_owned(const std::string& owner);

  // Applies a change that was decided elsewhere, without checks. A binding in an unknown context makes that context.
  void apply(const Change& change);

  // Returns whether there is no room for another binding in the context, or would be none after `more` others.
  bool is_full(ContextId context, std::size_t more = 0) const;
  // Returns whether it binds a context of this store that does not exist.
  bool lacks_target(const Binding& binding) const;
  // Return whether the client may change the binding, or destroy the context, to which names of other clients may lead.
  bool may_change(const std::string& client, const Binding& bound) const;
  bool may_destroy(const std::string& client, ContextId context) const;
  // Returns whether the client has as many names as it is allowed.
  bool is_client_full(const std::string& client) const;
  bool is_too_long(const Binding& binding) const { return binding.reference.size() > limits_.reference; }
  // Returns the oldest of the surplus contexts: those that are empty and that no name leads to. They are destroyed when
  // one more context is made. Otherwise a client that makes contexts and forgets them would use up the room of all
  // clients. Such contexts could not be found and unbound. `parent` is where the new context is bound at once; it
  // stays.
  std::vector<ContextId> surplus(const std::optional<ContextId>& parent) const;
  // Returns whether there would be too many contexts after one more, if `without` of the present ones were removed.
  bool is_full_of_contexts(std::size_t without = 0) const { return contexts_.size() - without > limits_.contexts; }

  // Returns the number of the next context, which is above all earlier ones.
  ContextId next_context() const { return next_context_; }
  void skip_contexts_below(ContextId next) { next_context_ = next > next_context_ ? next : next_context_; }

  // Returns the whole content as the changes that make it, contexts first.
  Changes content() const;

 private:
  using Names = std::map<NameComponent, Binding>;
  using Place = std::pair<ContextId, NameComponent>;

  Changes done(Change change);
  void bind(ContextId context, const NameComponent& name, const Binding& binding);
  void unbind(ContextId context, const NameComponent& name);
  void disown(const std::string& owner, const Place& place);
  void link(const Binding& binding, bool is_bound);
  void count(const std::string& client, bool is_bound);
  bool is_privileged(const std::string& client) const;
  void weigh(ContextId context);
  Expected<Changes, StoreFault> make_context_for(const std::optional<ContextId>& parent);

  StoreLimits limits_;
  std::map<ContextId, Names> contexts_{{root_context, {}}};
  std::map<std::string, std::set<Place>> owned_;
  std::map<ContextId, std::multiset<std::string>> links_;  // for each context, the clients that bound a name to it
  std::map<std::string, std::size_t> of_client_;           // number of bindings by the client that bound them
  std::set<ContextId> loose_;                              // contexts that are empty and that no name leads to
  std::size_t bindings_ = 0;
  ContextId next_context_ = root_context + 1;
};

}  // namespace corelane::nameserver
