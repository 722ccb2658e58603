// RequestOrder: the requests of one connection that run while another thread reads it, and those that wait for them.
//
// A request waits until earlier oneways of its connection to the same object have ended, so that a client's oneways and
// calls to one object keep their order. Everything else runs in parallel, up to a limit.
//
// Threads: any; one lock, which is not taken while nothing of the connection runs elsewhere. Invariant: the thread
// that ends a request takes the next one, so each request that waits has a thread to run it.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "orb/dispatch/job.h"
#include "orb/dispatch/serving/request_source.h"
#include "orb/os/pi_mutex.h"

namespace corelane::core {

class RequestOrder {
 public:
  // What decides whether one request has to wait for another.
  struct Key {
    const void* object = nullptr;
    bool oneway = false;
    std::size_t bytes = 0;  // that it holds
  };
  struct Limits {
    std::size_t parallel = 4;        // requests that run beside the reader's own
    std::size_t waiting = 64;        // requests, and bytes, that wait before the connection is read no further; a
    std::size_t bytes = 256 * 1024;  // single request may be longer
  };

  explicit RequestOrder(const Limits& limits) : limits_(limits) {}

  // For the reader: run it here (the job stays with the caller); it waits; it waits, and nothing more is to be read.
  enum class Verdict { run, waits, full };
  // Raises std::bad_alloc; then the job stays with the caller.
  Verdict enter(dispatch::JobPtr& job, const Key& key);

  // The request that runs on the reader's thread goes on beside it. False: there is no memory to remember that.
  bool detach(const dispatch::Job& job, const Key& key) noexcept;

  // What may go on, now that a request has ended. `may_read`: the last verdict was full, or wait_until_idle() was true.
  using Next = dispatch::RequestSource::Next;
  Next ended(const dispatch::Job& job) noexcept;
  // One more to run, for a thread that helps.
  Next take() noexcept;

  // A request that runs begins to wait: another one may take its place. Whether take() has one now.
  bool begin_wait() noexcept;
  void end_wait() noexcept;

  // None of those that wait is begun between the two. After the second, whether take() has one. Pairs are counted.
  void hold() noexcept;
  bool let_go() noexcept;

  // False: nothing runs or waits. Else may_read is told when nothing does any more.
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
  bool is_idle() const noexcept { return running_.empty() && waiting_.empty(); }
  void note_count() noexcept;
  bool has_oneway_running(const void* object) const noexcept;
  bool has_oneway_waiting(const void* object, std::size_t before) const noexcept;
  std::size_t next_index() const noexcept;
  Next next() noexcept;

  const Limits limits_;
  std::atomic<std::size_t> count_{0};  // of those that run or wait
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<Running> running_;
  std::deque<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::size_t suspended_ = 0;  // of those that run, and the reader's own
  std::size_t held_ = 0;
  bool full_ = false;
  bool tells_when_idle_ = false;
};

}  // namespace corelane::core
