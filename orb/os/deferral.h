// Deferral: work that a callback leaves for the thread it runs on, for when the callback has returned. Who calls back
// opens a Deferral around the call and runs it at a better moment: with the stream handed on, without a lock.
// Threads: an object belongs to the thread that made it; defer() reaches that of the calling thread.
#pragma once

#include <utility>
#include <vector>

#include "orb/os/unique_function.h"

namespace corelane::os {

class Deferral {
 public:
  Deferral() noexcept : outer_(std::exchange(current(), this)) {}
  ~Deferral() { run(); }
  Deferral(const Deferral&) = delete;
  Deferral& operator=(const Deferral&) = delete;

  // Takes nothing more, and runs what was left, in order. Idempotent; the destructor does it too.
  void run() {
    if (current() == this) current() = outer_;
    for (auto& function : std::exchange(functions_, {})) function();
  }

  // Leaves the function for the innermost Deferral of this thread. False, and it is as before, when there is none.
  static bool defer(UniqueFunction<void()>& function) {
    if (current() == nullptr) return false;
    current()->functions_.push_back(std::move(function));
    return true;
  }

 private:
  static Deferral*& current() noexcept {
    static thread_local Deferral* innermost = nullptr;
    return innermost;
  }

  Deferral* const outer_;
  std::vector<UniqueFunction<void()>> functions_;
};

}  // namespace corelane::os
