// SharedSelf is the base of objects that give out shared pointers to themselves: values, servants, local objects. It
// must be one base for all of them, always virtual. A servant may also be a value, and an object cannot have two
// reference counts.
//
// Threads: as std::enable_shared_from_this.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

namespace corelane {

class SharedSelf : public std::enable_shared_from_this<SharedSelf> {
 public:
  virtual ~SharedSelf() = default;

 protected:
  SharedSelf() = default;
  SharedSelf(const SharedSelf&) = default;
  SharedSelf& operator=(const SharedSelf&) = default;
};

// Returns a shared pointer to the part of that object that the caller knows. Throws std::logic_error if no shared
// pointer holds the object: it was made by `new` or on the stack, or its constructor has not ended.
template <typename T>
std::shared_ptr<T> shared_self(T& part) {
  auto whole = part.weak_from_this().lock();
  if (!whole)
    throw std::logic_error(
        "an object that no reference holds was asked for a reference: a servant, value or local object is made by "
        "CORBA::make_reference<T>(), not by new or on the stack, and _this() is not called in its constructor");
  return {std::move(whole), &part};
}

}  // namespace corelane
