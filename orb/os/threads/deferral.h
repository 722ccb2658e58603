// Deferral collects functions that a callback wants to run after the callback has returned. The code that makes the
// callback creates a Deferral around it. It runs the functions at a better moment: without a lock, and after it has
// passed on the stream.
// Threads: an object belongs to the thread that made it; defer() uses the calling thread's Deferral.
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

  // Accepts no more functions, and runs the collected ones in order. Idempotent; the destructor calls it too.
  void run() {
    if (current() == this) current() = outer_;
    for (auto& function : std::exchange(functions_, {})) function();
  }

  // Moves the function into the innermost Deferral of this thread. Returns false and leaves the function unchanged if
  // there is none.
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
