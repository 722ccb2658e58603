// Store: where the nameserver keeps names. Contexts by number, and in each of them bindings of a name of one step to an
// object reference or to another context. Each operation is one step: it is done whole or not at all, and what was
// acknowledged lasts as long as the kind of store promises (memory_store.h, sqlite_store.h, etcd_store.h).
// The rules of CosNaming (compound names, the order of its exceptions) stand above it.
//
// Threads: any but real-time ones, side by side; a writer may wait for a disk or a network. The call-back of
// on_change() runs without a lock held and must not write to the store itself.
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

// Never used again once the context is destroyed. The root exists always.
using ContextId = std::uint64_t;
inline constexpr ContextId root_context = 0;

enum class BindingType : std::uint8_t { object, context };

struct Binding {
  BindingType type = BindingType::object;
  std::string reference{};           // opaque to the store; empty for a context of this store
  ContextId context = root_context;  // of type context, where reference is empty
  std::string owner{};               // empty: persistent. Else the lease whose end takes the name (remove_owned)
  std::string bound_by{};            // the client that may change it (Client::name); empty: every one that may write

  friend bool operator==(const Binding&, const Binding&) = default;
};

struct Entry {
  NameComponent name;
  Binding binding;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// In the words of what the caller can do about it.
enum class StoreFault : std::uint8_t {
  no_such_context,
  not_found,
  already_bound,
  not_empty,
  wrong_type,   // replace(): what is bound is of the other type; destroy_context(): the root
  not_owner,    // the name, or a name that leads to the context, is another client's
  client_full,  // StoreLimits::bindings_of_client
  no_target,    // add(), replace(): the context of this store that was to be bound is not there
  full,         // a limit of StoreLimits
  no_space,     // of the disk, or of etcd's quota; the log says what to do
  unavailable,  // nothing was written as far as is known; try again later. The log has the reason
};
std::string_view text_of(StoreFault fault) noexcept;

struct Change {
  enum class Kind : std::uint8_t { bound, rebound, unbound, made, destroyed };

  Kind kind = Kind::bound;
  ContextId context = root_context;
  NameComponent name{};        // not of made and destroyed
  Binding binding{};           // of unbound: the one that went
  std::uint64_t revision = 0;  // grows; several changes of one operation may share one

  friend bool operator==(const Change&, const Change&) = default;
};

// What a store holds at most; beyond it writers are told `full`. Several nameservers on one etcd share one limit.
struct StoreLimits {
  std::size_t contexts = 100'000;
  std::size_t loose_contexts = 1000;  // empty ones that no name leads to; beyond it the oldest go as others are made
  std::size_t bindings = 1'000'000;
  std::size_t bindings_per_context = 100'000;
  std::size_t reference = 65'536;  // bytes of one
  std::size_t bindings_of_client = 1'000'000;
  // Clients that may change every name and have no limit of their own; besides, always, the one without a name, which
  // is the nameserver's own program.
  std::vector<std::string> privileged{};
};

struct StoreStatus {
  std::string kind{};                     // memory, sqlite, etcd
  std::string place{};                    // a path, a URL; empty for memory
  bool stale = false;                     // what is read may be older than what others have written: etcd is away
  std::string remark{};                   // why it is stale or refuses to write, and what to do; empty when all is well
  std::uint64_t revision = 0;             // of the latest change that readers see
  std::chrono::milliseconds stale_for{};  // since when; zero: it is not
  std::size_t names = 0, contexts = 0;    // that readers see; the root is not counted
};

class Store {
 public:
  virtual ~Store() = default;

  // Readers: no_such_context, not_found, unavailable.
  virtual Expected<Binding, StoreFault> find(ContextId context, const NameComponent& name) = 0;
  // At most `most` entries in the order of names, from the first one or from the first behind `after`.
  virtual Expected<std::vector<Entry>, StoreFault> list(ContextId context, const NameComponent* after,
                                                        std::size_t most) = 0;
  virtual Expected<bool, StoreFault> has_context(ContextId context) = 0;
  // All but the root, bound somewhere or not, in order.
  virtual Expected<std::vector<ContextId>, StoreFault> contexts() = 0;
  // Whose names there are and whose end this store has to be told of; each once, in order.
  virtual Expected<std::vector<std::string>, StoreFault> owners() = 0;

  // Writers: what they return is done, and seen by every reader that begins afterwards; besides, full and unavailable.
  // A context that was bound was there, and none that goes meanwhile as one that no name leads to.
  // A client changes its own names alone, unless it is privileged: binding.bound_by and `by` name the client.
  virtual Expected<void, StoreFault> add(ContextId context, const NameComponent& name, const Binding& binding) = 0;
  virtual Expected<void, StoreFault> replace(ContextId context, const NameComponent& name, const Binding& binding) = 0;
  // The binding that went.
  virtual Expected<Binding, StoreFault> remove(ContextId context, const NameComponent& name,
                                               const std::string& by = {}) = 0;
  // Bound nowhere yet.
  virtual Expected<ContextId, StoreFault> make_context() = 0;
  // Made and bound in one step.
  virtual Expected<ContextId, StoreFault> add_context(ContextId context, const NameComponent& name,
                                                      const std::string& by = {}) = 0;
  // not_empty: it holds names. Bindings to it stay.
  virtual Expected<void, StoreFault> destroy_context(ContextId context, const std::string& by = {}) = 0;
  // Removes all names of the owner, in one step; etcd takes steps of 64 names.
  virtual Expected<void, StoreFault> remove_owned(const std::string& owner) = 0;

  // Set before the store is used: told of each change once, one at a time, in the order of revisions, on any thread;
  // perhaps a moment after the writer returned. It does not throw. Empty: takes the last one away, and waits until no
  // call of it runs; not from within such a call.
  virtual void on_change(std::function<void(const Change&)> told) = 0;
  virtual StoreStatus status() = 0;
};

}  // namespace corelane::nameserver
