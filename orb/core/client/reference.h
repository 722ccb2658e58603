// Reference is what a stub refers to: an IOR, its addresses, and whether the object lives in this ORB itself. All stubs
// that were copied from the result of one narrow or decode share it.
//
// Threads: any. Constant except for the local cache, the routes, the forward and the task bindings, which one mutex
// guards.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/core/connections/address.h"
#include "orb/core/connections/connection_cache.h"
#include "orb/core/connections/reach.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/orb.h"
#include "orb/core/policies/policy_kind.h"
#include "orb/giop/ior.h"

namespace corelane::core {

class TaskBinding;

class Reference : public std::enable_shared_from_this<Reference> {
 public:
  Reference(std::shared_ptr<Orb> orb, giop::Ior ior) : Reference(std::move(orb), std::move(ior), Reach{}) {}
  // For calls that obey policies; null: none.
  using Policies = std::shared_ptr<const PolicyValues>;
  Reference(std::shared_ptr<Orb> orb, giop::Ior ior, const Reach& reach, Policies policies = nullptr);
  // For an object of this ORB itself.
  Reference(std::shared_ptr<Orb> orb, giop::Ior ior, std::shared_ptr<ActiveObject> local);

  const std::shared_ptr<Orb>& orb() const noexcept { return orb_; }
  const giop::Ior& ior() const noexcept { return ior_; }
  // Returns the policies that were set for this reference; null: none were.
  const PolicyValues* policies() const noexcept { return policies_.get(); }
  // Returns how long a call waits for its reply; 0: for ever.
  Duration request_timeout() const noexcept { return request_timeout_; }
  // Unique within this process and never reused; never 0.
  std::uint64_t id() const noexcept { return id_; }
  const Reach& reach() const noexcept { return reach_; }
  // Returns one address for each usable profile, in the order of the profiles. Has no endpoint outside the reach.
  std::span<const Address> addresses() const noexcept { return addresses_; }
  // Returns the first address; null if there is none.
  const Address* address() const noexcept { return addresses_.empty() ? nullptr : addresses_.data(); }
  // Returns the address that contains the endpoint, or the first address if none does. Call it only if there is an
  // address.
  const Address& address_at(const transport::Endpoint& endpoint) const noexcept;

  // The route of the latest call that connected. Later calls use it without a lookup.
  struct Route {
    std::shared_ptr<ConnectionPool> pool;
    const Address* address;  // of addresses()
    bool is_fallback;        // see ConnectionCache::Found
    friend bool operator==(const Route&, const Route&) = default;
  };
  // Returns null before the first call, and if the call went to an endpoint of tried_last(). The route lives as long as
  // this reference.
  // PAIR reference.route: acquire here <- release in set_route() and try_last(). Publishes the route.
  const Route* route(Traffic traffic) const noexcept {
    return routes_by_traffic_[static_cast<std::size_t>(traffic)].load(std::memory_order_acquire);
  }
  void set_route(Traffic traffic, Route route);

  // Notes that another server than the object's answers at the endpoint. From now on calls try all other endpoints
  // first. Returns false if there is no other.
  bool try_last(const transport::Endpoint& endpoint);
  // Returns the endpoints passed to try_last(). Takes a lock only if there is one.
  std::vector<transport::Endpoint> tried_last() const;

  // Says what kind of ORB answers at an address that names no code sets, such as a corbaloc address. The first call
  // asks for it (giop::context::orb).
  enum class Server : std::uint8_t { unknown, ours, other };
  Server server_at(const Address& address) const noexcept {
    if (ours_.load(std::memory_order_relaxed) == &address) return Server::ours;  // relaxed: it is a hint
    return others_.load(std::memory_order_relaxed) == &address ? Server::other : Server::unknown;
  }
  void note_server(const Address& address, Server server) noexcept {
    (server == Server::ours ? ours_ : others_).store(&address, std::memory_order_relaxed);  // relaxed: as above
  }

  // Returns whether the object lives in this ORB. Its addresses decide, at the first call.
  bool is_local() noexcept {
    // relaxed: the answer depends on nothing else, and every thread finds the same.
    const Place known = place_.load(std::memory_order_relaxed);
    return known == Place::unknown ? find_place() == Place::here : known == Place::here;
  }
  // Returns the local object, or OBJECT_NOT_EXIST if it is not active. Call it only if is_local().
  Expected<std::shared_ptr<ActiveObject>> find_local() noexcept;
  // Returns the local object without changing a reference count; null if it is not cached. The object lives as long as
  // this reference.
  // PAIR reference.local: acquire here <- release in find_local() and the constructor.
  ActiveObject* cached_local() noexcept { return local_cache_.load(std::memory_order_acquire); }

  // Returns the reference to which a server has forwarded this one, or null. Takes a lock only if there is one.
  std::shared_ptr<Reference> forwarded() const;
  void set_forward(std::shared_ptr<Reference> to);

  void bind(const std::shared_ptr<TaskBinding>& binding);
  void unbind(const TaskBinding& binding);
  // Returns null if no task is bound for the operation. Cheap if the reference has no binding at all.
  std::shared_ptr<TaskBinding> binding_of(std::string_view operation) const {
    return has_bindings() ? find_binding(operation) : nullptr;
  }
  // Returns whether a task is bound for any operation.
  // PAIR reference.bindings: acquire here <- release in bind() and unbind(); the list itself is read under the mutex.
  bool has_bindings() const noexcept { return has_bindings_.load(std::memory_order_acquire); }

 private:
  enum class Place : std::uint8_t { unknown, here, elsewhere };

  const Address* address_here() const;
  bool leads_on(const Address& here) const;
  Place find_place() noexcept;
  std::shared_ptr<TaskBinding> find_binding(std::string_view operation) const;

  const std::uint64_t id_;
  const std::shared_ptr<Orb> orb_;
  const giop::Ior ior_;
  const Reach reach_;
  const Policies policies_;
  const Duration request_timeout_;
  const std::vector<Address> addresses_;

  std::array<std::atomic<const Route*>, 2> routes_by_traffic_{};
  std::atomic<const Address*> ours_{nullptr}, others_{nullptr};  // see server_at()
  std::atomic<Place> place_{Place::unknown};
  std::atomic<ActiveObject*> local_cache_{nullptr};
  std::atomic<bool> has_bindings_{false};
  std::atomic<bool> has_forward_{false};
  std::atomic<bool> has_last_{false};
  mutable os::PiMutex mutex_;
  // At most two for each endpoint and traffic.
  std::vector<std::unique_ptr<const Route>> routes_ CORELANE_GUARDED_BY(mutex_);
  std::shared_ptr<ActiveObject> local_ CORELANE_GUARDED_BY(mutex_);  // what local_cache_ points to; set once
  std::shared_ptr<Reference> forward_ CORELANE_GUARDED_BY(mutex_);
  struct Bound {
    std::string operation;
    const TaskBinding* identity;
    std::weak_ptr<TaskBinding> binding;
  };
  std::vector<Bound> bindings_ CORELANE_GUARDED_BY(mutex_);
  std::vector<transport::Endpoint> tried_last_ CORELANE_GUARDED_BY(mutex_);  // each endpoint once
};

// ReferenceEnvironment gives the ORB to the decoder, which needs it to make references.
struct ReferenceEnvironment final : cdr::Environment {
  explicit ReferenceEnvironment(std::shared_ptr<Orb> o) : kept(std::move(o)), orb(kept.get()) {}
  // For a message whose reader does not outlive the ORB.
  explicit ReferenceEnvironment(Orb* o) : orb(o) {}
  std::shared_ptr<Environment> share() override { return std::make_shared<ReferenceEnvironment>(shared_orb()); }
  std::shared_ptr<Orb> shared_orb() const { return kept || orb == nullptr ? kept : orb->shared_from_this(); }

  std::shared_ptr<Orb> kept;
  Orb* orb;
};

}  // namespace corelane::core
