#include "orb/base/thread_value.h"

#include <utility>

namespace corelane {
namespace {

constinit thread_local detail::ThreadValueEntry* newest = nullptr;
constinit thread_local bool has_scope = false;
constinit thread_local bool is_over = false;

void destroy_values() noexcept {
  // Bound: the types that have a value. A destructor may make a value of another type.
  while (newest != nullptr) std::exchange(newest, newest->next)->destroy();
  is_over = true;
}

// Destroys the values of a thread that has no scope.
struct AtThreadExit {
  ~AtThreadExit() { destroy_values(); }
  void register_with_runtime() noexcept {}
};

}  // namespace

void detail::add_thread_value(ThreadValueEntry& entry) noexcept {
  entry.next = std::exchange(newest, &entry);
  if (has_scope) return;
  thread_local AtThreadExit at_exit;  // its first use registers the destructor
  at_exit.register_with_runtime();
}

bool detail::has_destroyed_thread_values() noexcept { return is_over; }

ThreadValueScope::ThreadValueScope() noexcept { has_scope = true; }

ThreadValueScope::~ThreadValueScope() { destroy_values(); }

}  // namespace corelane
