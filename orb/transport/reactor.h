// Reactor is one thread that waits for sockets and for time, and calls back. It uses os::EventPoll.
// Threads: any thread may call every function here. All callbacks (posted functions, timers, watchers, acceptors) run
// on the reactor's one thread, one at a time. So they need no lock among themselves. For more parallelism, use several
// reactors, one for each core.
#pragma once

#include <cstdint>
#include <memory>

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/os/thread.h"
#include "orb/os/unique_function.h"
#include "orb/sched/servers/reader_server.h"

namespace corelane::transport {

struct ReactorOptions {
  // Name, core and priority of the thread. Admission charges a thread that runs above SCHED_OTHER.
  os::ThreadOptions thread{.name = "corelane-io"};
};

class Reactor {
 public:
  // Errors: NO_RESOURCES no_descriptor or no_thread, NO_MEMORY.
  static Expected<std::unique_ptr<Reactor>> start(ReactorOptions options = {});
  ~Reactor();

  // Runs the function soon, in the order of posting. After stop() it is dropped, never runs, and post() returns false.
  bool post(os::UniqueFunction<void()> function);

  // Runs the function once at `time`, or as soon as possible after it, unless it is cancelled. After stop() it is
  // dropped, and the id is 0.
  TimerId schedule(Time time, os::UniqueFunction<void()> function);
  // Returns true if the function will not run. Inside a callback that is certain. On another thread the function may be
  // running just now; then it returns false.
  bool cancel(TimerId timer);

  bool on_reactor_thread() const noexcept;
  // Changes the scheduling class of the thread: 0 SCHED_OTHER, 1..99 SCHED_FIFO. NO_PERMISSION if the system refuses.
  Expected<void> set_priority(int fifo_priority) noexcept { return thread_.set_priority(fifo_priority); }
  // Starts a second thread under SCHED_OTHER for work that needs no priority. It accepts for listeners that start from
  // now on, and drains the backlogs of connections that are made from now on. Call it once, before anything uses the
  // reactor for that. Errors: those of start().
  Expected<void> split_off_ordinary_work();
  // Limits what the reactor's thread uses for reading, accepting and draining backlogs. What exceeds the budget waits
  // until the budget is back. Connections with requests for tasks have one half of it to themselves. For a thread above
  // the tasks. `reservation` is sound, its budget is a microsecond or more, and servers of the kind can have a quarter
  // of it (sched::can_serve_reader()). Waits for the thread. Do not call it from a callback.
  void limit_reads(const sched::Reservation& reservation, sched::ReaderServer kind = sched::ReaderServer::sporadic);
  // Does the same for reading what no contract foresees (Connection::charge_message()), and for nothing else. Its
  // budget may be shorter.
  void limit_unforeseen_reads(const sched::Reservation& reservation);
  std::uint64_t deferred_reads() const noexcept;  // how often something had to wait for that
  // Returns whether the thread got the real-time class that it asked for.
  bool real_time() const noexcept;

  // Closes what is watched (on_closed with shutting_down), drops timers and posted functions, and joins the thread.
  // Idempotent. Do not call it from a callback.
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
