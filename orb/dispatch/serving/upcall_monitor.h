// UpcallMonitor is an agent with a thread. It watches the threads which run servants. It takes the connection from a
// thread whose servant runs for longer than `patience`.
//
// A thread says with one store that a servant begins. If the monitor finds the same upcall under way after `patience`,
// it takes over. The pause between two looks that find no servant doubles from `often` to `seldom`. It is `often` again
// after a take-over. So a servant keeps its connection for at most 2 * patience + seldom. The pauses are long where
// they can be, because each look preempts the calls of a busy core.
//
// A look is quiet if no servant runs, and none has ended since the look before. After `quiet_looks` of them in a row
// the monitor sleeps until the next servant begins. So a process without calls has no wake-ups. Calls that come more
// often than every `seldom` keep the monitor awake, so that they need not wake it.
//
// Threads: notice(): those that run servants; start() and stop(): ordinary ones.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/expected.h"
#include "orb/base/time.h"
#include "orb/dispatch/serving/turn.h"
#include "orb/os/wait/agent_thread.h"
#include "orb/os/wait/wait.h"

namespace corelane::dispatch {

// Upcaller is a thread that runs servants. Thread: any.
class Upcaller {
 public:
  virtual ~Upcaller() = default;
  // The upcall that runs now, and its connection. Each connection numbers its own upcalls.
  struct Now {
    const void* of = nullptr;
    Turn::Upcall upcall = Turn::no_upcall;
    friend bool operator==(const Now&, const Now&) = default;
  };
  virtual Now now() noexcept = 0;
  // Returns how many servants have ended on this thread.
  virtual std::uint64_t servants_ended() const noexcept = 0;
  // Lets another thread read the connection, if that upcall still runs.
  virtual void take_over(Turn::Upcall upcall) noexcept = 0;
};

class UpcallMonitor : public Agent {
 public:
  explicit UpcallMonitor(Duration allowed) : patience_(allowed) {}
  ~UpcallMonitor() override = default;
  UpcallMonitor(const UpcallMonitor&) = delete;
  UpcallMonitor& operator=(const UpcallMonitor&) = delete;

  static constexpr Duration often = std::chrono::milliseconds{1};
  static constexpr Duration seldom = std::chrono::milliseconds{5};
  static constexpr int quiet_looks = 2;

  Expected<void> start();
  void stop() noexcept;

  // Tells the monitor that a servant begins. Call it after Turn::begin_upcall().
  void notice() noexcept {
    // relaxed: the barrier in begin_sleep() orders this load after the store of begin_upcall()
    if (asleep_.load(std::memory_order_relaxed)) wake();
  }
  bool step(Time now) noexcept override;
  Time wake_at() const noexcept { return wake_at_; }
  os::Parker& parker() noexcept { return parker_; }

  // Looks once. Returns whether a servant runs. For tests: without a thread.
  bool look();
  // Returns how long to wait after a look. `busy`: it found a servant. Call it once for each look. For tests.
  Duration pause_after(bool busy) noexcept;
  // Returns whether the last look was the last one before a sleep. For tests.
  bool may_sleep() const noexcept { return quiet_ >= quiet_looks; }

 protected:
  // Returns the threads to watch. The result is valid until the next call.
  virtual const std::vector<std::shared_ptr<Upcaller>>& upcallers() = 0;

 private:
  struct Seen {
    const Upcaller* thread;
    Upcaller::Now now;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  bool begin_sleep();
  void end_sleep() noexcept;
  void wake() noexcept;

  const Duration patience_;
  std::atomic<bool> asleep_{false};
  os::Parker parker_;
  // Owner: the monitor.
  std::vector<Seen> seen_, before_;
  Duration pause_ = often;   // before the next look, if this one finds no servant
  std::uint64_t ended_ = 0;  // servants, until the last look
  int quiet_ = 0;            // quiet looks in a row
  bool sleeps_ = false;      // from begin_sleep() to end_sleep()
  std::optional<bool> can_order_;
  Time wake_at_{};

  os::AgentThread<UpcallMonitor> thread_{*this};
};

}  // namespace corelane::dispatch
