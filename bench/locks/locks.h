// The locks that RequesterLock is compared with. Each is a BasicLockable.
//   TicketLock     threads get the lock in the order in which they asked for it; all waiters poll one word
//   McsLock        the same order; each waiter polls a word of its own (Mellor-Crummey and Scott, 1991)
//   AdaptiveMutex  pthread mutex that spins before it sleeps (PTHREAD_MUTEX_ADAPTIVE_NP)
//   PlainMutex     pthread mutex with default attributes
// Ticket and MCS locks spin for as long as they wait. Beside a thread that needs their core they yield now and then, or
// a run with more threads than cores would take minutes.
// Threads: any.
#pragma once

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <cstdint>

#include "orb/os/wait/wait.h"

namespace bench_locks {

// Spins for 1000 steps, then also yields at each step.
class Spin {
 public:
  void step() noexcept {
    if (++steps_ < 1000)
      corelane::os::spin_pause();
    else
      sched_yield();
  }

 private:
  int steps_ = 0;
};

class TicketLock {
 public:
  void lock() noexcept {
    const std::uint32_t own = next_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the ticket guards nothing
    // PAIR ticket_lock.served: acquire here -> release in unlock().
    for (Spin spin; served_.load(std::memory_order_acquire) != own;) spin.step();
  }
  void unlock() noexcept {
    const std::uint32_t own = served_.load(std::memory_order_relaxed);  // relaxed: only the holder writes it
    // PAIR ticket_lock.served: release here -> acquire in lock().
    served_.store(own + 1, std::memory_order_release);
  }

 private:
  alignas(128) std::atomic<std::uint32_t> next_{0};
  alignas(128) std::atomic<std::uint32_t> served_{0};
};

// A thread waits for at most one McsLock at a time, and holds at most one.
class McsLock {
 public:
  void lock() noexcept {
    Place& own = place();
    own.next.store(nullptr, std::memory_order_relaxed);  // relaxed: the exchange publishes it
    own.waits.store(true, std::memory_order_relaxed);    // relaxed: as above
    // PAIR mcs_lock.last: releases this place, acquires the one before; also acquires from unlock().
    Place* const before = last_.exchange(&own, std::memory_order_acq_rel);
    if (before == nullptr) return;
    // PAIR mcs_lock.next: release here -> acquire in unlock().
    before->next.store(&own, std::memory_order_release);
    // PAIR mcs_lock.waits: acquire here -> release in unlock().
    for (Spin spin; own.waits.load(std::memory_order_acquire);) spin.step();
  }
  void unlock() noexcept {
    Place& own = place();
    Place* expected = &own;
    // PAIR mcs_lock.last: release here -> acquire in lock().
    // relaxed: if this fails, a waiter has come, and `next` is acquired below.
    if (last_.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_relaxed)) return;
    Place* follower = nullptr;
    // PAIR mcs_lock.next: acquire here -> release in lock().
    for (Spin spin; (follower = own.next.load(std::memory_order_acquire)) == nullptr;) spin.step();
    // PAIR mcs_lock.waits: release here -> acquire in lock().
    follower->waits.store(false, std::memory_order_release);
  }

 private:
  struct alignas(128) Place {
    std::atomic<Place*> next{nullptr};
    std::atomic<bool> waits{false};
  };
  static Place& place() noexcept {
    static thread_local Place own;
    return own;
  }

  alignas(128) std::atomic<Place*> last_{nullptr};
};

template <int kind>
class PthreadMutex {
 public:
  PthreadMutex() noexcept {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  PthreadMutex(const PthreadMutex&) = delete;
  PthreadMutex& operator=(const PthreadMutex&) = delete;
  ~PthreadMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept { pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  alignas(128) pthread_mutex_t mutex_;
};
using PlainMutex = PthreadMutex<PTHREAD_MUTEX_NORMAL>;
using AdaptiveMutex = PthreadMutex<PTHREAD_MUTEX_ADAPTIVE_NP>;

}  // namespace bench_locks
