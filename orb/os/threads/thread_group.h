// ThreadGroup supplies a pool with threads: it starts them one by one, up to a limit, numbers their names, and joins
// those that have ended. The pool decides when it needs another thread, and when a thread ends.
//
// A thread whose live() has returned may still run destructors of its thread-local objects. That may take long, and may
// depend on the work of the group's other threads. So nothing but join() waits for them: join_ended(), and each thread
// that ends, join the threads that are gone by then.
//
// TaskThreads (orb/dispatch/cores) stays apart, because its threads do not end with their work: they take over another
// task, with its core and its class. So does the pool of orb/leader_followers, whose threads all live as long as it.
//
// Threads: start(), join_ended() and join(): any that are not real-time; the rest any. Call join() without locks that a
// thread of the group takes while it ends. The other two wait for no thread that ends. The group's lock has priority
// inheritance and is never held while a thread starts or ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/thread.h"

namespace corelane::os {

class ThreadGroup {
 public:
  // Member is one thread. A pool derives a class from it that does the work.
  class Member {
   public:
    Member() = default;
    Member(const Member&) = delete;
    Member& operator=(const Member&) = delete;
    virtual ~Member() = default;

   protected:
    // The handle of the thread. Valid from the beginning of live() on.
    Thread& thread() noexcept { return thread_; }
    const Thread& thread() const noexcept { return thread_; }

   private:
    friend class ThreadGroup;
    // What the thread does. The thread ends when this returns.
    virtual void live() noexcept = 0;

    std::atomic<bool> has_handle_{false};
    Thread thread_;
    // Guarded by the group's mutex.
    bool has_left_ = false;
    bool ended_ = false;
  };
  using MemberPtr = std::shared_ptr<Member>;

  static constexpr std::size_t no_limit = SIZE_MAX;

  // `each`: the options of each thread; its number is added to the name. `most`: the most threads at a time.
  explicit ThreadGroup(ThreadOptions each, std::size_t most = no_limit);
  ~ThreadGroup() { join(); }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  // Starts the member's thread. False: there are `most` threads, or join() was called. Errors: as start_thread(), and
  // NO_MEMORY.
  Expected<bool> start(MemberPtr member) noexcept;
  // Says that the calling thread, the member's, is about to return from live(). It does not count any more. Optional.
  void leave(Member& member) noexcept;
  // Joins the threads that are gone. Does not wait.
  void join_ended() noexcept;
  // Joins all threads. The caller makes them end. No thread is started any more. Idempotent.
  void join() noexcept;

  // Binds the threads to the core of their options again, because the kernel may have unbound them.
  void rebind() noexcept;

  // Returns how many threads there are, without those that have ended or left.
  std::size_t size() const noexcept { return alive_.load(std::memory_order_relaxed); }  // relaxed: a report
  // Returns a number that changes with the members.
  std::uint64_t generation() const noexcept {
    // relaxed: a thread that reads the old number reads the new one later
    return generation_.load(std::memory_order_relaxed);
  }
  // Calls see(member) for each member, also for those that have ended and are not joined. Holds the lock meanwhile.
  template <typename See>
  void for_each(See see) const {
    const LockGuard lock(mutex_);
    for (const MemberPtr& member : members_) see(member);
  }

 private:
  using Members = std::vector<MemberPtr>;
  Expected<Thread> make_thread(Member& member, std::uint64_t number) noexcept;
  void run(Member& member) noexcept;
  MemberPtr take_ended() noexcept CORELANE_REQUIRES(mutex_);
  void note_change() noexcept CORELANE_REQUIRES(mutex_);

  // Constant.
  const ThreadOptions each_;
  const std::size_t most_;

  std::atomic<std::size_t> alive_{0};         // changes with the mutex
  std::atomic<std::uint64_t> generation_{1};  // changes with the mutex

  mutable PiMutex mutex_;
  Members members_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t made_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::size_t starting_ CORELANE_GUARDED_BY(mutex_) = 0;  // calls of start() that start one
  bool joined_ CORELANE_GUARDED_BY(mutex_) = false;
};

}  // namespace corelane::os
