#include "services/corelane/host_card/migrations.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/os/threads/thread_state.h"
#include "orb/os/wait/wait.h"

namespace corelane::tool {
namespace {

constexpr Duration between_checks = std::chrono::microseconds{50};
constexpr int most_checks = 100'000;               // five seconds: a stalled machine may need long
constexpr int runner_level = measuring_level - 1;  // so that the manager can take its core from the moved thread

NotMeasured cannot_move() { return {"the kernel refused to move a thread to another core"}; }
NotMeasured cannot_see() { return {"/proc does not show that a thread sleeps"}; }
NotMeasured cannot_start() { return {"a second thread could not be started"}; }

// Runs `measure` on one thread, and returns its samples.
template <typename Measure>
CostSamples measured_on(CoreId core, Measure measure) {
  std::optional<CostSamples> samples;
  std::vector<PlacedFunction> functions;
  functions.push_back({.core = core, .run = [&] { samples.emplace(measure()); }});
  if (const auto ran = run_together(std::move(functions)); !ran) return ran.error();
  return *std::move(samples);
}

// Runner is a thread that never sleeps, and tells when it finds itself on another core.
class Runner {
 public:
  explicit Runner(CoreId core) {
    auto thread = os::start_thread({.name = "corelane-moved", .core = core, .fifo_priority = runner_level},
                                   [this, core] { run(core); });
    if (thread) thread_ = *std::move(thread);
  }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  ~Runner() {
    stop_.store(true, std::memory_order_relaxed);  // relaxed: publishes nothing
    thread_.join();
  }

  bool runs() const noexcept { return thread_.joinable(); }
  // Moves the thread and waits until it runs there. Returns when it did; nothing if the kernel refuses.
  std::optional<Time> move(CoreId core) {
    if (!thread_.bind(core)) return std::nullopt;
    moved_.park(never);
    return arrived_.load(std::memory_order_relaxed);  // relaxed: park() has made it visible
  }

 private:
  // Reads the core before the clock: the time is then one at which it has arrived.
  void run(CoreId core) {
    while (!stop_.load(std::memory_order_relaxed)) {  // relaxed: only the flag matters; bound: the moves
      const CoreId here = os::current_core();
      if (here == core) continue;
      core = here;
      arrived_.store(os::now(), std::memory_order_relaxed);  // relaxed: unpark() publishes it
      moved_.unpark();
    }
  }

  std::atomic<bool> stop_{false};
  os::Parker moved_;
  std::atomic<Time> arrived_{Time{}};
  os::Thread thread_;
};

// Sleeper is a thread that sleeps, except when it is woken: then it tells that it runs, and sleeps again.
class Sleeper {
 public:
  explicit Sleeper(CoreId core) {
    auto thread =
        os::start_thread({.name = "corelane-moved", .core = core, .fifo_priority = runner_level}, [this] { run(); });
    if (thread) thread_ = *std::move(thread);
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;
  ~Sleeper() {
    ends_ = true;
    wake_.unpark();
    thread_.join();
  }

  bool runs() const noexcept { return thread_.joinable(); }
  // Returns false if the thread cannot be seen to sleep.
  bool await_sleep() const noexcept {
    for (int check = 0; check < most_checks; ++check) {
      if (os::is_asleep(thread_.tid())) return true;
      os::sleep_until(os::now() + between_checks);
    }
    return false;
  }
  bool move(CoreId core) noexcept { return bool(thread_.bind(core)); }
  // Wakes the thread, and waits until it has run.
  void visit() noexcept {
    wake_.unpark();
    ran_.park(never);
  }

 private:
  void run() noexcept {
    while (wake_.park(never) && !ends_) ran_.unpark();
  }

  os::Parker wake_, ran_;
  bool ends_ = false;  // written before the last wake-up
  os::Thread thread_;
};

}  // namespace

CostSamples migrate_itself(CoreId one, CoreId other, int moves) {
  return measured_on(one, [&]() -> CostSamples {
    std::vector<Duration> samples;
    for (int i = 0; i < moves; ++i) {
      const Time start = os::now();
      if (!os::bind_this_thread(i % 2 == 0 ? other : one)) return cannot_move();
      samples.push_back(os::now() - start);
    }
    return samples;
  });
}

CostSamples migrate_running(CoreId one, CoreId other, CoreId managing, int moves) {
  return measured_on(managing, [&]() -> CostSamples {
    Runner runner(one);
    if (!runner.runs()) return cannot_start();
    std::vector<Duration> samples;
    for (int i = 0; i < moves; ++i) {
      const bool there = i % 2 == 0;
      const Time start = os::now();
      const auto arrived = runner.move(there ? other : one);
      if (!arrived) return cannot_move();
      if (there || managing != other) samples.push_back(*arrived - start);
    }
    return samples;
  });
}

CostSamples migrate_sleeping(CoreId one, CoreId other, CoreId managing, int moves) {
  return measured_on(managing, [&]() -> CostSamples {
    Sleeper sleeper(one);
    if (!sleeper.runs()) return cannot_start();
    std::vector<Duration> samples;
    for (int i = 0; i < moves; ++i) {
      if (!sleeper.await_sleep()) return cannot_see();
      const Time start = os::now();
      if (!sleeper.move(i % 2 == 0 ? other : one)) return cannot_move();
      samples.push_back(os::now() - start);
      sleeper.visit();  // the next move starts where this one led
    }
    return samples;
  });
}

}  // namespace corelane::tool
