// ThreadPool implements the leader/followers pattern on ACE_TP_Reactor, as nORB and TAO do. It is the baseline for
// measurements of the other dispatch modes. One thread, the leader, waits for all streams. When one has bytes, the
// leader promotes a follower and handles the stream itself, up to and including the servant. There is no hand-off to
// another thread. But the thread that happens to lead runs the request, on whatever core it is.
//
// Source: Schmidt, O'Ryan, Kircher, Pyarali, Buschmann, "Leader/Followers" (PLoP 2000). Zhang, Gill, Lu (RTCSA 2009 and
// later) compare the placements unbound, round_robin and single_core. They name the cost of `allocated`: migrations.
// Threads: any. Invariant: for one stream, at most one on_ready() runs at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/os/wait/wait.h"

namespace corelane::leader_followers {

enum class Placement : std::uint8_t {
  unbound,      // the kernel places the threads
  round_robin,  // thread i is bound to core i modulo their number, whatever load the cores have (as nORB did in 2009)
  single_core,  // all threads on the first core
  allocated,    // as round_robin at first; the code that runs a request binds the thread to the core of its task
};

struct PoolOptions {
  int threads = 4;  // 1 .. 256
  Placement placement = Placement::unbound;
  std::vector<CoreId> cores{};  // not empty, except for unbound
  os::WaitStrategy wait{};      // adaptive: as spin_then_park
  std::size_t stack = 256 * 1024;
  int fifo_priority = 0;  // of a waiting thread; 0: SCHED_OTHER. If refused, the threads run without it
};

// ReadyHandler handles a stream that has bytes. Thread: one of the pool's.
class ReadyHandler {
 public:
  virtual ~ReadyHandler() = default;
  // Reads what is there. Functions that it defers by os::Deferral run after it on the same thread, while another thread
  // may already be in the next on_ready(). Returns false to end this registration. A registration that was made
  // meanwhile stays.
  virtual bool on_ready() noexcept = 0;
  // Called when the pool stops; no call follows.
  virtual void on_stopping() noexcept = 0;
};

class ThreadPool {
 public:
  // Returns whether this library was built with ACE, which the pool needs.
  static bool is_built() noexcept;
  // Starts the threads. BAD_PARAM bad_option: options out of range. NO_RESOURCES no_thread, no_descriptor; BAD_PARAM
  // core_unusable. NO_IMPLEMENT bad_option: not is_built().
  static Expected<std::unique_ptr<ThreadPool>> start(const PoolOptions& options);
  ~ThreadPool();  // stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Registers a handler that is called when the descriptor is readable; the pool keeps it alive. COMM_FAILURE
  // shutting_down: the pool has stopped. IMP_LIMIT beyond_select: ACE_TP_Reactor uses select(), which supports
  // descriptors up to 1023, and none beyond the process's limit at the pool's start. BAD_INV_ORDER system_refused: the
  // descriptor is already registered, or is still being removed.
  Expected<void> add(int descriptor, std::shared_ptr<ReadyHandler> handler);
  // Removes the handler. When it returns, no on_ready() begins any more; one may still run. The descriptor may be
  // registered again, also from within its on_ready().
  void remove(int descriptor);

  // Returns whether all threads got the requested priority.
  bool real_time() const noexcept;
  // Joins the threads and calls on_stopping() of every handler. Idempotent. Do not call it from a handler.
  void stop() noexcept;

 private:
  class Impl;
  explicit ThreadPool(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corelane::leader_followers
