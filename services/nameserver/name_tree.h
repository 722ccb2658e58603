// NameTree: the rules of CosNaming over a Store: compound names, which exception, from which part of the name on.
// CosNaming 1.3, 2.1 to 2.3.
//
// A name leads through contexts of the store. Where it comes to a foreign one (another server's) the fault `elsewhere`
// tells where to go on and with which part of the name; who may call goes on there.
//
// Threads: any, as the store; no state of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

using Name = std::vector<NameComponent>;

// As CosNaming::NamingContext::NotFoundReason.
enum class NotFoundReason : std::uint8_t { missing_node, not_context, not_object };

enum class NameFaultKind : std::uint8_t {
  invalid_name,  // empty, longer or deeper than allowed
  not_found,     // `why`, at component `at`
  already_bound,
  not_empty,
  elsewhere,    // component `at` and those behind it are for the context `reference`
  gone,         // the context that was asked does not exist
  dead_end,     // the way led into the context `context`, which does not exist; component `at` was to come
  no_target,    // the context to be bound does not exist
  not_owner,    // the name, or one that leads to the context, is another client's: `owner`
  client_full,  // the client has as many names as it may
  full,         // the store's limits
  no_space,     // where the store writes
  unavailable,  // the store
};

struct NameFault {
  NameFaultKind kind;
  NotFoundReason why = NotFoundReason::missing_node;
  std::size_t at = 0;
  std::string reference{};
  ContextId context = root_context;
  std::string owner{};
};

struct NameLimits {
  std::size_t depth = 64;     // components
  std::size_t length = 1024;  // bytes of an id, and of a kind
};

enum class IfBound : std::uint8_t { refuse, replace };

class NameTree {
 public:
  template <typename T>
  using Result = Expected<T, NameFault>;

  // `store` outlives the tree.
  NameTree(Store& store, const NameLimits& limits) : store_(store), limits_(limits) {}

  Result<Binding> resolve(ContextId from, const Name& name);
  // replace: only a binding of the same type; not_found, not_object or not_context, otherwise.
  // `by`, and binding.bound_by: the client, whose names alone are changed (stores/store.h).
  Result<void> bind(ContextId from, const Name& name, const Binding& binding, IfBound if_bound);
  Result<void> unbind(ContextId from, const Name& name, const std::string& by = {});
  Result<ContextId> make_context();
  Result<ContextId> bind_new_context(ContextId from, const Name& name, const std::string& by = {});
  Result<void> destroy(ContextId context, const std::string& by = {});
  // In the order of names, from the first behind `after`, or from the first.
  Result<std::vector<Entry>> list(ContextId context, const NameComponent* after, std::size_t most);
  Result<void> require(ContextId context);
  // Names that came too late for their owner's end. False: the store did not answer, and they are still there.
  bool remove_owned(const std::string& owner) { return store_.remove_owned(owner).has_value(); }

 private:
  // Where the last component of the name is.
  struct Place {
    ContextId context;
    std::size_t at;  // of the last component
  };
  Result<void> check(const Name& name) const;
  Result<Place> walk(ContextId from, const Name& name);
  static NameFault fault_at(const Place& place, StoreFault fault);
  // The same of a change to what is bound there, with its owner where it is another client's.
  NameFault fault_of_change(const Place& place, const NameComponent& last, StoreFault fault);

  Store& store_;
  const NameLimits limits_;
};

}  // namespace corelane::nameserver
