// NameTree applies the rules of CosNaming to a Store: compound names, which fault to report, and for which part of the
// name. CosNaming 1.3, 2.1 to 2.3.
//
// A name leads through contexts of the store. If it leads to a context of another server, the fault `elsewhere` says
// where to continue and with which part of the name. A caller that can make calls continues there.
//
// Threads: any, as for the store. It has no state of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/expected.h"
#include "services/nameserver/stores/store.h"

namespace corelane::nameserver {

using Name = std::vector<NameComponent>;

// The same as CosNaming::NamingContext::NotFoundReason.
enum class NotFoundReason : std::uint8_t { missing_node, not_context, not_object };

enum class NameFaultKind : std::uint8_t {
  invalid_name,  // empty, longer or deeper than allowed
  not_found,     // `why`, at component `at`
  already_bound,
  not_empty,
  elsewhere,    // component `at` and those behind it belong to the context `reference`
  gone,         // the context that the call was made on does not exist
  dead_end,     // the name led into the context `context`, which does not exist; component `at` was next
  no_target,    // the context to be bound does not exist
  not_owner,    // the name, or a name that leads to the context, belongs to another client: `owner`
  client_full,  // the client has as many names as it is allowed
  full,         // the store's limits are reached
  no_space,     // the store's disk or quota is full
  unavailable,  // the store does not answer
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

  // `store` must outlive the tree.
  NameTree(Store& store, const NameLimits& limits) : store_(store), limits_(limits) {}

  Result<Binding> resolve(ContextId from, const Name& name);
  // With IfBound::replace, replaces only a binding of the same type. For another type, the fault is not_found with
  // not_object or not_context. `by` and binding.bound_by name the client; only names of that client can be changed
  // (stores/store.h).
  Result<void> bind(ContextId from, const Name& name, const Binding& binding, IfBound if_bound);
  Result<void> unbind(ContextId from, const Name& name, const std::string& by = {});
  Result<ContextId> make_context();
  Result<ContextId> bind_new_context(ContextId from, const Name& name, const std::string& by = {});
  Result<void> destroy(ContextId context, const std::string& by = {});
  // Lists entries in the order of names, from the first name behind `after`. If `after` is null, from the first name.
  Result<std::vector<Entry>> list(ContextId context, const NameComponent* after, std::size_t most);
  Result<void> require(ContextId context);
  // Removes names that were bound after their owner had ended. Returns false if the store did not answer; then they are
  // still there.
  bool remove_owned(const std::string& owner) { return store_.remove_owned(owner).has_value(); }

 private:
  // The place of a name's last component.
  struct Place {
    ContextId context;
    std::size_t at;
  };
  Result<void> check(const Name& name) const;
  Result<Place> walk(ContextId from, const Name& name);
  static NameFault fault_at(const Place& place, StoreFault fault);
  // Returns the same for a change to the binding there. If it belongs to another client, the fault names that owner.
  NameFault fault_of_change(const Place& place, const NameComponent& last, StoreFault fault);

  Store& store_;
  const NameLimits limits_;
};

}  // namespace corelane::nameserver
