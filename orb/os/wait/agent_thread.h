// AgentThread runs an agent on a thread: it steps the agent, and parks while the agent has nothing to do. The agent
// says when it has work without a wake-up, and on which parker it sleeps. Use it for each thread that watches
// something, or that works when it is woken. Do not use it for a thread that waits for descriptors (poll, epoll), or
// that exists only while there is work.
//
// Threads: start() and stop() are called by the owner.
#pragma once

#include <atomic>
#include <cassert>
#include <optional>
#include <utility>

#include "orb/base/expected.h"
#include "orb/os/clock.h"
#include "orb/os/process/size_limit_guard.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait.h"

namespace corelane::os {

// Says whether the agent writes files that the process needs. If it does, a limit of file sizes cannot end the process
// on its thread (SizeLimitGuard). Such an agent must start no threads, because they would inherit the guard.
enum class WritesFiles : bool { no, yes };

// SomeAgent has step(now), wake_at() and parker(), which any thread may unpark. The agent must outlive this object. If
// this object is a member of the agent, it is the last one.
template <typename SomeAgent>
class AgentThread {
 public:
  explicit AgentThread(SomeAgent& agent, WritesFiles writes = WritesFiles::no) : agent_(agent), writes_(writes) {}
  ~AgentThread() { stop(); }

  Expected<void> start(ThreadOptions options) {
    auto thread = start_thread(std::move(options), [this]() noexcept { loop(); });
    if (!thread) return thread.error();
    thread_ = std::move(*thread);
    return {};
  }
  // Starts the thread unless it runs. For an agent whose thread begins with its first work. One call at a time.
  // Not after stop().
  Expected<void> start_once(ThreadOptions options) {
    assert(!stopping_.load(std::memory_order_relaxed));  // relaxed: the owner calls stop(), too
    return thread_.joinable() ? Expected<void>{} : start(std::move(options));
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
    std::optional<SizeLimitGuard> guard;
    if (writes_ == WritesFiles::yes) guard.emplace();
    // Bound: ends with stop(). PAIR agent.stopping: acquire here <- release in stop().
    while (!stopping_.load(std::memory_order_acquire))
      if (!agent_.step(now())) agent_.parker().park(agent_.wake_at());
  }

  SomeAgent& agent_;
  const WritesFiles writes_;
  std::atomic<bool> stopping_{false};
  Thread thread_;
};

}  // namespace corelane::os
