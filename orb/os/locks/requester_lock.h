// RequesterLock is a mutex for short critical sections that many threads want at once (requester-based lock, Cui). It
// counts its requesters: the threads that wait. While there are few, they spin, because the lock will soon be theirs.
// The others wait in a light state of the processor (UMWAIT), and then sleep. So a crowd neither takes the cores from
// the holder nor slows the hand-over down by polling. One running thread at a time may take the lock before all that
// sleep, so the lock is not idle until a sleeping thread runs. Lock it with os::LockGuard or os::UniqueLock
// (orb/os/lock.h).
//
// Threads: any. A real-time thread (SCHED_FIFO, SCHED_RR, SCHED_DEADLINE) never spins: it waits in the kernel, and the
// holder inherits its priority. So it waits for at most one critical section of ordinary threads, and for those of
// waiters with higher priority. Among ordinary threads a late one may take a free lock before a thread that sleeps, but
// not more than eight times that this thread wakes up. Then the lock is handed over.
// Lifetime: unlock() reads the lock after it has freed it. So do not destroy the lock as soon as another thread can
// lock it; first let all calls of unlock() return. Memory: the lock allocates when it is made, and an ordinary thread
// when it polls in the queue for the first time. If there is no memory, the thread sleeps at once. Cost: without
// contention one atomic operation to lock and one to unlock.
#pragma once

#include <atomic>
#include <cstdint>

#include "orb/base/thread_safety.h"
#include "orb/os/locks/basic_requester_lock.h"
#include "orb/os/wait/wait.h"

namespace corelane::os {

// The functions of the system that BasicRequesterLock needs; see there.
struct RequesterLockSystem {
  template <typename T>
  using Atomic = std::atomic<T>;
  using Word = std::atomic<std::uint32_t>;

  static std::uint32_t this_thread() noexcept;
  static bool is_real_time() noexcept;
  static int spins() noexcept;
  static void pause() noexcept { spin_pause(); }
  static int light_waits() noexcept;
  static void wait_lightly(const Word& word, std::uint32_t value) noexcept;
  static void sleep_while(Word& word, std::uint32_t value) noexcept;
  static bool wake(Word& word) noexcept;
  static constexpr int most_skips = 256;
  static bool lock_in_kernel(Word& word) noexcept;
  static void unlock_in_kernel(Word& word) noexcept;
};

class CORELANE_CAPABILITY("mutex") RequesterLock {
 public:
  // A thread that begins to wait spins in two cases: there are at most so many requesters, with this one, or no other
  // thread spins outside of the queue. 0: no thread spins.
  static constexpr int usual_threshold = 1;

  explicit RequesterLock(int threshold = usual_threshold) : lock_(threshold) {}

  void lock() noexcept CORELANE_ACQUIRE() { lock_.lock(); }
  bool try_lock() noexcept CORELANE_TRY_ACQUIRE(true) { return lock_.try_lock(); }
  void unlock() noexcept CORELANE_RELEASE() { lock_.unlock(); }

  // Returns the number of threads that wait, as it was a moment ago.
  int requesters() const noexcept { return lock_.requesters(); }

 private:
  BasicRequesterLock<RequesterLockSystem> lock_;
};

}  // namespace corelane::os
