// Inlet: a worker's end of its JobSource: how one comes to it, and how much of it is read.
//
// Threads: give() any; the rest on the task's thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "orb/dispatch/job_source.h"
#include "orb/dispatch/read_throttle.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class Inlet {
 public:
  explicit Inlet(const Contract& contract) : throttle_(contract) {}

  // The thread finds it at its next step: wake it. The newest connection counts: one that is there is closed, lent or
  // not. False, and the source stays with the caller: the task has left, or it comes back and a newer one is there.
  bool give(const std::shared_ptr<JobSource>& source) noexcept;

  // The thread must not read, or may again: the source is lent, or taken back. Free where nothing changes.
  void lend() noexcept;
  void take_back() noexcept;

  // Reads at most once. nothing: also while it is shut or the source is not here. After piece and bytes the caller says
  // what that took: read_piece(), wasted().
  JobSource::Found read(JobPtr& job, Time now) noexcept;
  // Nothing is there to be read, as far as is known without a look.
  bool drained() const noexcept {
    if (given_.load(std::memory_order_relaxed)) return false;  // relaxed: who gives it later wakes the thread
    return !reads() || source_->drained();
  }
  // See ReadThrottle. A job that the lane did not take was wasted, too.
  void read_piece(Time now, Duration used) noexcept { throttle_.piece(now, used); }
  void wasted(Time now, Duration used) noexcept { throttle_.wasted(now, used); }
  void ran(Duration used) noexcept { throttle_.ran(used); }

  // Whether it reads a source. Any thread; a report.
  bool is_open() const noexcept { return open_.load(std::memory_order_relaxed); }  // relaxed: a flag

  // What to wait for beside a wake-up: bytes on this descriptor, unless it is -1, and this time.
  int descriptor(Time now) const noexcept;
  Time wake_at(Time now) const noexcept;

  // Nothing can wait for the source that is read: it is closed. Another may come.
  void drop() noexcept;
  // The task leaves; a source that is given from now on is refused.
  void close() noexcept;

 private:
  // lent: somebody else reads it. returning: he still does, and it will come back as another source.
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
  std::shared_ptr<JobSource> arrival_;  // guarded by mutex_
  PeerId lent_{};                       // guarded by mutex_: what may come back; 0: nothing
  bool closed_ = false;                 // guarded by mutex_
};

}  // namespace corelane::dispatch
