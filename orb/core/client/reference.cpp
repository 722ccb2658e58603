#include "orb/core/client/reference.h"

#include <algorithm>

#include "orb/base/minor.h"
#include "orb/core/client/task_binding.h"
#include "orb/core/policies/relative_roundtrip_timeout.h"
#include "orb/core/settings.h"
#include "orb/os/lock.h"

namespace corelane::core {

namespace {

std::uint64_t next_reference_id() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: only uniqueness counts
}

// A reference without a limit does not ask the ORB for its endpoints, which takes a lock.
std::vector<Address> addresses_within(const Reach& reach, const giop::Ior& ior, const Orb& orb) {
  return reach.is_limited ? within(reach, addresses_of(ior), orb.endpoints()) : addresses_of(ior);
}

Duration request_timeout_of(const Orb& orb, const PolicyValues* set) noexcept {
  const PolicyKind& timeout = policies::relative_roundtrip_timeout;
  return set != nullptr && set->has(timeout) ? policies::roundtrip_time_of(set->of(timeout))
                                             : orb.settings().request_timeout;
}

}  // namespace

Reference::Reference(std::shared_ptr<Orb> orb, giop::Ior ior, const Reach& reach, Policies policies)
    : id_(next_reference_id()),
      orb_(std::move(orb)),
      ior_(std::move(ior)),
      reach_(reach),
      policies_(std::move(policies)),
      request_timeout_(request_timeout_of(*orb_, policies_.get())),
      addresses_(addresses_within(reach_, ior_, *orb_)) {}

Reference::Reference(std::shared_ptr<Orb> orb, giop::Ior ior, std::shared_ptr<ActiveObject> local)
    : Reference(std::move(orb), std::move(ior)) {
  place_.store(Place::here, std::memory_order_relaxed);  // relaxed: no other thread has the reference yet
  local_ = std::move(local);
  // PAIR reference.local: release here -> acquire in cached_local().
  local_cache_.store(local_.get(), std::memory_order_release);
}

Reference::Place Reference::find_place() noexcept {
  if (addresses_.empty()) return Place::elsewhere;
  const Address* const here = address_here();
  const Place found = here != nullptr && !leads_on(*here) ? Place::here : Place::elsewhere;
  place_.store(found, std::memory_order_relaxed);  // relaxed: see is_local()
  return found;
}

// Returns the first address at which this ORB itself is reached, or null.
const Address* Reference::address_here() const {
  const auto ours = orb_->endpoints();
  const auto found = std::find_if(addresses_.begin(), addresses_.end(), [&](const Address& address) {
    return std::find_first_of(address.endpoints.begin(), address.endpoints.end(), ours.begin(), ours.end()) !=
           address.endpoints.end();
  });
  return found != addresses_.end() ? &*found : nullptr;
}

// Returns whether another server made the reference, and it names an endpoint that is not this ORB's. Then the two
// servers only have an address in common, such as 127.0.0.1 with one port on two hosts, and calls may reach the other
// one.
bool Reference::leads_on(const Address& here) const {
  RequestTarget* const target = orb_->request_target();
  if (target == nullptr) return false;
  const auto object = target->find(here.object_key);
  if (object || object.error().minor != minor::earlier_start) return false;
  const auto ours = orb_->endpoints();
  return std::any_of(addresses_.begin(), addresses_.end(), [&](const Address& address) {
    return std::any_of(address.endpoints.begin(), address.endpoints.end(), [&](const transport::Endpoint& endpoint) {
      return std::find(ours.begin(), ours.end(), endpoint) == ours.end();
    });
  });
}

Expected<std::shared_ptr<ActiveObject>> Reference::find_local() noexcept {
  RequestTarget* target = orb_->request_target();
  const Address* const here = addresses_.size() > 1 ? address_here() : address();
  if (target == nullptr || here == nullptr)
    return Error{ErrorKind::object_not_exist, Completion::no, minor::no_such_object};
  auto object = target->find(here->object_key);
  if (!object) return object;
  const os::LockGuard lock(mutex_);
  if (!local_) {
    local_ = *object;
    // PAIR reference.local: release here -> acquire in cached_local(). Publishes the object.
    local_cache_.store(local_.get(), std::memory_order_release);
  }
  return object;
}

const Address& Reference::address_at(const transport::Endpoint& endpoint) const noexcept {
  if (addresses_.size() == 1) return addresses_.front();
  const auto found = std::find_if(addresses_.begin(), addresses_.end(), [&](const Address& address) {
    return std::find(address.endpoints.begin(), address.endpoints.end(), endpoint) != address.endpoints.end();
  });
  return found != addresses_.end() ? *found : addresses_.front();
}

void Reference::set_route(Traffic traffic, Route route) {
  const os::LockGuard lock(mutex_);
  auto found = std::find_if(routes_.begin(), routes_.end(), [&](const auto& known) { return *known == route; });
  if (found == routes_.end()) found = routes_.insert(routes_.end(), std::make_unique<const Route>(std::move(route)));
  if (std::find(tried_last_.begin(), tried_last_.end(), (*found)->pool->endpoint()) != tried_last_.end()) return;
  // PAIR reference.route: release here -> acquire in route().
  routes_by_traffic_[static_cast<std::size_t>(traffic)].store(found->get(), std::memory_order_release);
}

bool Reference::try_last(const transport::Endpoint& endpoint) {
  std::size_t endpoints = 0;
  for (const Address& address : addresses_) endpoints += address.endpoints.size();
  const os::LockGuard lock(mutex_);
  if (std::find(tried_last_.begin(), tried_last_.end(), endpoint) != tried_last_.end()) return true;
  if (tried_last_.size() + 1 >= endpoints) return false;
  tried_last_.push_back(endpoint);
  // PAIR reference.last: release here -> acquire in tried_last().
  has_last_.store(true, std::memory_order_release);
  // PAIR reference.route: release here -> acquire in route().
  for (auto& route : routes_by_traffic_) route.store(nullptr, std::memory_order_release);
  return true;
}

std::vector<transport::Endpoint> Reference::tried_last() const {
  // PAIR reference.last: acquire here <- release in try_last(); the list itself is read under the mutex.
  if (!has_last_.load(std::memory_order_acquire)) return {};
  const os::LockGuard lock(mutex_);
  return tried_last_;
}

std::shared_ptr<Reference> Reference::forwarded() const {
  // PAIR reference.forward: acquire here <- release in set_forward(); the forward itself is read under the mutex.
  if (!has_forward_.load(std::memory_order_acquire)) return nullptr;
  const os::LockGuard lock(mutex_);
  return forward_;
}

void Reference::set_forward(std::shared_ptr<Reference> to) {
  const os::LockGuard lock(mutex_);
  forward_.swap(to);
  // PAIR reference.forward: release here -> acquire in forwarded().
  has_forward_.store(forward_ != nullptr, std::memory_order_release);
}

void Reference::bind(const std::shared_ptr<TaskBinding>& binding) {
  const os::LockGuard lock(mutex_);
  bindings_.push_back({binding->operation(), binding.get(), binding});
  // PAIR reference.bindings: release here -> acquire in has_bindings().
  has_bindings_.store(true, std::memory_order_release);
}

void Reference::unbind(const TaskBinding& binding) {
  const os::LockGuard lock(mutex_);
  std::erase_if(bindings_, [&](const Bound& bound) { return bound.identity == &binding; });
  // PAIR reference.bindings: release here -> acquire in has_bindings().
  has_bindings_.store(!bindings_.empty(), std::memory_order_release);
}

std::shared_ptr<TaskBinding> Reference::find_binding(std::string_view operation) const {
  const os::LockGuard lock(mutex_);
  // The newest binding counts. Bound: the tasks of this reference.
  for (auto bound = bindings_.rbegin(); bound != bindings_.rend(); ++bound)
    if (bound->operation == operation) return bound->binding.lock();
  return nullptr;
}

}  // namespace corelane::core
