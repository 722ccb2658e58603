// DirectReference: calls of an object in the same process as plain virtual calls of its servant. A program asks for one
// with direct(reference). It is typed: it has the operations of the interface, as its servants implement them.
//
// A direct call runs on the caller's thread and does what calling the servant does, and nothing else: no POAManager
// state, no interceptor, no copy of value types, no check or log of what the servant throws. deactivate_object(),
// destroy() and hold_requests() do not wait for direct calls. Once the object is not active, each further call raises
// OBJECT_NOT_EXIST. The servant lives at least as long as any DirectReference to it.
//
// Threads: as a shared_ptr: copies may be used from different threads; one may be called through by several.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "orb/core/object.h"
#include "orb/core/target.h"
#include "orb/poa/servant.h"

namespace CORBA {
template <typename T>
struct servant_traits;  // orb/corba/servant.h; fooS.h specializes it
}

namespace corelane::poa {

// An object that may be called directly, and its servant.
struct DirectTarget {
  std::shared_ptr<core::ActiveObject> object;
  ServantReference<Servant> servant;
};

// INV_OBJREF: the reference is nil. OBJECT_NOT_EXIST: no such object is active. BAD_PARAM no_direct_call: see direct().
DirectTarget find_direct_target(const core::ObjectReference<core::Object>& reference);
[[noreturn]] void raise_other_servant(const core::ActiveObject& object, std::string_view repository_id);
[[noreturn]] void raise_ended(bool is_nil);

template <typename Skeleton>
class DirectReference {
 public:
  DirectReference() = default;  // nil
  DirectReference(std::shared_ptr<core::ActiveObject> object, std::shared_ptr<Skeleton> servant) noexcept
      : object_(std::move(object)), servant_(std::move(servant)) {}

  // INV_OBJREF: it is nil. OBJECT_NOT_EXIST: the object is not active any more.
  Skeleton* operator->() const {
    if (!is_active()) raise_ended(object_ == nullptr);
    return servant_.get();
  }
  Skeleton& operator*() const { return *operator->(); }

  // Whether a call would reach the servant. False when nil.
  bool is_active() const noexcept { return object_ != nullptr && object_->active(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Becomes nil, and no longer keeps the servant alive.
  void reset() noexcept {
    object_.reset();
    servant_.reset();
  }

 private:
  std::shared_ptr<core::ActiveObject> object_;
  std::shared_ptr<Skeleton> servant_;
};

// The servant behind the reference, to be called directly. Raises, beside what find_direct_target() does, BAD_PARAM
// no_direct_call, and says why: the object belongs to another ORB or process, one of its operations has a contract, the
// reference has a task, or the servant does not implement the interface. Not for real-time threads (takes a lock).
template <typename Interface>
auto direct(const core::ObjectReference<Interface>& reference) {
  static_assert(
      requires { sizeof(::CORBA::servant_traits<Interface>); },
      "direct() needs the class of the interface's servants: include the generated header whose name ends with S.h");
  using Skeleton = typename ::CORBA::servant_traits<Interface>::base_type;
  DirectTarget target = find_direct_target(reference);
  auto servant = std::dynamic_pointer_cast<Skeleton>(target.servant.shared());
  if (!servant) raise_other_servant(*target.object, Interface::_id);
  return DirectReference<Skeleton>(std::move(target.object), std::move(servant));
}

}  // namespace corelane::poa
