// kept_by_thread(): a value that each thread has for itself, and that it knows to be gone.
//
// Threads: each its own.
#pragma once

namespace corelane {

// Null once the thread has destroyed it: destructors of other values that it keeps, and on the main thread those of
// static objects, run later and may call again. One for each T.
template <typename T>
T* kept_by_thread() {
  thread_local bool is_gone = false;  // needs no destructor, so it can be read until the thread's last instruction
  struct Keeper {
    T value{};
    ~Keeper() { is_gone = true; }
  };
  thread_local Keeper keeper;
  return is_gone ? nullptr : &keeper.value;
}

}  // namespace corelane
