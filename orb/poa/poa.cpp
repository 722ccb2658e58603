#include "orb/poa/poa.h"

#include <map>
#include <string_view>
#include <vector>

#include "orb/base/minor.h"
#include "orb/base/thread_safety.h"
#include "orb/core/client/reference.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/contracts/slowdowns_file.h"
#include "orb/core/policies/id_assignment.h"
#include "orb/core/policies/implicit_activation.h"
#include "orb/core/server/server.h"
#include "orb/core/settings.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"
#include "orb/os/mutex.h"
#include "orb/poa/adapter_registry.h"

namespace corelane::poa {

struct Poa::Entry {
  ObjectId id;
  ServantReference<Servant> servant;
  std::shared_ptr<core::ActiveObject> object;
};

namespace {
std::string text_of(const ObjectId& id) { return std::string(id.begin(), id.end()); }
}  // namespace

struct Poa::Map {
  Map(std::string prefix_of_keys, std::string prefix_of_ids)
      : key_prefix(std::move(prefix_of_keys)), id_prefix(std::move(prefix_of_ids)) {}

  Entry* find(const Servant* servant) CORELANE_REQUIRES(mutex) {
    const auto at = by_servant.find(servant);
    return at == by_servant.end() ? nullptr : &by_id.at(at->second);
  }
  Entry* find(const ObjectId& id) CORELANE_REQUIRES(mutex) {
    const auto at = by_id.find(text_of(id));
    return at == by_id.end() ? nullptr : &at->second;
  }

  void require_not_destroyed() const CORELANE_REQUIRES(mutex) {
    if (destroyed) core::raise(Error{ErrorKind::object_not_exist, Completion::no, minor::no_such_adapter});
  }
  // Raises an exception if no child can get the name.
  void require_free(const std::string& name) const CORELANE_REQUIRES(mutex) {
    require_not_destroyed();
    if (children.contains(name)) throw AdapterAlreadyExists();
  }
  ObjectId fresh_id() CORELANE_REQUIRES(mutex);
  bool has_made(const ObjectId& id) const CORELANE_REQUIRES(mutex);

  const std::string key_prefix;
  const std::string id_prefix;
  os::Mutex mutex;
  std::map<std::string, Entry> by_id CORELANE_GUARDED_BY(mutex);  // keys: text_of()
  std::map<const Servant*, std::string> by_servant CORELANE_GUARDED_BY(mutex);
  std::map<std::string, std::shared_ptr<Poa>> children CORELANE_GUARDED_BY(mutex);
  std::weak_ptr<Poa> parent CORELANE_GUARDED_BY(mutex);  // empty: a root, or destroyed
  std::uint64_t made CORELANE_GUARDED_BY(mutex) = 0;
  bool destroyed CORELANE_GUARDED_BY(mutex) = false;
};

namespace {

// Returns the contracts of the IDL, overridden by those of contracts.file.
core::OperationContracts contracts_of(const core::Skeleton& skeleton, const core::Settings& settings) {
  if (!settings.contracts) return core::declared_contracts(skeleton);
  auto contracts = settings.contracts->contracts_of(skeleton);
  if (!contracts) core::raise(Error{ErrorKind::bad_param, Completion::no, minor::bad_option}, contracts.error().text);
  for (const std::string& line : settings.contracts->untold_changes(skeleton, *contracts)) os::log::info(line);
  return std::move(*contracts);
}

// Notes for dispatch.slowdowns that there is an object with these operations.
void note_operations(const core::Skeleton& skeleton, const core::Settings& settings) {
  if (settings.slowdowns) settings.slowdowns->note(skeleton);
}

void require(const ServantReference<Servant>& servant) {
  if (!servant) core::raise(Error{ErrorKind::bad_param, Completion::no, minor::nil_reference});
}

}  // namespace

Poa::Poa(std::shared_ptr<AdapterRegistry> registry, std::string name, core::ObjectReference<PoaManager> manager,
         std::string key_prefix, std::string id_prefix, std::optional<core::PolicyValues> policies)
    : registry_(std::move(registry)),
      name_(std::move(name)),
      manager_(std::move(manager)),
      policies_(std::move(policies)),
      map_(std::make_unique<Map>(std::move(key_prefix), std::move(id_prefix))) {}

Poa::~Poa() = default;

core::ObjectReference<Poa> Poa::create_POA(const std::string& name, core::ObjectReference<PoaManager> manager) {
  return create(name, std::move(manager), registry_->next_key_prefix(), {});
}

core::ObjectReference<Poa> Poa::create_with(const std::string& name, core::ObjectReference<PoaManager> manager,
                                            const core::PolicyValues& policies) {
  return create(name, std::move(manager), registry_->next_key_prefix(), {}, policies);
}

core::ObjectReference<Poa> Poa::create_well_known(const std::string& key, core::ObjectReference<PoaManager> manager) {
  if (key.empty()) core::raise(Error{ErrorKind::bad_param, Completion::no, minor::no_such_adapter}, "an empty key");
  return create(key, std::move(manager), key, registry_->next_key_prefix());  // the stamp is in the id instead
}

core::ObjectReference<Poa> Poa::create(const std::string& name, core::ObjectReference<PoaManager> manager,
                                       std::string key_prefix, std::string id_prefix,
                                       std::optional<core::PolicyValues> policies) {
  {
    const os::LockGuard lock(map_->mutex);
    map_->require_free(name);  // first, for programs that create an adapter where find_POA() would do
  }
  if (!manager)
    manager = core::ObjectReference<PoaManager>(
        std::make_shared<PoaManager>(registry_->orb(), registry_->make_manager_state()));
  auto child = std::make_shared<Poa>(registry_, name, std::move(manager), std::move(key_prefix), std::move(id_prefix),
                                     std::move(policies));
  {
    const os::LockGuard lock(child->map_->mutex);
    child->map_->parent = weak_from_this();
  }
  const os::LockGuard lock(map_->mutex);
  map_->require_free(name);
  map_->children.emplace(name, child);
  return core::ObjectReference<Poa>(std::move(child));
}

core::ObjectReference<Poa> Poa::find_POA(const std::string& name) {
  const os::LockGuard lock(map_->mutex);
  const auto found = map_->children.find(name);
  if (found == map_->children.end()) throw AdapterNonExistent();
  return core::ObjectReference<Poa>(found->second);
}

void Poa::destroy(bool etherealize_objects, bool wait_for_completion) {
  if (wait_for_completion && core::inside_servant())
    core::raise(Error{ErrorKind::bad_inv_order, Completion::no, minor::omg | 3});
  std::map<std::string, Entry> entries;
  std::map<std::string, std::shared_ptr<Poa>> children;
  std::weak_ptr<Poa> parent;
  {
    const os::LockGuard lock(map_->mutex);
    map_->destroyed = true;
    entries.swap(map_->by_id);
    map_->by_servant.clear();
    children.swap(map_->children);
    parent.swap(map_->parent);
    // Before the parent forgets this adapter, so that a new one of the same well-known key can use the ids at once.
    for (const auto& [id, entry] : entries) {
      entry.servant->_deactivated_in(weak_from_this());
      registry_->remove(key_of(entry.id));
    }
  }
  const auto self = shared_from_this();  // the parent may have held the last reference
  if (const auto above = parent.lock()) above->forget(*this);
  for (const auto& [name, child] : children) child->destroy(etherealize_objects, wait_for_completion);
  std::vector<std::shared_ptr<core::ActiveObject>> objects;
  objects.reserve(entries.size());
  for (const auto& [id, entry] : entries) objects.push_back(entry.object);
  core::ActiveObject::deactivate_all(objects);
  if (!wait_for_completion) return;
  for (const auto& object : objects) object->wait_until_idle();
}

// Removes a child, unless another adapter has its name by now.
void Poa::forget(const Poa& child) {
  const os::LockGuard lock(map_->mutex);
  const auto found = map_->children.find(child.name_);
  if (found != map_->children.end() && found->second.get() == &child) map_->children.erase(found);
}

std::string Poa::key_of(const ObjectId& id) const { return map_->key_prefix + text_of(id); }

ObjectId Poa::Map::fresh_id() {
  const std::uint64_t number = ++made;
  ObjectId id(id_prefix.begin(), id_prefix.end());
  for (int shift = 56; shift >= 0; shift -= 8) id.push_back(static_cast<std::uint8_t>(number >> shift));
  return id;
}

// Returns whether the adapter has policies, and this value among them.
bool Poa::obeys(const core::PolicyKind& kind, core::PolicyValue value) const noexcept {
  return policies_ && policies_->of(kind) == value;
}

void Poa::require_own_ids() const {
  if (obeys(core::policies::id_assignment, core::policies::user_id)) throw WrongPolicy();
}

// Returns whether fresh_id() has returned this id before.
bool Poa::Map::has_made(const ObjectId& id) const {
  const std::size_t before = id_prefix.size();
  std::uint64_t number = 0;
  for (std::size_t i = before; i < id.size(); ++i) number = number << 8 | id[i];
  return id.size() == before + sizeof number && text_of(id).starts_with(id_prefix) && number > 0 && number <= made;
}

// The caller holds the map's mutex. No analysis: the header cannot name it.
void Poa::require_allowed(const ObjectId& id) const CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  if (!obeys(core::policies::id_assignment, core::policies::system_id)) return;
  if (!map_->has_made(id)) core::raise(Error{ErrorKind::bad_param, Completion::no, minor::omg | 14});
}

// The caller holds the map's mutex. No analysis: the header cannot name it. If an exception is raised, nothing has
// changed.
Poa::Entry Poa::add(const ObjectId& id, const ServantReference<Servant>& servant,
                    core::OperationContracts contracts) CORELANE_NO_THREAD_SAFETY_ANALYSIS {
  map_->require_not_destroyed();
  require_allowed(id);
  if (map_->find(servant.get()) != nullptr) throw ServantAlreadyActive();
  if (map_->find(id) != nullptr) throw ObjectAlreadyActive();
  Entry entry{id, servant,
              std::make_shared<core::ActiveObject>(manager_->manager_state(), servant.shared(), servant->_skeleton(),
                                                   servant->_self(), std::move(contracts))};
  const auto by_id = map_->by_id.emplace(text_of(id), entry).first;
  auto by_servant = map_->by_servant.end();
  try {
    by_servant = map_->by_servant.emplace(servant.get(), by_id->first).first;
    servant->_activated_in(weak_from_this());
    add_to_registry(entry);  // last, because requests find the object there
  } catch (...) {
    servant->_deactivated_in(weak_from_this());
    if (by_servant != map_->by_servant.end()) map_->by_servant.erase(by_servant);
    map_->by_id.erase(by_id);
    throw;
  }
  return entry;
}

void Poa::add_to_registry(const Entry& entry) {
  const auto added = registry_->add(key_of(entry.id), entry.object);
  if (added == AdapterRegistry::Added::key_taken) throw ObjectAlreadyActive();
  if (added == AdapterRegistry::Added::closed)
    core::raise(Error{ErrorKind::bad_inv_order, Completion::no, minor::orb_destroyed});
}

// Makes the servant active. `id`: null for a new one. `if_active`: what to do if it is active already.
Poa::Entry Poa::activate(const ObjectId* id, const ServantReference<Servant>& servant, IfActive if_active) {
  require(servant);
  if (id == nullptr) require_own_ids();
  // Does first what may fail, because an active object requests its tasks.
  const core::Skeleton& skeleton = servant->_skeleton();
  core::OperationContracts contracts = contracts_of(skeleton, registry_->orb()->settings());
  note_operations(skeleton, registry_->orb()->settings());
  const auto executive = contracts.empty() ? nullptr : registry_->orb()->executive();
  Entry entry;
  {
    const os::LockGuard lock(map_->mutex);
    const Entry* const known = if_active == IfActive::keep ? map_->find(servant.get()) : nullptr;
    if (known != nullptr) return *known;
    entry = add(id != nullptr ? *id : map_->fresh_id(), servant, std::move(contracts));
  }
  if (executive) entry.object->admit_shared_tasks(executive, !core::inside_servant());
  return entry;
}

ObjectId Poa::activate_object(const ServantReference<Servant>& servant) {
  return activate(nullptr, servant, IfActive::refuse).id;
}

void Poa::activate_object_with_id(const ObjectId& id, const ServantReference<Servant>& servant) {
  (void)activate(&id, servant, IfActive::refuse);
}

void Poa::deactivate_object(const ObjectId& id) {
  std::shared_ptr<core::ActiveObject> object;
  ServantReference<Servant> servant;  // released outside the lock
  {
    const std::string key = key_of(id);  // first: it may fail
    const os::LockGuard lock(map_->mutex);
    const auto at = map_->by_id.find(text_of(id));
    if (at == map_->by_id.end()) throw ObjectNotActive();
    object = at->second.object;
    servant = at->second.servant;
    map_->by_servant.erase(servant.get());
    map_->by_id.erase(at);
    servant->_deactivated_in(weak_from_this());
    registry_->remove(key);  // within the lock, so that the id can be activated again at once
  }
  object->deactivate();
}

// Returns the servant's entry; activates the servant if it is not active.
Poa::Entry Poa::active(const ServantReference<Servant>& servant) {
  require(servant);
  {
    const os::LockGuard lock(map_->mutex);
    if (const Entry* entry = map_->find(servant.get())) return *entry;
  }
  if (obeys(core::policies::implicit_activation, core::policies::not_implicitly)) throw ServantNotActive();
  return activate(nullptr, servant, IfActive::keep);  // another thread may have activated it meanwhile
}

ObjectId Poa::servant_to_id(const ServantReference<Servant>& servant) { return active(servant).id; }

core::ObjectReference<core::Object> Poa::servant_to_reference(const ServantReference<Servant>& servant) {
  return reference_of(active(servant));
}

// `object`: null if it is not active.
core::ObjectReference<core::Object> Poa::make_reference(const ObjectId& id, std::string_view type_id,
                                                        std::shared_ptr<core::ActiveObject> object) {
  const std::string key = key_of(id);
  return core::make_stub<core::Object>(
      registry_->orb()->make_local_reference(type_id, std::as_bytes(std::span(key)), std::move(object)));
}

core::ObjectReference<core::Object> Poa::create_reference(const std::string& repository_id) {
  require_own_ids();
  ObjectId id;
  {
    const os::LockGuard lock(map_->mutex);
    id = map_->fresh_id();
  }
  return create_reference_with_id(id, repository_id);
}

core::ObjectReference<core::Object> Poa::create_reference_with_id(const ObjectId& id,
                                                                  const std::string& repository_id) {
  std::shared_ptr<core::ActiveObject> object;
  {
    const os::LockGuard lock(map_->mutex);
    map_->require_not_destroyed();
    require_allowed(id);
    if (const Entry* entry = map_->find(id)) object = entry->object;
  }
  return make_reference(id, repository_id, std::move(object));
}

core::ObjectReference<core::Object> Poa::id_to_reference(const ObjectId& id) {
  Entry copy;
  {
    const os::LockGuard lock(map_->mutex);
    const Entry* entry = map_->find(id);
    if (entry == nullptr) throw ObjectNotActive();
    copy = *entry;
  }
  return reference_of(copy);
}

core::ObjectReference<core::Object> Poa::reference_of(const Entry& entry) {
  const auto& types = entry.object->skeleton().ids;
  return make_reference(entry.id, types.empty() ? "" : types.front(), entry.object);
}

ServantReference<Servant> Poa::id_to_servant(const ObjectId& id) {
  const os::LockGuard lock(map_->mutex);
  const Entry* entry = map_->find(id);
  if (entry == nullptr) throw ObjectNotActive();
  return entry->servant;
}

ObjectId Poa::reference_to_id(const core::ObjectReference<core::Object>& reference) {
  if (!reference) core::raise_nil_reference();
  const auto& inner = reference->_reference();
  if (!inner || inner->address() == nullptr) throw WrongAdapter();
  const auto& bytes = inner->address()->object_key;
  const std::string_view key(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!key.starts_with(map_->key_prefix)) throw WrongAdapter();
  return ObjectId(key.begin() + static_cast<std::ptrdiff_t>(map_->key_prefix.size()), key.end());
}

ServantReference<Servant> Poa::reference_to_servant(const core::ObjectReference<core::Object>& reference) {
  return id_to_servant(reference_to_id(reference));
}

void install(const std::shared_ptr<core::Orb>& orb) {
  auto registry = std::make_shared<AdapterRegistry>(orb);
  auto manager = std::make_shared<PoaManager>(orb, registry->make_manager_state());
  auto root = std::make_shared<Poa>(registry, "RootPOA", core::ObjectReference<PoaManager>(std::move(manager)),
                                    registry->next_key_prefix());
  registry->set_root(root);
  orb->set_request_target(registry);
  orb->register_initial_reference("RootPOA", core::ObjectReference<Poa>(std::move(root)));
}

}  // namespace corelane::poa
