// BestEffortLane: jobs without a contract, in order of arrival, on a small pool of threads. Those run under SCHED_OTHER
// in what time the admitted tasks leave; or, on the cores of BestEffortServers, above the tasks while the server there
// has budget. The kernel wakes waiters in order of their priority, so who has budget is woken first.
//
// A thread that sends a reply is about to be free: a job that comes meanwhile is left to it instead of waking another
// thread. On one core this is the common case, since the reply wakes the client before its sender goes on.
//
// Threads: submit() and stop() any; step() any number of pool threads at once.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/best_effort_servers.h"
#include "orb/dispatch/request_queue.h"
#include "orb/os/thread.h"

namespace corelane::dispatch {

class BestEffortLane final : public Agent {
 public:
  explicit BestEffortLane(std::size_t capacity, BestEffortServers servers = {});
  ~BestEffortLane() override;
  BestEffortLane(const BestEffortLane&) = delete;
  BestEffortLane& operator=(const BestEffortLane&) = delete;

  // Takes the job when done.
  Pushed submit(JobPtr& job) noexcept;
  // Runs the oldest job.
  bool step(Time now) noexcept override;

  // Assembly: `threads` threads that step, or as many on the core of each server. stop() ends them after the job that
  // each has, and fails what is queued; before it nobody watches the servers any more. Idempotent.
  Expected<void> start(std::size_t threads, std::size_t stack);
  void stop() noexcept;

  BestEffortServers& servers() noexcept { return servers_; }
  const BestEffortServers& servers() const noexcept { return servers_; }
  std::uint64_t jobs() const noexcept { return jobs_.load(std::memory_order_relaxed); }  // relaxed: a report

 private:
  using Tokens = std::uint32_t;
  class PoolThread;
  Expected<void> start_thread(std::size_t stack, std::optional<CoreId> core, ThreadServer* server);
  void loop(ThreadServer* server) noexcept;
  void await(ThreadServer* server) noexcept;
  void token() noexcept;
  Tokens run(JobPtr job) noexcept;

  BestEffortServers servers_;

  // Shared.
  RequestQueue queue_;
  sem_t queued_;  // POSIX: a post takes no lock that a real-time submitter could wait for
  // Threads that finish a job (upper half), and tokens of jobs that are left to them (lower half).
  std::atomic<std::uint64_t> finishing_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> jobs_{0};
  std::vector<std::unique_ptr<PoolThread>> threads_;
};

}  // namespace corelane::dispatch
