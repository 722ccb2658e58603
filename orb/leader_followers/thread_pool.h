// ThreadPool: the leader/followers pattern on ACE_TP_Reactor, the way of nORB and TAO, as the baseline that the other
// dispatch modes are measured against. One thread, the leader, waits for all streams; when one has bytes the leader
// promotes a follower and handles the stream itself, up to and including the servant. No hand-off; but the thread that
// happens to lead runs the request, on whatever core it is.
//
// Source: Schmidt, O'Ryan, Kircher, Pyarali, Buschmann, "Leader/Followers" (PLoP 2000); the three placements are those
// compared in Zhang, Gill, Lu (RTCSA 2009) and since.
// Threads: any. Invariant: of one stream at most one on_ready() runs at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/os/wait.h"

namespace corelane::leader_followers {

enum class Placement : std::uint8_t {
  unbound,      // the kernel places the threads
  round_robin,  // thread i is bound to core i, by count, whatever the cores carry (as nORB did in 2009)
  single_core,  // all threads on the first core
};

struct PoolOptions {
  int threads = 4;  // 1 .. 256
  Placement placement = Placement::unbound;
  std::vector<CoreId> cores{};  // for round_robin and single_core: not empty
  os::WaitStrategy wait{};      // adaptive: as spin_then_park
  std::size_t stack = 256 * 1024;
  int fifo_priority = 0;  // of a thread that waits; 0: SCHED_OTHER. Where it is refused the threads run without
};

// Who handles a stream that has bytes. Thread: one of the pool's.
class ReadyHandler {
 public:
  virtual ~ReadyHandler() = default;
  // Takes what is there. What it leaves by os::Deferral runs after it on the same thread, while another may already be
  // in the next on_ready(). False: not to be called again for this registration; one that was made meanwhile stays.
  virtual bool on_ready() noexcept = 0;
  // The pool stops; nothing is called after it.
  virtual void on_stopping() noexcept = 0;
};

class ThreadPool {
 public:
  // BAD_PARAM bad_option: options out of range. NO_RESOURCES no_thread, no_descriptor; BAD_PARAM core_unusable.
  static Expected<std::unique_ptr<ThreadPool>> start(const PoolOptions& options);
  ~ThreadPool();  // stop()
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // From now on the handler is called when the descriptor is readable; the pool keeps it alive. COMM_FAILURE
  // shutting_down: the pool has stopped. IMP_LIMIT beyond_select: select(), which ACE_TP_Reactor rests on, carries
  // descriptors up to 1023, and none beyond the process's limit at the pool's start. BAD_INV_ORDER system_refused: the
  // descriptor is registered already, or was and is being let go.
  Expected<void> add(int descriptor, std::shared_ptr<ReadyHandler> handler);
  // No on_ready() begins after it returned; one may still run. The descriptor may be registered again, also from within
  // its on_ready().
  void remove(int descriptor);

  // Whether all threads got the priority that was asked for.
  bool real_time() const noexcept;
  // Joins the threads and tells every handler. Idempotent. Not from a handler.
  void stop() noexcept;

 private:
  class Impl;
  explicit ThreadPool(std::unique_ptr<Impl> impl) noexcept;
  std::unique_ptr<Impl> impl_;
};

}  // namespace corelane::leader_followers
