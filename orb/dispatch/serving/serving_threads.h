// ServingThreads are ordinary threads (SCHED_OTHER) that read connections, run the requests without a contract that
// they find, and answer them. No request passes from one thread to another.
//
// A thread stays with its connection and waits there for the next request, as long as another thread handles the other
// connections. Those wait in one epoll set. One thread at a time, the leader, waits for that set. When a connection has
// something, another thread becomes the leader before the request runs. If there is no other thread, the leader
// serves the connection itself (the "serving leader"), does not stay with it, and leads again.
//
// A connection without a request for `stay` is quiet. Its thread is idle then, and may be called to other work. Until
// it is called, it watches the quiet connection, and serves its next request. So it costs no wake-up to leave a quiet
// connection, and a thread that waits there keeps no other connection waiting.
//
//             ┌────────────────────── give back: another connection waits for a thread ───────────────────────┐
//             ▼                                                                                               │
//   idle ◀─▶ leader ── an event ──▶ reads and serves one connection ── waits there for its next request ──────┤
//    ▲                                   │      ▲ its next request                                            │ quiet
//    │                                   │      └────────────────────── idle, and watches the connection ◀────┘
//    │                                   │                                      │ called to other work: puts the
//    └───────────────────────────────────┼──────────────────────────────────────┘ connection into the epoll set
//                                        │ a servant runs for longer than `patience`
//                                        └──▶ detached: the monitor gives the connection to another thread
//
// The threads are those of a ThreadGroup.
//
// Bounds: at most `running` threads read and serve, the leader among them, and at most `detached` more are in long
// servants or in nested calls. Idle connections cost memory alone.
//
// Threads: any, but not from inside a request for start(), stop(). Only ordinary threads make threads.
//
// The folder orb/dispatch/serving has the threads that read requests without a contract and run them at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/dispatch/serving/servant_limiter.h"
#include "orb/dispatch/serving/source_poll.h"
#include "orb/dispatch/serving/upcall_monitor.h"
#include "orb/dispatch/serving/waiting_sources.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/threads/thread_group.h"
#include "orb/sched/concurrency_control.h"

namespace corelane::dispatch {

struct ServingOptions {
  std::size_t running = 17;   // threads that read and serve; all but one may stay with connections of their own
  std::size_t detached = 64;  // threads beside them, in servants that take long or wait in nested calls
  Duration patience = std::chrono::microseconds{200};  // a servant that takes longer is detached
  // How long a connection is without a request until it is quiet. It is longer than receive_timeout of
  // orb/transport/detail/socket.cpp, so that a wait for the next request takes one system call. It is only a little
  // longer: if that call ends in vain, the time is usually over, and no second wait follows.
  Duration stay = std::chrono::milliseconds{21};
  // How long a thread that is not needed waits before it ends. Two threads wait without an end.
  Duration linger = std::chrono::seconds{10};
  std::size_t stack = 8 * 1024 * 1024;  // of each thread; takes memory as it is used
  sched::ServantLimit servants{};       // how many servants run in parallel; see servant_limiter.h
};

class ServingThreads {
 public:
  explicit ServingThreads(const ServingOptions& options);
  ~ServingThreads();  // stop()
  ServingThreads(const ServingThreads&) = delete;
  ServingThreads& operator=(const ServingThreads&) = delete;

  // Starts the threads. Errors: NO_RESOURCES no_thread or no_descriptor.
  Expected<void> start();
  // Closes all sources, and ends each thread after the work that it has. Idempotent.
  void stop() noexcept;

  // Reads and serves the connection from now on; the caller had the turn. False: the system refuses to watch its
  // descriptor, or these threads have stopped; the source stays with the caller. Thread: any, also a real-time one;
  // makes no thread.
  bool add(std::shared_ptr<RequestSource> source) noexcept;
  // Ends the connection to make room for another one, unless it is in use. Returns whether it has ended. Thread: as
  // add().
  bool evict(const std::shared_ptr<RequestSource>& source) noexcept;

  // Lets a connection that was blocked go on. Thread: as add().
  void resume(const std::shared_ptr<RequestSource>& source) noexcept;

  // For reports. Thread: any.
  std::uint64_t jobs() const noexcept;
  std::size_t threads() const noexcept;
  std::size_t connections() const noexcept;
  std::uint64_t shortages() const noexcept;  // how often a detached thread was not replaced: `detached` were in use
  int servant_limit() const noexcept { return limiter_.limit(); }  // see ServantLimiter::limit()

 private:
  class Worker;
  class Monitor;
  using SourcePtr = std::shared_ptr<RequestSource>;

  enum class Woken : std::uint8_t { by_call, by_connection, not_at_all };
  // How a rest has ended.
  enum class Rested : std::uint8_t {
    called,  // there is something to do
    found,   // the quiet connection has something
    ends,    // the thread is not needed any more
    stays,   // nothing has come, and the thread is still needed
  };

  // Numbers of threads.
  struct Counts {
    std::size_t alive = 0;
    std::size_t detached = 0;  // of those
    std::size_t starting = 0;  // were made and have not asked for work yet
    std::size_t called = 0;    // rested, were woken and have not asked for work yet
  };
  // What a worker does next.
  struct Work {
    SourcePtr source{};  // null: the thread ends
    bool helps = false;  // runs a request that waits; otherwise the worker has the turn
  };
  Work next_work(Worker& worker) noexcept;
  Work take_work() noexcept CORELANE_REQUIRES(mutex_);
  void lead(Worker& worker) noexcept CORELANE_REQUIRES(mutex_);
  Rested rest(Worker& worker) noexcept CORELANE_REQUIRES(mutex_);
  bool may_stay(const Worker& worker) const noexcept;
  // Calls a thread before the worker serves, if one is needed. If there is none, the worker is the serving leader.
  void call_substitute(Worker& worker) noexcept CORELANE_REQUIRES(mutex_);
  void expire_some() noexcept;

  bool needs_thread() const noexcept CORELANE_REQUIRES(mutex_) {
    return (!led_ && serving_leader_ == nullptr) || !waiting_.empty();
  }
  bool may_grow() const noexcept CORELANE_REQUIRES(mutex_);
  void update_hints() noexcept CORELANE_REQUIRES(mutex_);
  void stop_serving_as_leader(Worker& worker) noexcept CORELANE_REQUIRES(mutex_);

  // Wakes or makes a thread if one is needed; releases the lock meanwhile. False: there is none.
  bool call_thread() noexcept CORELANE_REQUIRES(mutex_);
  Expected<void> grow() noexcept CORELANE_REQUIRES(mutex_);

  void give_back(const SourcePtr& source) noexcept;
  // Lets the worker watch the quiet connection while it rests; leave_quiet() gives the connection to the epoll set.
  void keep_quiet(Worker& worker, const SourcePtr& source) noexcept;
  void leave_quiet(Worker& worker) noexcept;
  void give_up_turn(const SourcePtr& source) noexcept;
  void wait_blocked(const SourcePtr& source) noexcept;
  void put_ready(const SourcePtr& source) noexcept;
  void call_help(const SourcePtr& source) noexcept;
  void forget(const RequestSource& source) noexcept;
  // A worker calls begin_detached() when it is in a long servant or begins to wait in a nested call, and end_detached()
  // when that is over. Pairs of these calls may nest.
  void begin_detached(Worker& worker) noexcept;
  void end_detached(Worker& worker) noexcept;
  // Thread: the monitor's.
  void take_over(Worker& worker, Turn::Upcall upcall) noexcept;
  bool is_known(const RequestSource& source) const noexcept;
  void copy_workers(std::vector<std::shared_ptr<Upcaller>>& workers) const;

  // Constant after start().
  const ServingOptions options_;
  std::unique_ptr<Monitor> monitor_;

  SourcePoll poll_;         // any thread
  ServantLimiter limiter_;  // any thread

  // A connection waits to be served, and no thread is about to take it. Read by every thread before it waits at its
  // connection.
  std::atomic<bool> lacks_thread_{false};
  std::atomic<std::uint64_t> jobs_{0};  // of threads that have ended
  std::atomic<std::uint64_t> shortages_{0};

  mutable os::PiMutex mutex_;
  // The last one is called first. Those that watch a quiet connection come before the others, the newest first. So they
  // are called last, and the one whose connection has been quiet for longest is the first of them.
  std::vector<Worker*> idle_ CORELANE_GUARDED_BY(mutex_);
  WaitingSources waiting_ CORELANE_GUARDED_BY(mutex_);
  std::unordered_map<const RequestSource*, SourcePtr> sources_ CORELANE_GUARDED_BY(mutex_);
  Counts counts_ CORELANE_GUARDED_BY(mutex_);
  // Sources taken from waiting_ since a thread last asked the epoll set.
  int since_wait_ CORELANE_GUARDED_BY(mutex_) = 0;
  bool led_ CORELANE_GUARDED_BY(mutex_) = false;
  // Leads again when it has served what it took; null: no leader serves.
  Worker* serving_leader_ CORELANE_GUARDED_BY(mutex_) = nullptr;
  bool stopped_ CORELANE_GUARDED_BY(mutex_) = false;
  bool warned_ CORELANE_GUARDED_BY(mutex_) = false;  // a warning was logged that there is no further thread

  os::ThreadGroup threads_;  // the workers; last: they use the others
};

}  // namespace corelane::dispatch
