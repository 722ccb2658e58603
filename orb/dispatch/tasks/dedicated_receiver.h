// DedicatedReceiver is a worker's end of its JobSource. It receives the source, reads jobs from it, and limits how much
// is read.
//
// Threads: give() any; the rest on the task's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "orb/base/thread_safety.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/tasks/read_throttle.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class DedicatedReceiver {
 public:
  explicit DedicatedReceiver(const Contract& contract) : throttle_(contract) {}

  // Gives the worker a source. Its thread finds it at its next step, so wake it. The newest connection counts: the
  // previous source is closed, lent or not. Returns false if the task has left, or if a lent source comes back after a
  // newer one was given. The caller then keeps the source.
  bool give(const std::shared_ptr<JobSource>& source) noexcept;

  // Lends the source to another reader while the thread must not read, or takes it back. Costs nothing if nothing
  // changes.
  void lend() noexcept;
  void take_back() noexcept;

  // Reads at most once. The result is `nothing` also while reading is throttled, or while the source is lent or
  // missing. After `piece` and `bytes` the caller reports the time that took: read_piece(), wasted().
  JobSource::Found read(JobPtr& job, Time now) noexcept;
  // Returns whether nothing is there to be read, as far as is known without reading.
  bool drained() const noexcept {
    if (given_.load(std::memory_order_relaxed)) return false;  // relaxed: giving one later wakes this thread
    return !reads() || source_->drained();
  }
  // See ReadThrottle. Call wasted() also for a job that the core scheduler refused.
  void read_piece(Time now, Duration used) noexcept { throttle_.piece(now, used); }
  void wasted(Time now, Duration used) noexcept { throttle_.wasted(now, used); }
  void ran(Duration used) noexcept { throttle_.ran(used); }

  // Returns whether it reads a source. Any thread; for reports.
  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }  // relaxed: a flag

  // Return what to wait for beside a wake-up: bytes on this descriptor, unless it is -1, and this time.
  int descriptor(Time now) const noexcept;
  Time wake_at(Time now) const noexcept;

  // Closes the source that is read, because its descriptor cannot be waited for. Another one may come.
  void drop() noexcept;
  // Closes everything, because the task leaves. A source that is given later is refused.
  void close() noexcept;

 private:
  // lent: another thread reads the source. returning: that thread still reads it, and it will come back as another
  // source.
  enum class Stage : std::uint8_t { none, here, lent, returning };
  bool reads() const noexcept { return stage_ == Stage::here; }
  void receive() noexcept;
  void enter(Stage stage) noexcept;
  void end() noexcept;
  Time since_opening(Time arrived) const noexcept;

  ReadThrottle throttle_;
  // Owner: the task's thread.
  std::shared_ptr<JobSource> source_;  // null before the first and after the end
  Stage stage_ = Stage::none;

  // Shared.
  std::atomic<bool> given_{false};
  std::atomic<bool> open_{false};
  os::PiMutex mutex_;
  std::shared_ptr<JobSource> arrival_ CORELANE_GUARDED_BY(mutex_);
  PeerId lent_ CORELANE_GUARDED_BY(mutex_){};  // the connection that may come back; 0: none
  bool closed_ CORELANE_GUARDED_BY(mutex_) = false;
};

}  // namespace corelane::dispatch
