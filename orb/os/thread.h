// Thread is a thread whose name, core, scheduling class and stack are set at its start. Its owner joins it.
// Threads: a handle belongs to one thread. Any thread may call set_priority() and cpu_time() while the handle lives.
// Invariants: a thread that asked for a core runs nowhere else from its first instruction (strict binding). Its stack
// is touched before its function runs. If the system refuses SCHED_FIFO, that is not fatal: real_time() tells.
// Children: what a real-time thread starts, processes and threads alike, begins under SCHED_OTHER. The child of a
// fork() by a bound thread may run wherever the process may. posix_spawn(), vfork(), popen(), system() and new threads
// run no fork handlers, so they keep the core (use orb/rt/ordinary_thread.h for them).
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
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
#include "orb/os/unique_function.h"

namespace corelane::os {

struct DeadlineShare;
enum class DeadlineRefusal : std::uint8_t;

struct ThreadOptions {
  std::string name{};              // shown by top; the kernel keeps 15 characters
  std::optional<CoreId> core{};    // bound to it strictly
  int fifo_priority = 0;           // SCHED_FIFO 1..99; 0 is SCHED_OTHER
  std::size_t stack = 256 * 1024;  // bytes, all of them prefaulted
  bool lazy_stack = false;         // instead: a page is loaded when it is used, and is never locked
  Duration timer_slack{};          // how late the kernel may end a timed wait; 0: as for the starter, mostly 50 us
  // The option that a user sets for a larger stack, named in the report of an overflow; a literal. Empty: no report.
  std::string_view stack_setting{};
};

// Returns whether the kernel runs the calling thread before all ordinary ones. A system call.
bool is_real_time() noexcept;

class Thread {
 public:
  Thread() = default;
  Thread(Thread&&) noexcept = default;
  Thread& operator=(Thread&& other) noexcept;
  ~Thread() { join(); }

  bool joinable() const noexcept { return state_ != nullptr; }
  // Waits for the end of the function. Does nothing if already joined or never started.
  void join() noexcept;
  // Returns whether the thread has ended, with the destructors of its thread-local objects. Does not wait. After that
  // join() only gives the stack back.
  bool try_join() noexcept;

  // Returns whether the thread runs under SCHED_FIFO or SCHED_DEADLINE, as far as this object set it.
  bool real_time() const noexcept;
  pid_t tid() const noexcept;

  // Sets the priority: 0 is SCHED_OTHER, 1..99 SCHED_FIFO. NO_PERMISSION if the system refuses; then the thread keeps
  // its class.
  Expected<void> set_priority(int fifo_priority) noexcept;
  // Puts the thread into SCHED_DEADLINE; see deadline_class.h. If that is refused, the thread keeps its class.
  // set_priority() takes the thread out of the class again; call it before you bind the thread to another core.
  DeadlineRefusal set_deadline(const DeadlineShare& share) noexcept;
  // Binds the thread to another core, strictly. BAD_PARAM core_unusable if it cannot run there.
  Expected<void> bind(CoreId core) noexcept;
  // Returns the execution time so far; zero after the function's end.
  Duration cpu_time() const noexcept;

 private:
  struct State;
  struct StateDeleter {
    void operator()(State* state) const noexcept;
  };
  friend Expected<Thread> start_thread(ThreadOptions options, UniqueFunction<void()> function);

  std::unique_ptr<State, StateDeleter> state_;
};

// Starts `function` on a new thread. Returns when the thread is bound, has its class, and its stack is in memory. The
// new thread never inherits class and core: a bound real-time thread may start one that has neither. The thread cannot
// be cancelled. Fails with BAD_PARAM core_unusable (no such core, or the control group forbids it) or NO_RESOURCES
// no_thread.
Expected<Thread> start_thread(ThreadOptions options, UniqueFunction<void()> function);

// Starts a std::thread or std::jthread, for work that needs neither core nor class. NO_RESOURCES no_thread.
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

// PriorityScope runs the calling thread at another SCHED_FIFO priority while it lives. 0 changes nothing; a refusal of
// the system changes nothing either. At most two changes, none if the thread already has the priority.
class PriorityScope {
 public:
  explicit PriorityScope(int fifo_priority) noexcept {
    if (fifo_priority > 0) change(fifo_priority);
  }
  // Returns a scope that runs the thread under SCHED_OTHER instead.
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

// CancellationDelay delays a pthread_cancel() of the calling thread until it is destroyed. Otherwise the thread would
// lose what the ORB's functions hold, and a noexcept function would end the process. No system call. Threads of
// start_thread() are never cancelled.
class CancellationDelay {
 public:
  CancellationDelay() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancellationDelay() { pthread_setcancelstate(before_, nullptr); }
  CancellationDelay(const CancellationDelay&) = delete;
  CancellationDelay& operator=(const CancellationDelay&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Ends the process after the application's code has ended a thread of the ORB (abi::__forced_unwind). Logs which code
// did it. Nothing can keep such a thread alive, and other threads depend on it.
[[noreturn]] void end_with_thread(std::string_view who) noexcept;

// Returns the calling thread's core at this instant. The answer stays true only for a bound thread.
CoreId current_core() noexcept;

// Sets the name of the calling thread that top shows; the kernel keeps 15 characters.
void name_this_thread(std::string_view name) noexcept;

// Returns whether the calling thread may run on the core now: the core is online, and in the thread's affinity and
// cpuset. A system call.
bool may_run_on(CoreId core) noexcept;
// Binds the calling thread, strictly. BAD_PARAM core_unusable if it cannot run there.
Expected<void> bind_this_thread(CoreId core) noexcept;

}  // namespace corelane::os
