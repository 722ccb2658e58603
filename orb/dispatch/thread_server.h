// ThreadServer: one server of orb/sched at work on real threads. The threads that run its work have its SCHED_FIFO
// priority while it has budget, and run under SCHED_OTHER, in what others leave, while it has none. Several threads may
// share a server: one that blocks does not keep the others from working, and what they use together is bounded.
//
//   its threads                                     an alarm (BudgetThread)
//     work() / rest(): work came, is over  ─┐  ┌───  check(): the budget may be used up, or be back
//                                           ▼  ▼
//                     their processor clocks are read, the sched::ServerDriver stepped,
//                     their class changed when the verdict says so, the alarm set
//
// A thread that rests keeps the class that its next work may begin with, so waking it costs nothing more. What threads
// use under SCHED_OTHER is nobody's budget. What they use between the end of the budget and the alarm is an overrun,
// which the server pays.
//
// Threads: any.
// The lock inherits priority; under it a clock is read and perhaps a class changed for each thread, and a timer set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/base/ids.h"
#include "orb/dispatch/budget_alarm.h"
#include "orb/dispatch/clock.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/server_driver.h"

namespace corelane::dispatch {

// A thread whose class a server decides.
class ServedThread {
 public:
  virtual ~ServedThread() = default;
  virtual void set_native(int native) noexcept = 0;  // SCHED_FIFO level; 0: SCHED_OTHER
  virtual Duration cpu_time() const noexcept = 0;    // used so far
};

struct ServerStatus {
  bool granted = false;         // it has begun
  bool serves = false;          // its threads have its priority
  Duration used{};              // of its budget, in all
  std::uint64_t exhausted = 0;  // times that its budget ended before its work did
};

class ThreadServer {
 public:
  // Whether its threads may sleep while they work: nobody says when, so that is guarded against.
  enum class Work : std::uint8_t { may_sleep, always_runs };

  // native: of its threads while they are served, in 1 .. 99. Until grant() they stay under SCHED_OTHER.
  ThreadServer(const sched::Server& server, int native, const Clock& clock = {}, Work kind = Work::may_sleep);
  ThreadServer(const ThreadServer&) = delete;
  ThreadServer& operator=(const ThreadServer&) = delete;

  // So many threads at most will be added.
  void expect(std::size_t threads);
  // The thread outlives remove(), or dismiss().
  void add(ServedThread& thread);
  // It does not work; from now on it runs under SCHED_OTHER, and what it uses is nobody's budget.
  void remove(ServedThread& thread) noexcept;
  // null: no alarm, so nothing is lowered or raised any more while its threads work.
  void watch(BudgetAlarm* alarm) noexcept;

  // Its threads are about to end: they are left as they are, and not touched any more.
  void dismiss() noexcept;

  // From now on it has its budget: whoever shares the core has been promised no more than it leaves.
  void grant() noexcept;

  // One of its threads has work from now on; until rest(). `caller` matters to an I/O server: on whose behalf it works.
  void work(const sched::IoCaller& caller = {}) noexcept;
  void rest() noexcept;
  // What its threads have used is looked at; said when the alarm goes off, and harmless at any other time.
  void check() noexcept;

  ServerStatus status() const noexcept;

 private:
  void step() noexcept;
  bool may_begin(Time now) const noexcept;
  Duration take_used() noexcept;
  void place(int native) noexcept;

  struct Seat {
    ServedThread* thread;
    Duration used;  // its processor clock at the last step
  };

  // Constant.
  const Clock clock_;
  const int native_;
  const Work kind_;

  mutable os::PiMutex mutex_;
  // Guarded by mutex_.
  sched::ServerDriver driver_;
  std::vector<Seat> threads_;
  BudgetAlarm* alarm_ = nullptr;
  std::size_t working_ = 0;
  sched::IoCaller caller_{};
  int placed_ = 0;  // what the threads have now
  bool granted_ = false;
  bool dismissed_ = false;
  std::uint64_t exhausted_ = 0;
};

}  // namespace corelane::dispatch
