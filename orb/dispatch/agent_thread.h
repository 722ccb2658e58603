// AgentThread: the thread of an agent that says when it has something to do without a wake-up, and where it sleeps.
//
// Threads: start() and stop() by whoever owns it.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "orb/base/expected.h"
#include "orb/os/clock.h"
#include "orb/os/size_limit_guard.h"
#include "orb/os/thread.h"
#include "orb/os/wait.h"

namespace corelane::dispatch {

// Whether an agent writes into the ledger, again and again; such a one starts no threads, which would inherit the guard
// against limits of files' sizes.
enum class WritesLedger : bool { no, yes };

// The agent outlives it: step(now), wake_at() and parker(), which any thread may unpark.
template <typename SomeAgent>
class AgentThread {
 public:
  explicit AgentThread(SomeAgent& agent, WritesLedger writes = WritesLedger::no) : agent_(agent), writes_(writes) {}
  ~AgentThread() { stop(); }

  Expected<void> start(os::ThreadOptions options) {
    auto thread = os::start_thread(std::move(options), [this]() noexcept { loop(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }
  void stop() noexcept {
    // PAIR agent.stopping: release here -> acquire in loop().
    stopping_.store(true, std::memory_order_release);
    agent_.parker().unpark();
    thread_.join();
  }
  bool real_time() const noexcept { return thread_.real_time(); }

 private:
  void loop() noexcept {
    std::optional<os::SizeLimitGuard> guard;
    if (writes_ == WritesLedger::yes) guard.emplace();
    // Bound: ends with stop(). PAIR agent.stopping: acquire here <- release in stop().
    while (!stopping_.load(std::memory_order_acquire))
      if (!agent_.step(os::now())) agent_.parker().park(agent_.wake_at());
  }

  SomeAgent& agent_;
  const WritesLedger writes_;
  std::atomic<bool> stopping_{false};
  os::Thread thread_;
};

}  // namespace corelane::dispatch
