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

class ClientConnection;
class Reference;

// A task that the server admitted for one operation of one reference; calls of it are the task's jobs.
class TaskBinding {
 public:
  TaskBinding(std::shared_ptr<Reference> reference, std::string operation, TaskId task,
              std::shared_ptr<ClientConnection> connection, Contract contract);
  ~TaskBinding();

  TaskId task() const noexcept { return task_; }
  const std::string& operation() const noexcept { return operation_; }
  const Contract& contract() const noexcept { return contract_; }
  // The connection that owns the task; null when the object is local.
  const std::shared_ptr<ClientConnection>& connection() const noexcept { return connection_; }
  JobId next_job() noexcept { return JobId{jobs_.fetch_add(1, std::memory_order_relaxed) + 1}; }  // relaxed: a number
  // Tells the server. Idempotent, raises nothing.
  void depart() noexcept;

 private:
  const std::shared_ptr<Reference> reference_;
  const std::string operation_;
  const TaskId task_;
  const std::shared_ptr<ClientConnection> connection_;
  const Contract contract_;
  std::atomic<std::uint64_t> jobs_{0};
  std::atomic<bool> departed_{false};
};

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
  std::shared_ptr<Orb> orb;
};

}  // namespace corelane::core
