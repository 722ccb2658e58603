// AdapterRegistry holds all active objects of one ORB by their keys. The ORB looks up the target of each request in it.
//
// A key is "CL" 0x01, the adapter (ulong), the stamp of this registry (unsigned long long, random), and the object id.
// Both numbers are big-endian. A key that another registry made, for example in an earlier process, has another stamp.
// So a stale reference finds nothing, over any transport, and its caller is told why. Keys of create_well_known() have
// no stamp.
//
// Threads: any. One priority-inheriting mutex; find() holds it for one hash look-up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "orb/base/thread_safety.h"
#include "orb/base/weak_list.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/core/orb.h"
#include "orb/os/pi_mutex.h"

namespace corelane::poa {

class Poa;

class AdapterRegistry final : public core::RequestTarget {
 public:
  explicit AdapterRegistry(std::weak_ptr<core::Orb> orb);

  // Finds the object. OBJECT_NOT_EXIST: no_such_object, or earlier_start if another registry made the key.
  Expected<std::shared_ptr<core::ActiveObject>> find(Bytes object_key) noexcept override;
  void stop_holding() noexcept override;
  void close() noexcept override;

  // Returns the ORB. Raises BAD_INV_ORDER if it is gone.
  std::shared_ptr<core::Orb> orb() const;

  // Returns the first part of the keys of a new adapter.
  std::string next_key_prefix();
  std::shared_ptr<core::PoaManagerState> make_manager_state();
  // Adds an object. `key_taken`: there is one with this key already, perhaps of another well-known adapter.
  enum class Added : std::uint8_t { yes, key_taken, closed };
  Added add(const std::string& key, std::shared_ptr<core::ActiveObject> object);
  void remove(const std::string& key);

  // Sets the root adapter, which ends with the ORB, like all adapters below it. Call it before the ORB is used.
  void set_root(std::weak_ptr<Poa> root) { root_ = std::move(root); }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  bool is_of_other_start(std::string_view key) const noexcept;

  const std::weak_ptr<core::Orb> orb_;
  const std::string stamp_;  // as it is in keys
  std::weak_ptr<Poa> root_;
  mutable os::PiMutex mutex_;
  using Objects = std::unordered_map<std::string, std::shared_ptr<core::ActiveObject>, Hash, std::equal_to<>>;
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
  std::uint32_t adapters_made_ CORELANE_GUARDED_BY(mutex_) = 0;
  Objects objects_ CORELANE_GUARDED_BY(mutex_);
  WeakList<core::PoaManagerState> manager_states_ CORELANE_GUARDED_BY(mutex_);
};

}  // namespace corelane::poa
