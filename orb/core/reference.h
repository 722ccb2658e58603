// Reference: what a stub stands for: an IOR, where to reach it, and whether the object lives in this very ORB. Shared
// by all stubs of the object that came from one narrow or decode.
//
// Threads: any. Constant but for the local cache, the forward and the task bindings, which one mutex guards.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/expected.h"
#include "orb/core/address.h"
#include "orb/core/orb.h"
#include "orb/core/target.h"
#include "orb/giop/ior.h"

namespace corelane::core {

class TaskBinding;

class Reference : public std::enable_shared_from_this<Reference> {
 public:
  Reference(std::shared_ptr<Orb> orb, giop::Ior ior);
  // An object of this very ORB.
  Reference(std::shared_ptr<Orb> orb, giop::Ior ior, std::shared_ptr<ActiveObject> local);

  const std::shared_ptr<Orb>& orb() const noexcept { return orb_; }
  const giop::Ior& ior() const noexcept { return ior_; }
  // Null when no profile can be used.
  const Address* address() const noexcept { return address_ ? &*address_ : nullptr; }

  // Whether the object lives here, judged by its address at the first call.
  bool is_local() noexcept;
  // The local object; OBJECT_NOT_EXIST when it is not active. Call only when is_local().
  Expected<std::shared_ptr<ActiveObject>> find_local() noexcept;
  // The same without touching a count; null when it is not cached. Lives as long as this reference.
  // PAIR reference.local: acquire here <- release in find_local().
  ActiveObject* cached_local() noexcept { return local_cache_.load(std::memory_order_acquire); }

  // Where a server said that the object is now; null when nowhere else.
  std::shared_ptr<Reference> forwarded() const;
  void set_forward(std::shared_ptr<Reference> to);

  void bind(const std::shared_ptr<TaskBinding>& binding);
  void unbind(const TaskBinding& binding);
  // Null when there is none. Cheap when the reference has no binding at all.
  std::shared_ptr<TaskBinding> binding_of(std::string_view operation) const;

 private:
  enum class Place : std::uint8_t { unknown, here, elsewhere };

  const std::shared_ptr<Orb> orb_;
  const giop::Ior ior_;
  std::optional<Address> address_;  // constant after construction

  std::atomic<Place> place_{Place::unknown};
  std::atomic<ActiveObject*> local_cache_{nullptr};
  std::atomic<bool> has_bindings_{false};
  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<ActiveObject> local_;  // what local_cache_ points to; set once
  std::shared_ptr<Reference> forward_;
  struct Bound {
    std::string operation;
    const TaskBinding* identity;
    std::weak_ptr<TaskBinding> binding;
  };
  std::vector<Bound> bindings_;
};

// What decoding needs to make references: an ORB.
struct ReferenceEnvironment final : cdr::Environment {
  explicit ReferenceEnvironment(std::shared_ptr<Orb> o) : orb(std::move(o)) {}
  std::shared_ptr<Environment> share() override { return std::make_shared<ReferenceEnvironment>(orb); }
  std::shared_ptr<Orb> orb;
};

}  // namespace corelane::core
