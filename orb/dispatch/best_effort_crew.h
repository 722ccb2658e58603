// BestEffortCrew: the threads of the best-effort lane in one place: all of them, or those on the core of one server. So
// many take jobs; one that waits, in a nested call or for a peer to take its reply, is not among them. When a job finds
// nobody, one of the reserve takes the place of one that waits, and whoever is one too many when he comes for his next
// job goes to the reserve.
//
//                call_up(): a job found nobody        leave_surplus(): more work than should
//   reserve ─────────────────────────────────▶ at work ─────────────────────────────────▶ reserve ── linger ──▶ end
//
// So requests of different chains that processes make of each other go on, up to Size::waiting of them. Until there are
// as many threads one is always asleep in the reserve: who leaves it as the last makes the next one first. That happens
// under SCHED_OTHER, before the thread belongs to a server, so whoever submits a job or begins to wait makes no thread.
//
// Threads: call_up() any; the rest the crew's own, but for start(), dismiss() and join().
#pragma once

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/thread_server.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

// Waits for a token of the semaphore; false: none came until then. sem_timedwait() knows the realtime clock alone.
bool await_token(sem_t& semaphore, Time until) noexcept;

class BestEffortCrew;

// What the threads do.
class CrewWork {
 public:
  virtual ~CrewWork() = default;
  // Takes jobs until the crew is dismissed or the calling thread may leave_surplus().
  virtual void take_jobs(BestEffortCrew& crew) noexcept = 0;
  // Whether there is a job for which no thread has been woken and none is about to ask.
  virtual bool has_unserved() const noexcept = 0;
};

class BestEffortCrew {
 public:
  struct Size {
    std::size_t running = 2;                     // threads that take jobs
    std::size_t waiting = 64;                    // threads beside them, at most, while as many wait in nested calls
    std::size_t stack = 256 * 1024;              // takes memory as it is used
    Duration linger = std::chrono::seconds{10};  // what a thread of the reserve but the last sleeps before it ends
  };

  // On the core of the server, and in its class while they work; or without both. All outlive the crew.
  BestEffortCrew(CrewWork& work, const Size& size, std::optional<CoreId> core = {}, ThreadServer* server = nullptr);
  ~BestEffortCrew();
  BestEffortCrew(const BestEffortCrew&) = delete;
  BestEffortCrew& operator=(const BestEffortCrew&) = delete;

  // Errors: as os::start_thread().
  Expected<void> start();
  // The threads end after what each has, those in the reserve at once; none is made any more. Idempotent.
  void dismiss() noexcept;
  bool dismissed() const noexcept;
  void join() noexcept;

  // Binds its threads anew to the core: the kernel may have unbound them. Not for real-time threads.
  void rebind() noexcept;

  ThreadServer* server() const noexcept { return server_; }
  const Size& size() const noexcept { return size_; }

  // A job found nobody: a thread of the reserve begins to work, if fewer than `running` do. Does not block.
  bool call_up() noexcept;
  // Whether more than `running` work: then the calling thread is none of them any more.
  bool leave_surplus() noexcept;
  // How long a thread that takes jobs may sleep for want of one before it is to look whether it is one too many.
  Time idle_until(Time now) const noexcept;

  // Of these, for reports.
  std::size_t threads() const noexcept { return alive_.load(std::memory_order_relaxed); }  // relaxed: a report
  std::size_t waiting() const noexcept;
  // How often a thread began to wait when so many did that fewer than `running` were left to work.
  std::uint64_t shortages() const noexcept { return shortages_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  class Member;
  void live(Member& self) noexcept;
  bool rest(Member& self) noexcept;
  bool sleep() noexcept;
  bool may_end(Member& self) noexcept;
  void keep_reserve() noexcept;
  Expected<void> make_member();
  void bury() noexcept;
  void work(Member& self) noexcept;
  void begin_wait() noexcept;
  void end_wait() noexcept;
  void note_shortage() noexcept;

  // Constant.
  CrewWork& work_;
  const Size size_;
  const std::optional<CoreId> core_;
  ThreadServer* const server_;

  // Shared.
  sem_t called_;  // POSIX: a post takes no lock that a real-time submitter could wait for
  // Upper half: threads that wait in a nested call. Lower half: threads at work beyond `running`.
  std::atomic<std::uint64_t> load_{0};
  std::atomic<int> reserve_{0};  // threads in the reserve, less calls that none of them has heard yet
  std::atomic<bool> dismissed_{false};
  std::atomic<std::uint64_t> shortages_{0};
  std::atomic<std::size_t> alive_{0};

  os::PiMutex mutex_;  // no real-time thread takes it
  // Guarded by mutex_.
  std::vector<std::unique_ptr<Member>> members_;
  std::size_t made_ = 0;
  bool said_ = false;  // that there is no further thread
};

}  // namespace corelane::dispatch
