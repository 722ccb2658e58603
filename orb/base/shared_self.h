// SharedSelf is the base of objects that give out shared pointers to themselves: values, servants, local objects. It
// must be one base for all of them, always virtual. A servant may also be a value, and an object cannot have two
// reference counts.
//
// Threads: as std::enable_shared_from_this.
#pragma once

#include <memory>

namespace corelane {

class SharedSelf : public std::enable_shared_from_this<SharedSelf> {
 public:
  virtual ~SharedSelf() = default;

 protected:
  SharedSelf() = default;
  SharedSelf(const SharedSelf&) = default;
  SharedSelf& operator=(const SharedSelf&) = default;
};

// Returns a shared pointer to this part of the object. Precondition: a shared pointer holds the object.
template <typename T>
std::shared_ptr<T> shared_self(T& part) {
  return {part.shared_from_this(), &part};
}

}  // namespace corelane
