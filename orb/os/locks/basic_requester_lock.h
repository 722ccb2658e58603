// BasicRequesterLock is the algorithm of RequesterLock (requester_lock.h), apart from the system that it runs on. Tests
// give it a system of their own, which runs its threads one step at a time in every order.
//
// The state is in these words:
//   owner_        0, or the thread that holds the lock. It is a futex with priority inheritance: the kernel sets bit 31
//                 (FUTEX_WAITERS) if threads wait in the kernel
//   last_         the last place of the queue of ordinary waiters. A waiter watches the place before its own (Craig;
//                 Landin and Hagersten: CLH lock). So no thread waits for a successor that is slow to enter the queue
//   wake_due_     1 if the next release should wake a thread that sleeps. Sleeping threads wait at this word
//   has_sleepers_ false if probably no thread sleeps
//   spinners_     number of threads that spin before they enter the queue
//   requesters_   number of threads that wait
// A thread that finds the lock free takes it, even if others wait. So the lock never waits for a thread that sleeps
// while another one runs and wants it. One thread at a time may also spin for the lock without entering the queue. Only
// this thread and the first one in the queue poll owner_, so a release disturbs at most two threads.
// A thread that polled in vain leaves the queue and sleeps. Each thread that had to wait wakes one that sleeps when it
// releases the lock, even if one that was woken before does not run yet. So enough threads are awake for all cores. But
// a release wakes none while another thread spins for the lock: that one takes it, and the woken one would find it
// taken. After `most_skips` releases it wakes one all the same. If a thread has slept and found the lock taken again
// `most_bypasses` times, it waits in the kernel: then the lock is handed to it.
// Real-time threads wait in the kernel at once, and the holder inherits their priority. What the holder does until it
// has unlocked depends on no other thread.
//
// `System` has these members:
//   Atomic<T>                                std::atomic<T>, or a type with the same functions
//   std::uint32_t this_thread()              identifies the calling thread as futexes do: above 0, below 2^30
//   bool is_real_time()                      whether the calling thread runs before all ordinary ones
//   int spins()                              how often a waiter polls before it waits in another way
//   void pause()                             a step of a spin
//   int light_waits()                        how often a waiter waits by wait_lightly(); 0 if the system cannot
//   void wait_lightly(word, value)           waits until the word differs from the value; returns early after a while
//   void sleep_while(word, value)            sleeps until woken if the word has the value; may return early
//   bool wake(word)                          wakes one thread that sleeps at the word, and returns whether one did. The
//                                            word may be gone already
//   int most_skips                           constant: how many releases in a row wake no sleeper, at most
//   bool lock_in_kernel(word)                waits in the kernel for the futex; false if the system has none of that
//                                            kind
//   void unlock_in_kernel(word)              hands it to the waiter of highest priority
#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <utility>

#include "orb/base/thread_safety.h"

namespace corelane::os {

template <typename System>
class CORELANE_CAPABILITY("mutex") BasicRequesterLock {
 public:
  // `threshold`: see RequesterLock. Throws std::bad_alloc.
  explicit BasicRequesterLock(int threshold) : threshold_(threshold), last_(new Place) {}
  // relaxed: no other thread uses the lock any more.
  ~BasicRequesterLock() { delete last_.load(std::memory_order_relaxed); }
  BasicRequesterLock(const BasicRequesterLock&) = delete;
  BasicRequesterLock& operator=(const BasicRequesterLock&) = delete;

  void lock() noexcept CORELANE_ACQUIRE() {
    if (!take()) wait();
  }
  bool try_lock() noexcept CORELANE_TRY_ACQUIRE(true) { return take(); }
  void unlock() noexcept CORELANE_RELEASE() {
    std::uint32_t owner = System::this_thread();
    const bool must_wake = skips_enough();
    // seq_cst: either this thread sees below that a waiter goes to sleep, or that waiter sees that owner_ is free. PAIR
    // requester_lock.owner: release here -> acquire in take() and in wait_in_kernel(). relaxed: if this fails,
    // hand_over() releases.
    if (!owner_.compare_exchange_strong(owner, no_owner, std::memory_order_seq_cst, std::memory_order_relaxed))
      hand_over();
    // seq_cst: see above.
    if (wake_due_.load(std::memory_order_seq_cst) != 0) wake_sleeper(must_wake);
  }

  // Returns the number of threads that wait, as it was a moment ago. For statistics and tests.
  // relaxed: a number without meaning for other data.
  int requesters() const noexcept { return requesters_.load(std::memory_order_relaxed); }

 private:
  template <typename T>
  using Atomic = typename System::template Atomic<T>;

  static constexpr std::uint32_t no_owner = 0;
  static constexpr int most_bypasses = 8;

  // The states of a place in the queue. waiting: its thread is in the queue. sleeping: the same, and the next waiter
  // sleeps. passed: its thread has left the queue, so the next waiter is the first one.
  static constexpr std::uint32_t waiting = 0, sleeping = 1, passed = 2;

  // A place in the queue, in cache lines of its own (two, which the hardware prefetches in pairs).
  struct alignas(128) Place {
    Atomic<std::uint32_t> state{passed};
  };

  // A thread's spare place. A thread that leaves a queue takes the place before its own along.
  struct Spare {
    ~Spare() { delete std::exchange(place, nullptr); }
    // Returns nullptr if there is no memory.
    Place* take() noexcept { return place != nullptr ? std::exchange(place, nullptr) : new (std::nothrow) Place; }

    Place* place = nullptr;
  };
  static Spare& spare_of_this_thread() noexcept {
    static thread_local Spare spare;
    return spare;
  }

  bool take() noexcept {
    std::uint32_t owner = no_owner;
    // PAIR requester_lock.owner: acquire here -> release in unlock() and hand_over().
    // relaxed: a failed attempt reads nothing that the lock guards.
    return owner_.compare_exchange_strong(owner, System::this_thread(), std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void wait() noexcept {
    // relaxed: a number without meaning for other data.
    const int count = requesters_.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!System::is_real_time())
      poll_or_sleep(count <= threshold_);
    else if (!wait_in_kernel())
      sleep();
    requesters_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
  }

  void poll_or_sleep(bool spins) noexcept {
    if (!spin_for_lock() && !wait_in_queue(spins)) return sleep();
    // relaxed: a hint. If it is wrong, wake_due_ is 1, or a thread that was woken sets it.
    if (has_sleepers_.load(std::memory_order_relaxed))
      wake_due_.store(1, std::memory_order_relaxed);  // relaxed: unlock() of this thread reads it
  }

  // Polls the lock while no other thread does so outside of the queue. Returns whether this thread got the lock.
  bool spin_for_lock() noexcept {
    if (threshold_ == 0) return false;
    // relaxed: a number without meaning for other data.
    const bool may_spin = spinners_.fetch_add(1, std::memory_order_relaxed) == 0;
    const bool taken = may_spin && poll([this] { return takes(); });
    // seq_cst: a release that still sees the spinner has freed owner_ before this thread looks at it in sleep().
    spinners_.fetch_sub(1, std::memory_order_seq_cst);
    return taken;
  }

  // Takes the lock if it looks free. Pollers call it, because looking leaves the word in the cache of its holder.
  // relaxed: take() acquires.
  bool takes() noexcept { return owner_.load(std::memory_order_relaxed) == no_owner && take(); }

  // Waits in the order of priorities until the lock is handed to this thread. Returns false if the system cannot do so.
  bool wait_in_kernel() noexcept {
    if (!System::lock_in_kernel(owner_)) return false;
    // PAIR requester_lock.owner: acquire here -> release in unlock() and hand_over(). The kernel has changed the word
    // since then, which does not end the release sequence.
    (void)owner_.load(std::memory_order_acquire);
    return true;
  }

  // Polls the lock in the order of arrival. Returns whether this thread got it. It does not poll if there is no memory.
  bool wait_in_queue(bool spins) noexcept {
    if (!spins && System::light_waits() == 0) return false;
    Spare& spare = spare_of_this_thread();
    Place* const own = spare.take();
    if (own == nullptr) return false;
    own->state.store(waiting, std::memory_order_relaxed);  // relaxed: the exchange publishes it
    // PAIR requester_lock.queue: releases the state of this place,
    // PAIR requester_lock.queue: and acquires that of the place before.
    Place* const before = last_.exchange(own, std::memory_order_acq_rel);
    wait_until_passed(*before, spins);
    spare.place = before;
    const bool taken = poll_as_first(spins);
    // PAIR requester_lock.turn: release here -> acquire in wait_until_passed(). The next waiter may take the place
    // along and free it, so wake() uses only the address.
    if (own->state.exchange(passed, std::memory_order_release) == sleeping) System::wake(own->state);
    return taken;
  }

  void wait_until_passed(Place& before, bool spins) noexcept {
    // PAIR requester_lock.turn: acquire here -> release in wait_in_queue().
    const auto is_passed = [&before] { return before.state.load(std::memory_order_acquire) == passed; };
    if (spins && poll(is_passed)) return;
    if (poll_lightly(before.state, is_passed)) return;
    std::uint32_t state = waiting;
    // PAIR requester_lock.turn: acquire here, if it is this thread's turn by now -> release in wait_in_queue().
    if (!before.state.compare_exchange_strong(state, sleeping, std::memory_order_acquire, std::memory_order_acquire))
      return;
    while (!is_passed()) System::sleep_while(before.state, sleeping);
  }

  // The calling thread is the first in the queue. Returns whether it got the lock.
  bool poll_as_first(bool spins) noexcept {
    const auto gets = [this] { return takes(); };
    return (spins && poll(gets)) || poll_lightly(owner_, gets);
  }

  // Sleeps until this thread has the lock.
  void sleep() noexcept {
    if (!sleep_until_taken(most_bypasses) && !wait_in_kernel()) (void)sleep_until_taken(forever);
    wake_due_.store(1, std::memory_order_relaxed);  // relaxed: unlock() of this thread reads it
  }

  static constexpr int forever = -1;

  // Returns false if the lock was taken again each of `bypasses` times that this thread woke up.
  bool sleep_until_taken(int bypasses) noexcept {
    for (int slept = 0; slept != bypasses; ++slept) {
      // seq_cst: see unlock(). If owner_ is free after this store, this thread does not sleep. Otherwise the thread
      // that frees it later sees the store.
      has_sleepers_.store(true, std::memory_order_relaxed);  // relaxed: a hint
      wake_due_.store(1, std::memory_order_seq_cst);
      // seq_cst: as above.
      if (owner_.load(std::memory_order_seq_cst) != no_owner) System::sleep_while(wake_due_, 1);
      if (take()) return true;
    }
    return false;
  }

  // Threads wait in the kernel, so it decides which one gets the lock.
  void hand_over() noexcept {
    // PAIR requester_lock.owner: release here -> acquire in wait_in_kernel(). Changes nothing in the word.
    owner_.fetch_or(0, std::memory_order_release);
    System::unlock_in_kernel(owner_);
  }

  // Returns true once in `most_skips` releases with a thread that should be woken. Before the release.
  bool skips_enough() noexcept {
    // relaxed: a late value only delays the count.
    if (wake_due_.load(std::memory_order_relaxed) == 0 || --skips_left_ > 0) return false;
    skips_left_ = System::most_skips;
    return true;
  }

  void wake_sleeper(bool must) noexcept {
    // seq_cst: a spinner that is seen here sees that owner_ is free, or another thread has it and wakes at its release.
    if (!must && spinners_.load(std::memory_order_seq_cst) > 0) return;
    // relaxed: a sleeper looks at owner_ whenever it wakes up.
    if (wake_due_.exchange(0, std::memory_order_relaxed) == 1 && !System::wake(wake_due_))
      has_sleepers_.store(false, std::memory_order_relaxed);  // relaxed: a hint
  }

  // Returns whether the condition came to hold while the thread spun.
  static bool poll(const auto& holds) noexcept {
    const int spins = System::spins();
    for (int i = 0; i < spins; ++i) {
      if (holds()) return true;
      System::pause();
    }
    return false;
  }

  // Returns whether the condition came to hold while the thread waited in a light state for a change of the word.
  static bool poll_lightly(const Atomic<std::uint32_t>& word, const auto& holds) noexcept {
    const int waits = System::light_waits();
    for (int i = 0; i < waits; ++i) {
      // relaxed: the condition acquires. It is checked after this, so a change is either seen there or ends the wait.
      const std::uint32_t seen = word.load(std::memory_order_relaxed);
      if (holds()) return true;
      System::wait_lightly(word, seen);
    }
    return false;
  }

  // Constant after construction.
  const int threshold_;
  // Any thread.
  alignas(128) Atomic<std::uint32_t> owner_{no_owner};
  Atomic<std::uint32_t> wake_due_{0};
  Atomic<bool> has_sleepers_{false};
  int skips_left_ = System::most_skips;  // Owner: the holder
  // Waiters alone.
  alignas(128) Atomic<Place*> last_;
  Atomic<int> requesters_{0};
  Atomic<int> spinners_{0};
};

}  // namespace corelane::os
