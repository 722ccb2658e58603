// Handle is the C++ mapping's reference to an object, a servant or the ORB. It is like shared_ptr, but `->` on nil
// raises INV_OBJREF. IDL to C++11, 6.5. The names CORBA::object_reference and CORBA::servant_reference are in
// orb/corba.
//
// Threads: as for shared_ptr: different threads may use different copies, but not the same handle.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace corelane::core {

[[noreturn]] void raise_nil_reference();

template <typename T>
class WeakHandle;

template <typename T>
class Handle {
 public:
  using element_type = T;

  Handle() = default;
  Handle(std::nullptr_t) {}
  explicit Handle(std::shared_ptr<T> object) : object_(std::move(object)) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Handle(const Handle<U>& other) : object_(other.shared()) {}
  template <typename U>
  requires std::is_convertible_v<U*, T*> Handle(Handle<U>&& other) : object_(std::move(other).shared()) {}

  T* operator->() const {
    if (!object_) raise_nil_reference();
    return object_.get();
  }
  T& operator*() const { return *operator->(); }
  T* get() const noexcept { return object_.get(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void swap(Handle& other) noexcept { object_.swap(other.object_); }
  void reset() noexcept { object_.reset(); }
  WeakHandle<T> weak_reference() const { return *this; }

  const std::shared_ptr<T>& shared() const& noexcept { return object_; }
  std::shared_ptr<T> shared() && noexcept { return std::move(object_); }

  // Compares the identity of the C++ objects. _is_equivalent() compares CORBA objects.
  friend bool operator==(const Handle& a, const Handle& b) noexcept { return a.object_ == b.object_; }
  friend bool operator==(const Handle& a, std::nullptr_t) noexcept { return !a; }

 private:
  std::shared_ptr<T> object_;
};

template <typename T>
void swap(Handle<T>& a, Handle<T>& b) noexcept {
  a.swap(b);
}

template <typename T>
class WeakHandle {
 public:
  WeakHandle() = default;
  WeakHandle(std::nullptr_t) {}
  WeakHandle(const Handle<T>& handle) : object_(handle.shared()) {}

  // Returns nil if the last strong handle is gone.
  Handle<T> lock() const noexcept { return Handle<T>(object_.lock()); }
  bool expired() const noexcept { return object_.expired(); }
  void reset() noexcept { object_.reset(); }

 private:
  std::weak_ptr<T> object_;
};

// What IDL::traits offers for every type that is used through a reference.
template <typename T>
struct HandleTraits {
  using value_type = Handle<T>;
  using ref_type = Handle<T>;
  using weak_ref_type = WeakHandle<T>;
  using in_type = const Handle<T>&;
  using out_type = Handle<T>&;
  using inout_type = Handle<T>&;
  using is_local = std::false_type;
  using is_abstract = std::false_type;

  static const ref_type& write(const ref_type& value) { return value; }
};

}  // namespace corelane::core
