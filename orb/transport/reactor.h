// Reactor: one thread that waits for sockets and for time, and calls back. Over os::EventPoll.
// Threads: every function here may be called by any thread; everything that the reactor calls back (posted functions,
// timers, watchers, acceptors) runs on its one thread, one at a time, so that callbacks need no lock among themselves.
// More parallelism is more reactors, one for each core.
#pragma once

#include <cstdint>
#include <memory>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/thread.h"
#include "orb/os/unique_function.h"
#include "orb/sched/reservation.h"

namespace corelane::transport {

struct ReactorOptions {
  // Name, core and priority of the thread. Admission charges what runs above SCHED_OTHER.
  os::ThreadOptions thread{.name = "corelane-io"};
};

class Reactor {
 public:
  // NO_RESOURCES no_descriptor or no_thread, NO_MEMORY.
  static Expected<std::unique_ptr<Reactor>> start(ReactorOptions options = {});
  ~Reactor();

  // Runs it soon, in the order of posting. After stop(): dropped, never run; false.
  bool post(os::UniqueFunction<void()> function);

  // Runs it once at `time` or as soon after as possible; unless cancelled. After stop(): dropped; the id is 0.
  TimerId schedule(Time time, os::UniqueFunction<void()> function);
  // true when the function will not run. Inside a callback that is certain; on another thread it may run just now:
  // false.
  bool cancel(TimerId timer);

  bool on_reactor_thread() const noexcept;
  // Another class for the thread: 0 SCHED_OTHER, 1..99 SCHED_FIFO. NO_PERMISSION when the system refuses.
  Expected<void> set_priority(int fifo_priority) noexcept { return thread_.set_priority(fifo_priority); }
  // From now on a second thread, under SCHED_OTHER, does what needs no priority: it accepts for listeners that start
  // then, and drains the backlogs of connections that are made then. Before anything uses the reactor for that; once.
  // Errors: those of start().
  Expected<void> split_off_ordinary_work();
  // From now on its thread uses no more than this for reading, accepting and draining backlogs: what cannot be done yet
  // is done when the budget is back, and connections with requests for tasks have a half of it to themselves. For a
  // thread above the tasks. `reservation` is sound, its budget a microsecond or more. Not from a callback. Waits for
  // the thread.
  void limit_reads(const sched::Reservation& reservation);
  // The same for reading what no contract foresees (Connection::charge_message()), and for nothing else. Its budget may
  // be shorter.
  void limit_unforeseen_reads(const sched::Reservation& reservation);
  std::uint64_t deferred_reads() const noexcept;  // how often something had to wait for that
  // Whether the thread got the real-time class that it asked for.
  bool real_time() const noexcept;

  // Closes what is watched (on_closed with shutting_down), drops timers and posted functions, joins. Idempotent.
  // Not from a callback.
  void stop() noexcept;

  // For the transports of this folder.
  class Impl;
  const std::shared_ptr<Impl>& impl() const noexcept { return impl_; }

 private:
  explicit Reactor(std::shared_ptr<Impl> impl) noexcept;

  std::shared_ptr<Impl> impl_;
  os::Thread thread_;
  std::unique_ptr<Reactor> ordinary_;
};

}  // namespace corelane::transport
