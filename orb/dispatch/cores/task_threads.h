// TaskThreads keeps the threads that tasks run on. Some sleep as spares before a task needs them. A new task takes one
// in a few microseconds; making one would take some hundred. A thread whose task has left becomes a spare again, so
// that no thread is made or ended while tasks come and go. If there are enough spares, it ends, under SCHED_OTHER: that
// takes the kernel some fifty microseconds, which are in no budget.
//
// Threads: take(): the manager's; start(), take_back() and refill(): the housekeeper's; any of them at any time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "orb/base/thread_safety.h"
#include "orb/dispatch/cores/housekeeper.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

class TaskThreads final : public ThreadMaker {
 public:
  // `real_time`: the threads are bound to their cores, under SCHED_FIFO. `spares`: so many threads wait, each with its
  // `stack`, and up to twice as many once tasks have left.
  TaskThreads(bool real_time, std::size_t stack, std::size_t spares);
  ~TaskThreads() override;

  Expected<std::unique_ptr<WorkerThread>> start(const std::string& name, const WorkerPtr& worker) override;
  std::unique_ptr<WorkerThread> take(const std::string& name, const WorkerPtr& worker) noexcept override;
  void take_back(std::unique_ptr<WorkerThread> thread) noexcept override;
  bool refill() noexcept override;
  std::size_t spares() const noexcept override;

 private:
  class SystemThread;
  std::unique_ptr<SystemThread> take_spare() noexcept;
  void put_spare(std::unique_ptr<SystemThread> spare) noexcept;
  std::size_t most_spares() const noexcept { return 2 * wanted_; }

  // Constant.
  const bool real_time_;
  const std::size_t stack_;
  const std::size_t wanted_;

  mutable os::PiMutex mutex_;
  std::vector<std::unique_ptr<SystemThread>> spares_ CORELANE_GUARDED_BY(mutex_);  // has room for all
};

}  // namespace corelane::dispatch
