// PiMutex is a mutex with priority inheritance: its holder inherits the priority of the threads that wait for it. So a
// real-time thread waits at most for the critical section, and not for threads of intermediate priority. Lock it
// with os::LockGuard or os::UniqueLock (orb/os/lock.h), whose use clang checks.
//
// It is a futex of the kernel's PI protocol (futex(2), FUTEX_LOCK_PI). Its word is 0 while it is free. Otherwise it is
// the thread id of the holder, with a bit that the kernel sets while others wait. Every call locks some of these
// mutexes, so the usual case is inline. Locking and unlocking takes 14 instructions, and 132 with pthread_mutex_t
// (callgrind, commit 41fd6d26).
//
// Threads: any. Without contention it costs one atomic operation to lock and one to unlock. Keep its critical sections
// short.
#pragma once

#include <atomic>
#include <cstdint>

#include "orb/base/sanitizer.h"
#include "orb/base/thread_safety.h"

#if CORELANE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace corelane::os {

class CORELANE_CAPABILITY("mutex") PiMutex {
 public:
  PiMutex() noexcept = default;
  PiMutex(const PiMutex&) = delete;
  PiMutex& operator=(const PiMutex&) = delete;
#if CORELANE_THREAD_SANITIZER
  ~PiMutex() { __tsan_mutex_destroy(this, 0); }
#endif

  void lock() noexcept CORELANE_ACQUIRE() {
    note_before(0);
    if (!take()) wait();
    note_after(0);
  }
  bool try_lock() noexcept CORELANE_TRY_ACQUIRE(true) {
    note_before(try_flag);
    const bool taken = take();
    note_after(taken ? try_flag : failed_flag);
    return taken;
  }
  [[gnu::hot]] void unlock() noexcept CORELANE_RELEASE() {
    note_unlock();
    std::uint32_t mine = this_thread();
    // PAIR pi_mutex.word: release here -> acquire in take().
    // relaxed: if others wait, the kernel passes the mutex on, and orders it.
    if (!word_.compare_exchange_strong(mine, 0, std::memory_order_release, std::memory_order_relaxed)) pass_on();
  }

 private:
  bool take() noexcept {
    std::uint32_t nobody = 0;
    // PAIR pi_mutex.word: acquire here <- release in unlock().
    // relaxed: if another thread holds it, the kernel waits, and orders it.
    return word_.compare_exchange_strong(nobody, this_thread(), std::memory_order_acquire, std::memory_order_relaxed);
  }
  static std::uint32_t this_thread() noexcept { return thread_ != 0 ? thread_ : find_thread(); }
  static std::uint32_t find_thread() noexcept;
  void wait() noexcept;
  void pass_on() noexcept;

  // Tell the thread sanitizer, which does not know futexes. Without it they do nothing.
#if CORELANE_THREAD_SANITIZER
  static constexpr unsigned try_flag = __tsan_mutex_try_lock;
  static constexpr unsigned failed_flag = __tsan_mutex_try_lock | __tsan_mutex_try_lock_failed;
  void note_before(unsigned flags) noexcept { __tsan_mutex_pre_lock(this, flags); }
  void note_after(unsigned flags) noexcept { __tsan_mutex_post_lock(this, flags, 0); }
  void note_unlock() noexcept {
    (void)__tsan_mutex_pre_unlock(this, 0);
    __tsan_mutex_post_unlock(this, 0);
  }
  void note_passing_on() noexcept { __tsan_release(this); }  // unlock() touched the word after note_unlock()
  void note_passed_on() noexcept { __tsan_acquire(this); }
#else
  static constexpr unsigned try_flag = 0, failed_flag = 0;
  void note_before(unsigned) noexcept {}
  void note_after(unsigned) noexcept {}
  void note_unlock() noexcept {}
  void note_passing_on() noexcept {}
  void note_passed_on() noexcept {}
#endif

  static inline constinit thread_local std::uint32_t thread_ = 0;  // the calling thread's id; 0: not known yet

  std::atomic<std::uint32_t> word_{0};
};

}  // namespace corelane::os
