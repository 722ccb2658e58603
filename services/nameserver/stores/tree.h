// Tree: contexts and bindings in memory, with the rules of Store: what an operation changes, or why it may not.
// Threads: as a container; whoever owns it guards it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

using Changes = std::vector<Change>;  // without revisions as long as nobody gave them one

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

  // What has been changed; the tree is as it was when there is a fault.
  Expected<Changes, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding);
  Expected<Changes, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding);
  Expected<Changes, StoreFault> remove(ContextId context, const NameComponent& name, const std::string& by);
  Expected<Changes, StoreFault> make_context();
  // The one made comes first.
  Expected<Changes, StoreFault> add_context(ContextId context, const NameComponent& name, const std::string& by);
  Expected<Changes, StoreFault> destroy_context(ContextId context, const std::string& by);
  Expected<Changes, StoreFault> remove_owned(const std::string& owner);

  // What was decided elsewhere, over all rules: a binding in an unknown context makes that context.
  void apply(const Change& change);

  // Whether one more would be one too many; or would be after `more` others.
  bool is_full(ContextId context, std::size_t more = 0) const;
  // Whether it binds a context of this store that is not there.
  bool lacks_target(const Binding& binding) const;
  // Whether the client may change what is bound; and destroy the context, to which names of others may lead.
  bool may_change(const std::string& client, const Binding& bound) const;
  bool may_destroy(const std::string& client, ContextId context) const;
  // Whether the client has as many names as it may.
  bool is_client_full(const std::string& client) const;
  bool is_too_long(const Binding& binding) const { return binding.reference.size() > limits_.reference; }
  // Empty contexts that no name leads to, the oldest ones: those that have to go when one more is made. Whoever makes a
  // context and forgets it would else take the room of everybody, with nothing that could be found and unbound.
  // `parent`: where it is bound at once; that one stays.
  std::vector<ContextId> surplus(const std::optional<ContextId>& parent) const;
  // Whether there would be one too many without so many of those that there are.
  bool is_full_of_contexts(std::size_t without = 0) const { return contexts_.size() - without > limits_.contexts; }

  // The number of the next context: above all that there ever were.
  ContextId next_context() const { return next_context_; }
  void skip_contexts_below(ContextId next) { next_context_ = next > next_context_ ? next : next_context_; }

  // Everything, as the changes that make it: contexts first.
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
  std::map<ContextId, std::multiset<std::string>> links_;  // bindings to it: by whom each was bound
  std::map<std::string, std::size_t> of_client_;           // bindings by the client that bound them
  std::set<ContextId> loose_;                              // contexts that are empty and have no links
  std::size_t bindings_ = 0;
  ContextId next_context_ = root_context + 1;
};

}  // namespace corelane::nameserver
