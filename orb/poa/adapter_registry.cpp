#include "orb/poa/adapter_registry.h"

#include <random>
#include <vector>

#include "orb/base/minor.h"
#include "orb/core/exception.h"
#include "orb/core/settings.h"
#include "orb/os/lock.h"
#include "orb/poa/poa.h"

namespace corelane::poa {
namespace {

constexpr Error no_object{ErrorKind::object_not_exist, Completion::no, minor::no_such_object};
constexpr Error earlier_start{ErrorKind::object_not_exist, Completion::no, minor::earlier_start};
constexpr Error destroyed{ErrorKind::bad_inv_order, Completion::no, minor::orb_destroyed};

template <typename Integer>
void append_big_endian(std::string& text, Integer value) {
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8)
    text += static_cast<char>(value >> shift & 0xff);
}

std::string random_stamp() {
  std::random_device source;
  std::string stamp;
  append_big_endian(stamp, std::uint64_t{source()} << 32 | source());
  return stamp;
}

constexpr std::string_view key_begin = "CL\x01";
constexpr std::size_t stamp_at = key_begin.size() + sizeof(std::uint32_t);  // after the adapter's number

}  // namespace

AdapterRegistry::AdapterRegistry(std::weak_ptr<core::Orb> orb) : orb_(std::move(orb)), stamp_(random_stamp()) {}

std::shared_ptr<core::Orb> AdapterRegistry::orb() const {
  auto orb = orb_.lock();
  if (!orb) core::raise(destroyed);
  return orb;
}

Expected<std::shared_ptr<core::ActiveObject>> AdapterRegistry::find(Bytes object_key) noexcept {
  const std::string_view key(reinterpret_cast<const char*>(object_key.data()), object_key.size());
  const os::LockGuard lock(mutex_);
  if (closed_) return destroyed;
  const auto found = objects_.find(key);
  if (found == objects_.end()) return is_of_other_start(key) ? earlier_start : no_object;
  return found->second;
}

bool AdapterRegistry::is_of_other_start(std::string_view key) const noexcept {
  return key.starts_with(key_begin) && key.size() >= stamp_at + stamp_.size() &&
         key.substr(stamp_at, stamp_.size()) != stamp_;
}

void AdapterRegistry::stop_holding() noexcept {
  std::vector<std::shared_ptr<core::PoaManagerState>> manager_states;
  {
    const os::LockGuard lock(mutex_);
    manager_states = manager_states_.living();
  }
  for (const auto& manager_state : manager_states)
    if (manager_state->entry_counter().passage() == core::Passage::holding)
      manager_state->change(core::Passage::discarding);
}

void AdapterRegistry::close() noexcept {
  if (const auto root = root_.lock()) root->destroy(false, false);  // breaks cycles of adapters and servants
  Objects objects;
  {
    const os::LockGuard lock(mutex_);
    closed_ = true;
    objects.swap(objects_);
  }
  for (const auto& [key, object] : objects) object->deactivate();
}

std::string AdapterRegistry::next_key_prefix() {
  std::string prefix(key_begin);
  const os::LockGuard lock(mutex_);
  append_big_endian(prefix, ++adapters_made_);
  return prefix + stamp_;
}

std::shared_ptr<core::PoaManagerState> AdapterRegistry::make_manager_state() {
  auto submit = [weak = orb_](dispatch::JobPtr job) {
    const auto orb = weak.lock();
    if (!orb) return job->fail(destroyed);
    if (const auto taken = orb->executive()->submit(job); !taken) job->fail(taken.error());
  };
  auto manager_state =
      std::make_shared<core::PoaManagerState>(std::move(submit), orb()->settings().executive.queue_capacity);
  const os::LockGuard lock(mutex_);
  manager_states_.add(manager_state);
  return manager_state;
}

AdapterRegistry::Added AdapterRegistry::add(const std::string& key, std::shared_ptr<core::ActiveObject> object) {
  const os::LockGuard lock(mutex_);
  if (closed_) return Added::closed;
  return objects_.emplace(key, std::move(object)).second ? Added::yes : Added::key_taken;
}

void AdapterRegistry::remove(const std::string& key) {
  const os::LockGuard lock(mutex_);
  objects_.erase(key);
}

}  // namespace corelane::poa
