// RequestOrder holds those requests of one connection that still run while another thread reads the connection, and the
// requests that wait for them.
//
// A request waits until earlier oneways of its connection to the same object have ended. So a client's oneways and
// calls to one object keep their order. Everything else runs in parallel, up to a limit.
//
// Threads: any; one lock, which is not taken while nothing of the connection runs elsewhere. Invariant: the thread that
// ends a request takes the next one, so each request that waits has a thread to run it.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class RequestOrder {
 public:
  // Determines whether one request has to wait for another.
  struct Key {
    const void* object = nullptr;
    bool oneway = false;
    std::size_t bytes = 0;  // bytes that the request holds
  };
  struct Limits {
    std::size_t parallel = 4;  // requests that run beside the one on the reading thread
    // Reading stops when so many requests, or so many bytes of requests, wait. A single request may be longer.
    std::size_t waiting = 64;
    std::size_t bytes = 256 * 1024;
  };

  explicit RequestOrder(const Limits& limits) : limits_(limits) {}

  // What the reading thread does with a request. run: run it here (the job stays with the caller). waits: it waits.
  // full: it waits, and nothing more is to be read.
  enum class Decision { run, waits, full };
  // Decides about a request, and takes the job if it waits. Raises std::bad_alloc; then the job stays with the caller.
  Decision enter(dispatch::JobPtr& job, const Key& key);
  // Returns whether enter() may answer full for a request that holds so many bytes. Thread: the one that calls enter().
  bool may_become_full(std::size_t bytes) const noexcept;

  // Notes that the request on the reading thread now runs beside it. Returns false if there is no memory to record
  // that.
  bool detach(const dispatch::Job& job, const Key& key) noexcept;

  // Removes a request that has ended, and returns what may run or be read now. `may_read`: the last decision was full
  // and there is room again, or wait_until_idle() returned true and nothing runs any more.
  using Next = dispatch::RequestSource::Next;
  Next ended(const dispatch::Job& job) noexcept;
  // Returns one more request to run, for a thread that helps.
  Next take() noexcept;

  // Notes that a running request begins to wait, so that another one may take its place. Returns whether take() has one
  // now.
  bool begin_wait() noexcept;
  void end_wait() noexcept;

  // Between hold() and let_go() no waiting request begins. Pairs are counted. let_go() returns whether take() has a
  // request now.
  void hold() noexcept;
  bool let_go() noexcept;

  // Returns false if nothing runs or waits. Otherwise `may_read` is set when nothing does any more.
  bool wait_until_idle() noexcept;
  bool idle() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }  // relaxed: see enter()

 private:
  struct Running {
    const dispatch::Job* job;
    Key key;
  };
  struct Waiting {
    dispatch::JobPtr job;
    Key key;
  };
  bool is_full_with(std::size_t waiting, std::size_t bytes) const noexcept {
    return waiting >= limits_.waiting || bytes >= limits_.bytes;
  }
  bool is_idle() const noexcept CORELANE_REQUIRES(mutex_) { return running_.empty() && waiting_.empty(); }
  void note_count() noexcept CORELANE_REQUIRES(mutex_);
  bool has_oneway_running(const void* object) const noexcept CORELANE_REQUIRES(mutex_);
  bool has_oneway_waiting(const void* object, std::size_t before) const noexcept CORELANE_REQUIRES(mutex_);
  std::size_t next_index() const noexcept CORELANE_REQUIRES(mutex_);
  Next next() noexcept CORELANE_REQUIRES(mutex_);

  const Limits limits_;
  std::atomic<std::size_t> count_{0};  // requests that run or wait
  mutable os::PiMutex mutex_;
  std::vector<Running> running_ CORELANE_GUARDED_BY(mutex_);
  std::deque<Waiting> waiting_ CORELANE_GUARDED_BY(mutex_);
  std::size_t waiting_bytes_ CORELANE_GUARDED_BY(mutex_) = 0;
  // How many of the running requests, and the reading thread's own, wait for something.
  std::size_t suspended_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::size_t held_ CORELANE_GUARDED_BY(mutex_) = 0;
  bool full_ CORELANE_GUARDED_BY(mutex_) = false;
  bool tells_when_idle_ CORELANE_GUARDED_BY(mutex_) = false;
};

}  // namespace corelane::core
