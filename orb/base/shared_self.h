// SharedSelf: base of what gives out shared pointers to itself: values, servants, local objects. One base for all of
// them, always virtual, since a servant may be a value as well, and no object can have two that keep count.
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

// To the part of that object that the caller knows. Precondition: a shared pointer holds it.
template <typename T>
std::shared_ptr<T> shared_self(T& part) {
  return {part.shared_from_this(), &part};
}

}  // namespace corelane
