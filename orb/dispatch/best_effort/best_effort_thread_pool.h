// BestEffortThreadPool manages the threads that run best-effort jobs in one place: all of them, or those on the core of
// one server. Size::running threads take jobs. A thread that waits in a nested call, or for a peer to take its reply,
// is not counted among them. If a job finds no free thread, a spare thread replaces a waiting one. A thread that finds
// too many threads at work when it looks for its next job becomes spare again.
//
//           activate_spare(): a job found no thread     leave_if_surplus(): more than `running` work
//   spare ─────────────────────────────────▶ at work ─────────────────────────────────▶ spare ── linger ──▶ end
//
// So requests that belong to different call chains between processes make progress, up to Size::waiting of them. Until
// `running` + `waiting` threads exist, there is always a spare thread: the last one, when it is activated, creates the
// next one first. It does this under SCHED_OTHER, before it belongs to a server. So a thread that submits a job or
// begins to wait never creates a thread. The threads are those of a ThreadGroup.
//
// Threads: activate_spare() any; start(), dismiss() and join() the owner's; rebind() any that is not real-time; the
// rest the thread pool's own. The numbers for reports may be read by any thread.
//
// The folder orb/dispatch/best_effort has the threads that run submitted jobs without a contract.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/budgets/aperiodic_server.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/threads/thread_group.h"

namespace corelane::dispatch {

// Waits for a token of the semaphore until the given time. Returns false if none came. It measures time by the
// monotonic clock, whereas sem_timedwait() uses the realtime clock.
bool await_token(sem_t& semaphore, Time until) noexcept;

class BestEffortThreadPool;

// ThreadPoolWork is what the threads of a thread pool do.
class ThreadPoolWork {
 public:
  virtual ~ThreadPoolWork() = default;
  // Takes jobs until the thread pool is dismissed or the calling thread may leave_if_surplus().
  virtual void take_jobs(BestEffortThreadPool& pool) noexcept = 0;
  // Returns whether there is a job for which no thread has been woken, and for which none is about to ask.
  virtual bool has_unserved() const noexcept = 0;
};

class BestEffortThreadPool {
 public:
  struct Size {
    std::size_t running = 2;                     // threads that take jobs
    std::size_t waiting = 64;                    // further threads, at most one for each that waits in a nested call
    std::size_t stack = 256 * 1024;              // bytes of a thread's stack, which takes memory as it is used
    Duration linger = std::chrono::seconds{10};  // how long an extra spare thread sleeps before it ends
  };

  // Binds the threads to `core`, and gives them the class that `server` decides while they work; or neither. All
  // arguments must outlive the thread pool.
  BestEffortThreadPool(ThreadPoolWork& work, const Size& size, std::optional<CoreId> core = {},
                       AperiodicServer* server = nullptr);
  ~BestEffortThreadPool();
  BestEffortThreadPool(const BestEffortThreadPool&) = delete;
  BestEffortThreadPool& operator=(const BestEffortThreadPool&) = delete;

  // Starts the threads. Errors: as os::start_thread().
  Expected<void> start();
  // Ends the threads after their current jobs, spare ones at once. No thread is created any more. Idempotent.
  void dismiss() noexcept;
  bool dismissed() const noexcept;
  void join() noexcept;

  // Binds the threads to the core again, because the kernel may have unbound them. Not for real-time threads.
  void rebind() noexcept;

  AperiodicServer* server() const noexcept { return server_; }
  const Size& size() const noexcept { return size_; }

  // Called when a job found no thread. If fewer than `running` threads work, makes a spare thread begin to work
  // and returns true. Does not block.
  bool activate_spare() noexcept;
  // Returns true if more than `running` threads work. The calling thread then no longer counts as working, and must
  // stop taking jobs.
  bool leave_if_surplus() noexcept;
  // Returns until when a thread that takes jobs may sleep without one. Then it must check whether it is surplus.
  Time idle_until(Time now) const noexcept;

  // Return numbers of this thread pool's threads, for reports.
  std::size_t threads() const noexcept { return threads_.size(); }
  std::size_t waiting() const noexcept;
  // Returns how often a thread began to wait while so many waited that fewer than `running` were left to work.
  std::uint64_t shortages() const noexcept { return shortages_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  class Member;
  void live(Member& self) noexcept;
  bool rest(Member& self) noexcept;
  bool sleep() noexcept;
  bool may_end(Member& self) noexcept;
  void keep_spare() noexcept;
  Expected<void> make_member() noexcept CORELANE_REQUIRES(mutex_);
  void work(Member& self) noexcept;
  void begin_wait() noexcept;
  void end_wait() noexcept;
  void note_shortage() noexcept;

  // Constant.
  ThreadPoolWork& work_;
  const Size size_;
  AperiodicServer* const server_;

  // Shared.
  sem_t called_;  // POSIX: a post takes no lock that a real-time submitter could wait for
  // Upper half: threads that wait in a nested call. Lower half: threads at work beyond `running`.
  std::atomic<std::uint64_t> load_{0};
  std::atomic<int> spare_{0};  // spare threads, minus calls that none of them has taken yet
  std::atomic<bool> dismissed_{false};
  std::atomic<std::uint64_t> shortages_{0};

  os::PiMutex mutex_;                                // held while a thread is made; no real-time thread takes it
  bool warned_ CORELANE_GUARDED_BY(mutex_) = false;  // the log says that no further thread can be created

  os::ThreadGroup threads_;  // last: its threads use the others
};

}  // namespace corelane::dispatch
