// AperiodicServer runs the work of one server of orb/sched on real threads. While the server has budget, these threads
// have its SCHED_FIFO priority. While it has none, they run under SCHED_OTHER, in the time that others leave. Several
// threads may share a server: one that blocks does not keep the others from working, and the sum of what they use is
// bounded.
//
//   its threads                                     an alarm (BudgetThread)
//     work() / rest(): work came, is over  ─┐  ┌───  check(): the budget may be used up, or be back
//                                           ▼  ▼
//                     their processor clocks are read, the sched::ServerDriver stepped,
//                     their class changed when the verdict says so, the alarm set
//
// A thread that rests keeps the class that its next work may begin with, so waking it costs nothing more. What threads
// use under SCHED_OTHER is charged to no budget. What they use between the end of the budget and the alarm is an
// overrun, which the server pays.
//
// Threads: any.
// The lock has priority inheritance. Under it, for each thread a clock is read and perhaps a class changed, and a timer
// is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/budgets/budget_alarm.h"
#include "orb/dispatch/clock.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/servers/server_driver.h"

namespace corelane::dispatch {

// ServedThread is a thread whose scheduling class a server decides.
class ServedThread {
 public:
  virtual ~ServedThread() = default;
  virtual void set_native(int native) noexcept = 0;  // SCHED_FIFO level; 0: SCHED_OTHER
  virtual Duration cpu_time() const noexcept = 0;    // execution time so far
};

struct ServerStatus {
  bool granted = false;         // it has begun
  bool serves = false;          // its threads have its priority
  Duration used{};              // of its budget, in all
  std::uint64_t exhausted = 0;  // times that its budget ended before its work did
};

class AperiodicServer {
 public:
  // Says whether the threads may sleep while they work. The server is not told when they do, so it guards against that.
  enum class Work : std::uint8_t { may_sleep, always_runs };

  // `native`: the level of the threads while they are served, in 1 .. 99. Until grant() they stay under SCHED_OTHER.
  AperiodicServer(const sched::Server& server, int native, const Clock& clock = {}, Work kind = Work::may_sleep);
  AperiodicServer(const AperiodicServer&) = delete;
  AperiodicServer& operator=(const AperiodicServer&) = delete;

  // Announces that at most so many threads will be added.
  void expect(std::size_t threads);
  // Adds a thread. It must live until remove() or dismiss().
  void add(ServedThread& thread);
  // Removes a thread that does not work. From now on it runs under SCHED_OTHER, and what it uses is charged to no
  // budget.
  void remove(ServedThread& thread) noexcept;
  // Sets the alarm. Null: there is none, so no thread is lowered or raised any more while the threads work.
  void watch(BudgetAlarm* alarm) noexcept;

  // Leaves the threads as they are, and does not touch them any more: they are about to end.
  void dismiss() noexcept;

  // Gives the server its budget from now on: the others on the core were promised no more than it leaves.
  void grant() noexcept;

  // Notes that one of the threads has work from now on, until rest(). `caller` is for an I/O server: the caller for
  // which the thread works.
  void work(const sched::IoCaller& caller = {}) noexcept;
  void rest() noexcept;
  // Looks at what the threads have used. Called when the alarm goes off; harmless at any other time.
  void check() noexcept;

  ServerStatus status() const noexcept;

 private:
  void step() noexcept CORELANE_REQUIRES(mutex_);
  bool may_begin(Time now) const noexcept CORELANE_REQUIRES(mutex_);
  Duration take_used() noexcept CORELANE_REQUIRES(mutex_);
  void place(int native) noexcept CORELANE_REQUIRES(mutex_);

  struct Member {
    ServedThread* thread;
    Duration used;  // its processor clock at the last step
  };

  // Constant.
  const Clock clock_;
  const int native_;
  const Work kind_;

  mutable os::PiMutex mutex_;
  sched::ServerDriver driver_ CORELANE_GUARDED_BY(mutex_);
  std::vector<Member> threads_ CORELANE_GUARDED_BY(mutex_);
  BudgetAlarm* alarm_ CORELANE_GUARDED_BY(mutex_) = nullptr;
  std::size_t working_ CORELANE_GUARDED_BY(mutex_) = 0;
  sched::IoCaller caller_ CORELANE_GUARDED_BY(mutex_){};
  int placed_ CORELANE_GUARDED_BY(mutex_) = 0;  // the level that the threads have now
  bool granted_ CORELANE_GUARDED_BY(mutex_) = false;
  bool dismissed_ CORELANE_GUARDED_BY(mutex_) = false;
  std::uint64_t exhausted_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::dispatch
