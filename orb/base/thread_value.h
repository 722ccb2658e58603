// thread_value() gives each thread its own value, and tells after the value has been destroyed.
#pragma once

namespace corelane {

// Returns the calling thread's value, or null after the thread has destroyed it. Later destructors may still call this
// function: those of other thread_local values, and on the main thread those of static objects. There is one value per
// thread for each T.
template <typename T>
T* thread_value() {
  thread_local bool is_gone = false;  // needs no destructor, so it can be read until the thread's last instruction
  struct Holder {
    T value{};
    ~Holder() { is_gone = true; }
  };
  thread_local Holder holder;
  return is_gone ? nullptr : &holder.value;
}

}  // namespace corelane
