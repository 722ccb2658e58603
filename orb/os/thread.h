// Thread: a thread whose name, core, scheduling class and stack are said at its start, and which its owner joins.
// Threads: a handle belongs to one thread; set_priority() and cpu_time() may be called by any thread while it lives.
// Invariants: a thread that asked for a core runs nowhere else from its first instruction (strict binding), and its
// stack is touched before its function runs. SCHED_FIFO that the system refuses is not fatal: real_time() tells.
// Children: what a real-time thread starts, processes and threads alike, begins under SCHED_OTHER. The child of a
// fork() by a bound thread may run wherever the process may; posix_spawn(), vfork(), popen(), system() and new threads
// run no such code, and keep the core (orb/rt/ordinary_thread.h is for them).
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/minor.h"
#include "orb/base/time.h"
#include "orb/os/deadline_class.h"
#include "orb/os/unique_function.h"

namespace corelane::os {

struct ThreadOptions {
  std::string name{};              // what top shows; the kernel keeps 15 characters
  std::optional<CoreId> core{};    // bound to it strictly
  int fifo_priority = 0;           // SCHED_FIFO 1..99; 0 is SCHED_OTHER
  std::size_t stack = 256 * 1024;  // bytes, all of them prefaulted
  bool lazy_stack = false;         // instead: a page comes into memory when it is used, and is never locked there
  // What a user sets for a larger stack, named where it overflows; a literal. Empty: an overflow is not reported.
  std::string_view stack_setting{};
};

// Whether the kernel runs the calling thread before all ordinary ones. A system call.
bool is_real_time() noexcept;

class Thread {
 public:
  Thread() = default;
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  bool joinable() const noexcept { return state_ != nullptr; }
  // Waits for the end of the function. Nothing when already joined or never started.
  void join() noexcept;

  // Whether the thread runs under SCHED_FIFO, as far as it was told so.
  bool real_time() const noexcept;
  pid_t tid() const noexcept;

  // 0 is SCHED_OTHER, 1..99 SCHED_FIFO. NO_PERMISSION when the system refuses; the thread then keeps its class.
  Expected<void> set_priority(int fifo_priority) noexcept;
  // SCHED_DEADLINE; see deadline_class.h. When it is refused the thread keeps its class. set_priority() ends it, and
  // has to before the thread may be bound to another core.
  DeadlineRefusal set_deadline(const DeadlineShare& share) noexcept;
  // Binds the thread to another core, strictly. BAD_PARAM core_unusable when it cannot run there.
  Expected<void> bind(CoreId core) noexcept;
  // Execution time so far; zero after the function's end.
  Duration cpu_time() const noexcept;

 private:
  struct State;
  struct StateDeleter {
    void operator()(State* state) const noexcept;
  };
  friend Expected<Thread> start_thread(ThreadOptions options, UniqueFunction<void()> function);

  std::unique_ptr<State, StateDeleter> state_;
};

// Starts `function` on a new thread; returns when the thread is bound, has its class and its stack is in memory.
// Class and core are never inherited: a bound real-time thread may start one that is neither. It is not cancelled.
// Fails with BAD_PARAM core_unusable (no such core, or one that the control group forbids) or NO_RESOURCES no_thread.
Expected<Thread> start_thread(ThreadOptions options, UniqueFunction<void()> function);

// A std::thread or std::jthread, for what needs neither core nor class. NO_RESOURCES no_thread.
template <typename Plain, typename Function>
Expected<Plain> plain_thread(Function&& function) {
  try {
    return Plain(std::forward<Function>(function));
  } catch (const std::system_error&) {
    return Error{.kind = ErrorKind::no_resources, .minor = minor::no_thread};
  }
}

inline Expected<void> set_priority(Thread& thread, int fifo_priority) noexcept {
  return thread.set_priority(fifo_priority);
}

// The calling thread runs at another SCHED_FIFO priority while this lives, and then as before. 0: nothing changes.
// Where the system refuses, nothing changes either. At most two changes, none when it has the priority already.
class PriorityScope {
 public:
  explicit PriorityScope(int fifo_priority) noexcept {
    if (fifo_priority > 0) change(fifo_priority);
  }
  // SCHED_OTHER instead.
  static PriorityScope ordinary() noexcept { return PriorityScope(Ordinary{}); }
  ~PriorityScope();
  PriorityScope(const PriorityScope&) = delete;
  PriorityScope& operator=(const PriorityScope&) = delete;

 private:
  struct Ordinary {};
  explicit PriorityScope(Ordinary) noexcept { change(0); }
  void change(int fifo_priority) noexcept;

  bool changed_ = false;
  int policy_ = 0;
  int priority_ = 0;
};

// A pthread_cancel() of the calling thread waits until destruction: what the ORB's own functions hold would be lost,
// and those that are noexcept would end the process. No system call. Threads of start_thread() are never cancelled.
class CancellationDelay {
 public:
  CancellationDelay() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDelay() { pthread_setcancelstate(before_, nullptr); }
  CancellationDelay(const CancellationDelay&) = delete;
  CancellationDelay& operator=(const CancellationDelay&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// When the application's code ends a thread that is not its own (abi::__forced_unwind): says whose that was and ends
// the process, since nothing can hold such a thread, and others count on it.
[[noreturn]] void end_with_thread(std::string_view who) noexcept;

// The calling thread's core at this instant; a bound thread's answer holds.
CoreId current_core() noexcept;

// What top shows of the calling thread; the kernel keeps 15 characters.
void name_this_thread(std::string_view name) noexcept;

// Whether the calling thread may run there just now: the core is plugged in, and in the thread's affinity and cpuset. A
// system call.
bool may_run_on(CoreId core) noexcept;
// Binds the calling thread, strictly. BAD_PARAM core_unusable when it cannot run there.
Expected<void> bind_this_thread(CoreId core) noexcept;

}  // namespace corelane::os
