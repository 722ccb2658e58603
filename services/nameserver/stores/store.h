// Store is the interface to the place where the nameserver keeps names. It has contexts, identified by numbers. Each
// context has bindings of a name component to an object reference or to another context.
//
// Each operation is atomic: it is done whole or not at all. How long acknowledged writes last depends on the kind of
// store (tree_store.h, sqlite_store.h, etcd_store.h). The rules of CosNaming (compound names, the order of its
// exceptions) are above this layer.
//
// Threads: any but real-time ones, in parallel; a writer may wait for a disk or a network. The callback of on_change()
// runs without a lock held and must not write to the store itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/giop/name_text.h"

namespace corelane::nameserver {

// Any bytes; both parts may be empty. Ordered by id, then kind, byte by byte.
using giop::NameComponent;

// A number is never used again after its context is destroyed. The root always exists.
using ContextId = std::uint64_t;
inline constexpr ContextId root_context = 0;

enum class BindingType : std::uint8_t { object, context };

struct Binding {
  BindingType type = BindingType::object;
  std::string reference{};           // opaque to the store; empty for a context of this store
  ContextId context = root_context;  // for type context, if reference is empty
  std::string owner{};               // empty: persistent. Otherwise the lease whose end removes the name (remove_owned)
  std::string bound_by{};            // the client that may change it (Client::name); empty: any client that may write

  friend bool operator==(const Binding&, const Binding&) = default;
};

struct Entry {
  NameComponent name;
  Binding binding;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// Faults, by what the caller can do about them.
enum class StoreFault : std::uint8_t {
  no_such_context,
  not_found,
  already_bound,
  not_empty,
  wrong_type,   // replace(): the present binding has the other type; destroy_context(): the root
  not_owner,    // the name, or a name that leads to the context, belongs to another client
  client_full,  // StoreLimits::bindings_of_client
  no_target,    // add(), replace(): the context of this store to be bound does not exist
  full,         // a limit of StoreLimits
  no_space,     // the disk, or etcd's quota, is full; the log says what to do
  unavailable,  // as far as is known, nothing was written; try again later. The log has the reason
};
std::string_view text_of(StoreFault fault) noexcept;

struct Change {
  enum class Kind : std::uint8_t { bound, rebound, unbound, made, destroyed };

  Kind kind = Kind::bound;
  ContextId context = root_context;
  NameComponent name{};        // empty for made and destroyed
  Binding binding{};           // for unbound: the removed binding
  std::uint64_t revision = 0;  // increases; several changes of one operation may share one

  friend bool operator==(const Change&, const Change&) = default;
};

// The most that a store holds; beyond it writers get `full`. Several nameservers on one etcd share one limit.
struct StoreLimits {
  std::size_t contexts = 100'000;
  // Empty contexts that no name leads to; beyond it, making a context destroys the oldest.
  std::size_t loose_contexts = 1000;
  std::size_t bindings = 1'000'000;
  std::size_t bindings_per_context = 100'000;
  std::size_t reference = 65'536;  // bytes of one reference
  std::size_t bindings_of_client = 1'000'000;
  // Clients that may change every name and have no limit of their own. The client without a name, which is the
  // nameserver's own program, always may.
  std::vector<std::string> privileged{};
};

struct StoreStatus {
  std::string kind{};                     // memory, sqlite, etcd
  std::string place{};                    // a path, a URL; empty for memory
  bool stale = false;                     // etcd is away, so readers may get older names than others have written
  std::string remark{};                   // why it is stale or refuses to write, and what to do; otherwise empty
  std::uint64_t revision = 0;             // of the latest change that readers see
  std::chrono::milliseconds stale_for{};  // how long it has been stale; zero: it is not
  std::size_t names = 0, contexts = 0;    // those that readers see; the root is not counted
};

class Store {
 public:
  virtual ~Store() = default;

  // Readers. Their faults are no_such_context, not_found and unavailable.
  virtual Expected<Binding, StoreFault> find(ContextId context, const NameComponent& name) = 0;
  // Returns at most `most` entries in the order of names: from the first one, or from the first behind `after`.
  virtual Expected<std::vector<Entry>, StoreFault> list(ContextId context, const NameComponent* after,
                                                        std::size_t most) = 0;
  virtual Expected<bool, StoreFault> has_context(ContextId context) = 0;
  // Returns all contexts except the root in order, whether names lead to them or not.
  virtual Expected<std::vector<ContextId>, StoreFault> contexts() = 0;
  // Returns the owners that have names and whose end must be reported to this store; each once, in order.
  virtual Expected<std::vector<std::string>, StoreFault> owners() = 0;

  // Writers. When they return, the change is done, and every reader that starts later sees it. They also return full
  // and unavailable. A context that was bound existed, and was not destroyed meanwhile as one that no name leads to. A
  // client can change only its own names, unless it is privileged; binding.bound_by and `by` name the client.
  virtual Expected<void, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding) = 0;
  virtual Expected<void, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding) = 0;
  // Returns the removed binding.
  virtual Expected<Binding, StoreFault> remove(ContextId context, const NameComponent& name,
                                               const std::string& by = {}) = 0;
  // Makes a context that is not bound yet.
  virtual Expected<ContextId, StoreFault> make_context() = 0;
  // Makes and binds a context in one step.
  virtual Expected<ContextId, StoreFault> add_context(ContextId context, const NameComponent& name,
                                                      const std::string& by = {}) = 0;
  // not_empty: it has names in it. Bindings to it stay.
  virtual Expected<void, StoreFault> destroy_context(ContextId context, const std::string& by = {}) = 0;
  // Removes all names of the owner, in one step; etcd needs a step for each 64 names.
  virtual Expected<void, StoreFault> remove_owned(const std::string& owner) = 0;

  // Sets the callback before the store is used. It is called once for each change, one at a time, in the order of
  // revisions, on any thread, perhaps shortly after the writer returned. It must not throw. An empty function removes
  // the callback and waits until it does not run any more; do not call this from within the callback.
  virtual void on_change(std::function<void(const Change&)> told) = 0;
  virtual StoreStatus status() = 0;
};

}  // namespace corelane::nameserver
