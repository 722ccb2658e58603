// UpcallMonitor: a thread that looks at the threads which run servants, and takes the connection from one whose servant
// runs for longer than `patience`.
//
// A thread says with one store that a servant begins. The monitor looks; where it finds the same upcall under way after
// `patience` it takes over. The pause between two looks that find no servant doubles from `often` to `seldom`, and is
// `often` again after a take-over or a sleep. After some time without servants the monitor sleeps until the next
// servant begins. So a servant keeps its connection for at most 2 * patience + seldom. A look preempts the calls of a
// busy core.
//
// Threads: notice() those that run servants; start() and stop() ordinary ones.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/dispatch/serving/turn.h"
#include "orb/os/thread.h"
#include "orb/os/wait.h"

namespace corelane::dispatch {

// A thread that runs servants. Thread: any.
class Upcaller {
 public:
  virtual ~Upcaller() = default;
  // What runs now, and for which connection: each numbers its own upcalls.
  struct Now {
    const void* of = nullptr;
    Turn::Upcall upcall = Turn::no_upcall;
    friend bool operator==(const Now&, const Now&) = default;
  };
  virtual Now now() noexcept = 0;
  // Another thread is to read the connection, if that upcall still runs.
  virtual void take_over(Turn::Upcall upcall) noexcept = 0;
};

class UpcallMonitor {
 public:
  explicit UpcallMonitor(Duration allowed) : patience_(allowed) {}
  virtual ~UpcallMonitor() = default;
  UpcallMonitor(const UpcallMonitor&) = delete;
  UpcallMonitor& operator=(const UpcallMonitor&) = delete;

  static constexpr Duration often = std::chrono::milliseconds{1};
  static constexpr Duration seldom = std::chrono::milliseconds{5};
  static constexpr int looks_before_sleep = 20;

  Expected<void> start();
  void stop() noexcept;

  // A servant begins: after Turn::begin_upcall().
  void notice() noexcept {
    // relaxed: sleep() makes the order of the store before this certain, by a barrier in all threads
    if (asleep_.load(std::memory_order_relaxed)) wake();
  }
  // Looks once. Whether a servant runs. For tests: without a thread.
  bool look();
  // How long to wait after a look, which found a servant or none. Once for each look. For tests.
  Duration pause_after(bool busy) noexcept;

 protected:
  // Valid until the next call.
  virtual const std::vector<std::shared_ptr<Upcaller>>& upcallers() = 0;

 private:
  struct Seen {
    const Upcaller* thread;
    Upcaller::Now now;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  void run() noexcept;
  void sleep(bool can_order) noexcept;
  void wake() noexcept;

  const Duration patience_;
  std::atomic<bool> asleep_{false};
  std::atomic<bool> stopped_{false};
  os::Parker parker_;
  // Owner: the monitor.
  std::vector<Seen> seen_, before_;
  Duration pause_ = often;  // before the next look, if this one finds no servant
  os::Thread thread_;
};

}  // namespace corelane::dispatch
