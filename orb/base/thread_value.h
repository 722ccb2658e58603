// thread_value() gives each thread its own value, and says when that value has been destroyed.
//
// The values of a thread of the ORB (os::Thread) are destroyed by a ThreadValueScope at the end of its function. Such a
// thread registers nothing with the C++ runtime, because __cxa_thread_atexit() takes the dynamic loader's lock.
// dlclose() holds that lock while it runs the destructors of a library, and an ORB that is destroyed there waits for
// its threads. The values of other threads are destroyed with their thread_local objects.
//
// Threads: each thread has its own values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace corelane {

namespace detail {

struct ThreadValueEntry {
  void (*destroy)() noexcept = nullptr;
  ThreadValueEntry* next = nullptr;
};

// Has the value destroyed at the end of the calling thread; the last one added is the first to be destroyed.
void add_thread_value(ThreadValueEntry& entry) noexcept;
// Returns whether the calling thread has destroyed its values. It makes no further ones then.
bool has_destroyed_thread_values() noexcept;

}  // namespace detail

// Destroys the values of the calling thread at the end of the scope. It must be the first that uses thread_value() in
// its thread, and the last.
class ThreadValueScope {
 public:
  ThreadValueScope() noexcept;
  ThreadValueScope(const ThreadValueScope&) = delete;
  ThreadValueScope& operator=(const ThreadValueScope&) = delete;
  ~ThreadValueScope();
};

// Returns the calling thread's value, or null after the thread has destroyed it. Destructors that run later may still
// call this function: those of other thread_local objects, and on the main thread those of static objects. There is one
// value per thread for each T. The first call makes it, and throws what the constructor of T throws.
template <typename T>
T* thread_value() {
  enum class State : std::uint8_t { none, alive, destroyed };
  struct Slot {
    T* value() noexcept { return std::launder(reinterpret_cast<T*>(memory)); }
    alignas(T) std::byte memory[sizeof(T)]{};
    detail::ThreadValueEntry entry{};
    State state = State::none;
  };
  static constinit thread_local Slot
      slot;  // needs no destructor, so it can be read until the thread's last instruction
  if (slot.state == State::alive) [[likely]]
    return slot.value();
  if (slot.state == State::destroyed || detail::has_destroyed_thread_values()) return nullptr;
  new (slot.memory) T{};
  slot.state = State::alive;
  slot.entry.destroy = []() noexcept {
    slot.state = State::destroyed;
    slot.value()->~T();
  };
  detail::add_thread_value(slot.entry);
  return slot.value();
}

}  // namespace corelane
