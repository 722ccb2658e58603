// BestEffortExecutor runs jobs without a contract in order of arrival on a small pool of threads. The threads run under
// SCHED_OTHER, in the time that the admitted tasks leave. On the cores of BestEffortServers they run above the tasks
// while the server there has budget. The kernel wakes waiting threads in order of priority, so a thread with budget is
// woken first. A thread that waits in a nested call is replaced meanwhile (BestEffortThreadPool).
//
// A thread that sends a reply is about to become free. If a job arrives meanwhile, that thread will run it, and no
// other thread is woken. This is the common case on one core: the reply wakes the client, whose next request arrives
// before the sender of the reply continues.
//
// Threads: submit() and stop() any; step() any number of pool threads at once.
#pragma once

#include <semaphore.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/best_effort/best_effort_servers.h"
#include "orb/dispatch/best_effort/best_effort_thread_pool.h"
#include "orb/dispatch/queue/request_queue.h"

namespace corelane::dispatch {

class ServingThreads;

class BestEffortExecutor final : public Agent, private ThreadPoolWork {
 public:
  explicit BestEffortExecutor(std::size_t capacity, BestEffortServers servers = {});
  ~BestEffortExecutor() override;
  BestEffortExecutor(const BestEffortExecutor&) = delete;
  BestEffortExecutor& operator=(const BestEffortExecutor&) = delete;

  // Queues the job. Takes it if the result is Pushed::done.
  Pushed submit(JobPtr& job) noexcept;
  // Runs the oldest job. Returns false if there is none.
  bool step(Time now) noexcept override;

  // start() creates one thread pool, or one on the core of each server. stop() ends each thread after its current
  // job and fails the queued jobs. Before stop(), end the servers' alarms (BudgetThread::stop()). Idempotent.
  Expected<void> start(const BestEffortThreadPool::Size& size);
  void stop() noexcept;

  // See BestEffortThreadPool::rebind(). Not for real-time threads.
  void rebind() noexcept;

  BestEffortServers& servers() noexcept { return servers_; }
  const BestEffortServers& servers() const noexcept { return servers_; }
  // Returns the number of jobs that ran here, or where they were read.
  std::uint64_t jobs() const noexcept;
  // Makes jobs(), threads() and shortages() include those of `serving`. Call it before the first of those calls.
  void count_also(const ServingThreads& serving) noexcept { serving_ = &serving; }
  // Returns the number of jobs that found the queue full.
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }  // relaxed: a report
  // Return the sums over all thread pools; see BestEffortThreadPool.
  std::size_t threads() const noexcept;
  std::uint64_t shortages() const noexcept;
  // Returns how many servants may run in parallel where requests are read; 0: no limit.
  int servant_limit() const noexcept;

 private:
  using Tokens = std::uint32_t;
  void take_jobs(BestEffortThreadPool& pool) noexcept override;
  bool has_unserved() const noexcept override;
  void await(BestEffortThreadPool& pool) noexcept;
  void give_up_wait() noexcept;
  void token() noexcept;
  void wake() noexcept;
  Tokens run(JobPtr job) noexcept;

  std::size_t own_threads() const noexcept;

  BestEffortServers servers_;
  const ServingThreads* serving_ = nullptr;
  std::vector<std::unique_ptr<BestEffortThreadPool>> pools_;  // constant after start()

  // Shared.
  RequestQueue queue_;
  sem_t queued_;  // POSIX: a post takes no lock that a real-time submitter could wait for
  // Tokens of jobs that no thread has taken, minus the threads that sleep, or are about to, until there is one.
  std::atomic<std::int64_t> balance_{0};
  // Threads that finish a job (upper half), and tokens of jobs that are left to them (lower half).
  std::atomic<std::uint64_t> finishing_{0};
  std::atomic<std::uint64_t> jobs_{0}, refused_{0};
};

}  // namespace corelane::dispatch
