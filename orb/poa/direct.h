// DirectReference calls an object of the same process by plain virtual calls of its servant. A program gets one from
// direct(reference). It has the operations of the interface, as its servants implement them.
//
// A direct call runs on the caller's thread and only calls the servant: no POAManager state, no interceptor, no copy of
// value types, no check or log of exceptions of the servant. deactivate_object(), destroy() and hold_requests() do not
// wait for direct calls. Once the object is not active, each further call raises OBJECT_NOT_EXIST. The servant lives at
// least as long as any DirectReference to it.
//
// Threads: as a shared_ptr. Different threads may use copies; several threads may call through one object.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "orb/core/object.h"
#include "orb/core/objects/object_dispatch.h"
#include "orb/poa/servant.h"

namespace CORBA {
template <typename T>
struct servant_traits;  // orb/corba/servant.h; fooS.h specializes it
}

namespace corelane::poa {

// An object that can be called directly, and its servant.
struct DirectTarget {
  std::shared_ptr<core::ActiveObject> object;
  ServantReference<Servant> servant;
};

// Finds the target. INV_OBJREF: the reference is nil. OBJECT_NOT_EXIST: no such object is active. BAD_PARAM
// no_direct_call: see direct().
DirectTarget find_direct_target(const core::ObjectReference<core::Object>& reference);
[[noreturn]] void raise_other_servant(const core::ActiveObject& object, std::string_view repository_id);
[[noreturn]] void raise_ended(bool is_nil);

template <typename Skeleton>
class DirectReference {
 public:
  DirectReference() = default;  // nil
  DirectReference(std::shared_ptr<core::ActiveObject> object, std::shared_ptr<Skeleton> servant) noexcept
      : object_(std::move(object)), servant_(std::move(servant)) {}

  // Returns the servant. INV_OBJREF: it is nil. OBJECT_NOT_EXIST: the object is no longer active.
  Skeleton* operator->() const {
    if (!is_active()) raise_ended(object_ == nullptr);
    return servant_.get();
  }
  Skeleton& operator*() const { return *operator->(); }

  // Returns whether a call would reach the servant. False if nil.
  bool is_active() const noexcept { return object_ != nullptr && object_->active(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  // Makes the reference nil; it no longer keeps the servant alive.
  void reset() noexcept {
    object_.reset();
    servant_.reset();
  }

 private:
  std::shared_ptr<core::ActiveObject> object_;
  std::shared_ptr<Skeleton> servant_;
};

// Returns the servant of the reference for direct calls. Raises what find_direct_target() raises, and BAD_PARAM
// no_direct_call with the reason:
//
//   the object belongs to another ORB or process
//   one of its operations has a contract
//   the reference has a task
//   the servant does not implement the interface
//
// Not for real-time threads (takes a lock).
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
