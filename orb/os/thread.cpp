#include "orb/os/thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include "orb/base/minor.h"
#include "orb/base/sanitizer.h"
#include "orb/base/thread_value.h"
#include "orb/os/log.h"
#include "orb/os/memory/stack_overflow.h"
#include "orb/os/memory/thread_stack.h"
#include "orb/os/threads/core_isolation.h"
#include "orb/os/threads/deadline_class.h"

namespace corelane::os {
namespace {

#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
constexpr std::size_t stack_factor = 4;  // instrumented frames are larger
#else
constexpr std::size_t stack_factor = 1;
#endif
constexpr std::size_t smallest_stack = 64 * 1024;

struct Attributes {
  Attributes() { pthread_attr_init(&value); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { pthread_attr_destroy(&value); }
  pthread_attr_t value;
};

// Returns 0 or the error number. Only CAP_SYS_NICE can remove SCHED_RESET_ON_FORK from a thread; without it the flag
// stays.
int set_policy(pthread_t thread, int policy, const sched_param& parameters) noexcept {
  const int failure = pthread_setschedparam(thread, policy, &parameters);
  return failure == EPERM ? pthread_setschedparam(thread, policy | SCHED_RESET_ON_FORK, &parameters) : failure;
}

// Returns 0 or the error number. `fifo_priority` 0 is SCHED_OTHER. What a SCHED_FIFO thread starts, processes and
// threads alike, begins under SCHED_OTHER. So a program that a servant starts does not compete with tasks.
int set_class(pthread_t thread, int fifo_priority) noexcept {
  const sched_param parameters{.sched_priority = fifo_priority};
  return set_policy(thread, fifo_priority > 0 ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER, parameters);
}

// Says whether the ORB has bound the calling thread to a core. For a thread of the ORB, the mark is in its State,
// because other threads bind it.
thread_local const std::atomic<bool>* bound_mark = nullptr;  // null: not a thread of the ORB
thread_local bool bound_itself = false;

// Runs in the child of a fork(), which has one thread.
void leave_core_in_child() noexcept {
  const bool bound =
      bound_itself || (bound_mark != nullptr && bound_mark->load(std::memory_order_relaxed));  // relaxed: one thread
  if (!bound) return;
  const CpuMask mask = ordinary_affinity_in_child();
  if (!mask.is_empty()) sched_setaffinity(0, CpuMask::native_size, mask.native());
}

// Makes children of threads that the ORB has bound leave the core. If there is no memory for that, they stay there.
void release_children() noexcept {
  static const int registered = pthread_atfork(nullptr, nullptr, leave_core_in_child);
  (void)registered;
}

// Loads the part of the calling thread's stack below this frame into memory. A kernel without MADV_POPULATE_WRITE
// (before 5.14) loads it at first use; lock_memory() covers it there.
void prefault(const ThreadStack& stack) noexcept {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(stack.usable().data());
  const auto end = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) / page * page;
  if (end > begin) madvise(stack.usable().data(), end - begin, MADV_POPULATE_WRITE);
}

// Sets class and affinity explicitly, because the thread that starts the new one may be a bound real-time thread.
int prepare(Attributes& attributes, const ThreadOptions& options, ThreadStack& stack) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t wanted = std::max(options.stack, smallest_stack) * stack_factor;
  const std::size_t size = (wanted + page - 1) / page * page;
  stack = ThreadStack(size, options.lazy_stack);
  if (const int e = stack.give_to(attributes.value)) return e;
  if (const int e = pthread_attr_setinheritsched(&attributes.value, PTHREAD_EXPLICIT_SCHED)) return e;
  // Set explicitly although they are the defaults: for values that were never set, glibc uses those of the starting
  // thread.
  const sched_param lowest{.sched_priority = 0};
  if (const int e = pthread_attr_setschedpolicy(&attributes.value, SCHED_OTHER)) return e;
  if (const int e = pthread_attr_setschedparam(&attributes.value, &lowest)) return e;
  CpuMask mask = ordinary_affinity();
  if (options.core) mask = {}, mask.add(*options.core);
  if (mask.is_empty()) return options.core ? EINVAL : 0;
  return pthread_attr_setaffinity_np(&attributes.value, CpuMask::native_size, mask.native());
}

// The thread sanitizer runs a signal's handler when the thread makes the next call that it knows, and a parked thread
// makes none. So under it other threads handle the signals that end a program.
void leave_end_signals_to_others() noexcept {
  if constexpr (CORELANE_THREAD_SANITIZER != 0) {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  }
}

}  // namespace

struct Thread::State {
  static void* entry(void* self) noexcept {
    static_cast<State*>(self)->run();
    return nullptr;
  }

  void run() noexcept {
    const ThreadValueScope values;
    tid = gettid();
    bound_mark = &bound;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    leave_end_signals_to_others();
    if (!options.name.empty()) name_this_thread(options.name);
    if (options.timer_slack > Duration::zero())
      prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(options.timer_slack.count()));
    if (!options.lazy_stack) prefault(stack);
    const StackOverflowReport overflow(stack, options.stack_setting);
    // relaxed: published by `ready` below
    if (options.fifo_priority > 0)
      real_time.store(set_class(pthread_self(), options.fifo_priority) == 0, std::memory_order_relaxed);
    // PAIR thread.ready: release here -> acquire in start_thread(). Publishes tid and real_time.
    ready.store(true, std::memory_order_release);
    ready.notify_one();
    function();
    function = {};  // destroys captured objects on this thread, not at join()
  }

  // Constant after the start.
  ThreadOptions options;
  ThreadStack stack;
  pthread_t handle{};
  pid_t tid = 0;
  // Owner: the thread that has the handle.
  bool by_deadline = false;
  bool is_joined = false;
  // Owner: the thread.
  UniqueFunction<void()> function;
  // Shared.
  std::atomic<bool> ready{false};
  std::atomic<bool> real_time{false};
  std::atomic<bool> bound{false};
};

void Thread::StateDeleter::operator()(State* state) const noexcept { delete state; }

Thread& Thread::operator=(Thread&& other) noexcept {
  if (this == &other) return *this;
  join();
  state_ = std::move(other.state_);
  return *this;
}

void Thread::join() noexcept {
  if (!state_) return;
  if (!state_->is_joined) pthread_join(state_->handle, nullptr);
  state_.reset();
}

bool Thread::try_join() noexcept {
  if (!state_) return true;
  if (!state_->is_joined) state_->is_joined = pthread_tryjoin_np(state_->handle, nullptr) == 0;
  return state_->is_joined;
}

bool Thread::real_time() const noexcept {
  // relaxed: a report; nothing is published by it
  return state_ && state_->real_time.load(std::memory_order_relaxed);
}

pid_t Thread::tid() const noexcept { return state_ ? state_->tid : 0; }

Expected<void> Thread::set_priority(int fifo_priority) noexcept {
  if (!state_) return Error{.kind = ErrorKind::bad_inv_order, .minor = minor::no_thread};
  if (std::exchange(state_->by_deadline, false)) give_back_deadline_share(state_->tid);
  if (set_class(state_->handle, fifo_priority) != 0)
    return Error{.kind = ErrorKind::no_permission, .minor = minor::no_real_time};
  // relaxed: a report; nothing is published by it
  state_->real_time.store(fifo_priority > 0, std::memory_order_relaxed);
  return {};
}

DeadlineRefusal Thread::set_deadline(const DeadlineShare& share) noexcept {
  if (!state_) return DeadlineRefusal::other;
  const DeadlineRefusal refusal = enter_deadline_class(state_->tid, share);
  if (refusal != DeadlineRefusal::none) return refusal;
  state_->by_deadline = true;
  // relaxed: a report; nothing is published by it
  state_->real_time.store(true, std::memory_order_relaxed);
  return refusal;
}

bool is_real_time() noexcept {
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  return policy == SCHED_FIFO || policy == SCHED_RR || policy == deadline_class;
}

namespace {

// Reads the class of the calling thread, with SCHED_RESET_ON_FORK in `policy`. glibc answers without a system call. But
// glibc wrongly assumes that a thread started by a real-time thread inherited its class. So glibc is asked only about
// threads of the ORB.
bool read_class(int& policy, sched_param& parameters) noexcept {
  if (bound_mark != nullptr) return pthread_getschedparam(pthread_self(), &policy, &parameters) == 0;
  policy = sched_getscheduler(0);
  return policy >= 0 && sched_getparam(0, &parameters) == 0;
}

}  // namespace

// A SCHED_DEADLINE thread is left unchanged: it runs before all priorities, and could not get its share back.
void PriorityScope::change(int fifo_priority) noexcept {
  sched_param before{};
  if (!read_class(policy_, before)) return;
  const int policy = policy_ & ~SCHED_RESET_ON_FORK;
  if (policy == deadline_class) return;
  priority_ = before.sched_priority;
  if (policy == (fifo_priority > 0 ? SCHED_FIFO : SCHED_OTHER) && priority_ == fifo_priority) return;
  changed_ = set_class(pthread_self(), fifo_priority) == 0;
}

PriorityScope::~PriorityScope() {
  if (changed_) set_policy(pthread_self(), policy_, {.sched_priority = priority_});
}

Expected<void> Thread::bind(CoreId core) noexcept {
  CpuMask mask;
  mask.add(core);
  if (!state_) return Error{.kind = ErrorKind::bad_inv_order, .minor = minor::no_thread};
  if (pthread_setaffinity_np(state_->handle, CpuMask::native_size, mask.native()) != 0)
    return Error{.kind = ErrorKind::bad_param, .minor = minor::core_unusable};
  release_children();
  state_->bound.store(true, std::memory_order_relaxed);  // relaxed: read at a later fork; publishes nothing
  return {};
}

Duration Thread::cpu_time() const noexcept {
  clockid_t clock{};
  timespec used{};
  if (!state_ || pthread_getcpuclockid(state_->handle, &clock) != 0 || clock_gettime(clock, &used) != 0) return {};
  return std::chrono::seconds{used.tv_sec} + Duration{used.tv_nsec};
}

Expected<Thread> start_thread(ThreadOptions options, UniqueFunction<void()> function) {
  Thread thread;
  thread.state_.reset(new Thread::State);
  Thread::State& state = *thread.state_;
  state.options = std::move(options);
  state.function = std::move(function);
  state.bound.store(state.options.core.has_value(), std::memory_order_relaxed);  // relaxed: before the thread starts
  if (state.options.core) release_children();
  Attributes attributes;
  int failure = prepare(attributes, state.options, state.stack);
  if (failure == 0) failure = pthread_create(&state.handle, &attributes.value, &Thread::State::entry, &state);
  if (failure != 0) {
    thread.state_.reset();  // nothing to join
    if (failure == EINVAL) return Error{.kind = ErrorKind::bad_param, .minor = minor::core_unusable};
    return Error{.kind = ErrorKind::no_resources, .minor = minor::no_thread};
  }
  // PAIR thread.ready: acquire here <- release in State::run().
  state.ready.wait(false, std::memory_order_acquire);
  return thread;
}

void end_with_thread(std::string_view who) noexcept {
  try {
    log::error(std::string(who) +
               " ended a thread of the ORB (pthread_exit), and with it this process; let it return or throw instead");
  } catch (const std::bad_alloc&) {  // no memory: ends without a message
  }
  std::terminate();
}

CoreId current_core() noexcept { return CoreId{static_cast<std::int16_t>(sched_getcpu())}; }

void name_this_thread(std::string_view name) noexcept {
  char text[16] = {};
  name.copy(text, sizeof text - 1);
  pthread_setname_np(pthread_self(), text);
}

// The kernel's answer leaves out cores that are offline.
bool may_run_on(CoreId core) noexcept {
  CpuMask mask;
  return sched_getaffinity(0, CpuMask::native_size, mask.native()) == 0 && mask.contains(core);
}

Expected<void> bind_this_thread(CoreId core) noexcept {
  CpuMask mask;
  mask.add(core);
  if (sched_setaffinity(0, CpuMask::native_size, mask.native()) != 0)
    return Error{.kind = ErrorKind::bad_param, .minor = minor::core_unusable};
  release_children();
  bound_itself = true;
  return {};
}

}  // namespace corelane::os
