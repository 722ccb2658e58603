// Servant is the base of generated skeletons (PortableServer::ServantBase). CORBA 3.3 part 1, 15.3.2.
//
// Threads: any; activation notes the adapters in which a servant is active.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "orb/base/shared_self.h"
#include "orb/core/object.h"
#include "orb/core/skeleton.h"

namespace corelane::poa {

class Poa;

template <typename T>
using ServantReference = core::Handle<T>;

class Servant : public virtual SharedSelf {
 public:
  Servant(const Servant&) = delete;
  Servant& operator=(const Servant&) = delete;

  // Generated code overrides both. _self() returns the pointer that the upcalls of _skeleton() cast back.
  virtual const core::Skeleton& _skeleton() const noexcept = 0;
  virtual void* _self() noexcept = 0;

  // Returns the adapter in which _this() activates a servant that is not active: the RootPOA of the process's first
  // ORB.
  virtual core::ObjectReference<Poa> _default_POA();

  bool _is_a(const std::string& repository_id) const { return _skeleton().is_a(repository_id); }

 protected:
  Servant() = default;

  // Returns the reference of this servant; activates the servant if it is not active. If several adapters have it, the
  // one that activated it last counts.
  std::shared_ptr<core::Reference> _activated_reference();

 private:
  friend class Poa;
  void _activated_in(std::weak_ptr<Poa> poa);
  void _deactivated_in(const std::weak_ptr<Poa>& poa) noexcept;
  // The adapters in which it is active, in the order of activation. Guarded by a mutex of servant.cpp.
  std::vector<std::weak_ptr<Poa>> homes_;
};

// What CORBA::servant_traits<I> offers. The generated skeleton has a _this() of its interface's type.
template <typename SkeletonClass>
struct ServantTraits {
  using base_type = SkeletonClass;
  using ref_type = ServantReference<SkeletonClass>;
  using weak_ref_type = core::WeakHandle<SkeletonClass>;

  // Returns nil for a servant of another class.
  template <typename T>
  static ref_type narrow(const ServantReference<T>& servant) {
    return ref_type(std::dynamic_pointer_cast<SkeletonClass>(servant.shared()));
  }
};

template <typename T, typename... Arguments>
core::Handle<T> make_reference(Arguments&&... arguments) {
  static_assert(!std::is_abstract_v<T>,
                "the class does not implement every operation of its interface; those that are missing are the pure "
                "virtual functions named below");
  if constexpr (std::is_abstract_v<T>)
    return core::Handle<T>(
        std::shared_ptr<T>(new T(std::forward<Arguments>(arguments)...)));  // the compiler lists them
  else
    return core::Handle<T>(std::make_shared<T>(std::forward<Arguments>(arguments)...));
}

}  // namespace corelane::poa
