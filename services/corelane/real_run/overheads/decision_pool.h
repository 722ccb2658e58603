// DecisionPool is an executive with its threads, in a state that a scenario constructs. It records when one request
// passes each stage of the executive.
//
// Threads: one driver, bound to the manager's core at the reader's priority if the system grants it; and the
// executive's own threads. Read a request's stamps when the request is over.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/wait/wait.h"

namespace corelane::tool {

// Provides two cores that no one else requests, and records when the manager decides.
class StampedCores final : public dispatch::CoreProvider {
 public:
  // Promises are written into the ledger of this directory, as a server writes them into its host's ledger. "":
  // nowhere.
  StampedCores(const os::Topology& topology, const std::string& ledger);

  Expected<std::vector<dispatch::CoreLease>> lease(const dispatch::LeaseRequest& request) override {
    return cores_->lease(request);
  }
  Expected<std::span<const dispatch::Promise>> begin() noexcept override;
  Expected<void> end(std::span<const dispatch::Promise> mine) noexcept override;
  Expected<void> claim(std::span<const dispatch::Promise> mine) noexcept override { return cores_->claim(mine); }
  void abandon() noexcept override { cores_->abandon(); }
  bool alone() const noexcept override { return cores_->alone(); }
  void withdraw() noexcept override { cores_->withdraw(); }
  void maintain() noexcept override { cores_->maintain(); }

  // Thread: the driver, before a request. The stamps then belong to the next decision.
  void arm() noexcept;
  // relaxed: see below
  Time begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  // relaxed: see below
  Time ended() const noexcept { return ended_.load(std::memory_order_relaxed); }

 private:
  const std::unique_ptr<dispatch::CoreProvider> cores_;
  // relaxed everywhere: the driver sets both before it submits a request and reads them after the request's end, which
  // orders them. The manager writes each once in between.
  std::atomic<Time> begun_{never}, ended_{never};
};

// The time stamps of one request.
struct DecisionStamps {
  bool ran = false;  // false: it was refused
  CoreId core{};     // where it ran
  Time submitted{};  // put into the queue
  Time begun{};      // the manager has taken it and begins to decide
  Time decided{};    // the decision is made, and written into the ledger if there is one
  Time admitted{};   // the manager's step that admitted it; later than `decided` if others had to move before
  Time placed{};     // the manager's step in which the task's thread was there and got the job
  Time ended{};      // first instruction of the servant, or the refusal was ready
};

class DecisionPool {
 public:
  DecisionPool(const std::vector<CoreId>& cores, const std::string& ledger);  // see StampedCores

  // Admits a task and waits for the answer. Raises std::runtime_error if it is refused, or gets another core.
  TaskId admit(const Contract& contract, CoreId expected);
  void depart(TaskId task);
  // Waits until there are all threads that sleep until tasks are admitted.
  void settle() { wait_for_tasks(tasks_.size()); }
  // Removes all tasks. Waits until their bandwidth is free and their threads have ended.
  void clear();
  // A first call with this contract. If it runs, it becomes a task, and `task` is set to its id.
  DecisionStamps call(const Contract& contract, TaskId& task);
  // A job of an admitted task.
  DecisionStamps call(TaskId task);
  // A job of a task on the other core, in a server with dispatch.mode leader-followers. The driver acts as the leader:
  // it moves itself to that core and runs the job. Afterwards it moves back.
  DecisionStamps call_as_leader();

  std::size_t resident_count() const noexcept { return tasks_.size(); }
  TaskId latest_resident() const { return tasks_.back(); }
  CoreId managers_core() const noexcept { return managers_core_; }
  CoreId other_core() const noexcept { return other_core_; }
  // Returns the cores of the admitted tasks, by id.
  std::vector<CoreId> places(const std::vector<TaskId>& tasks) const;

 private:
  void wait_for_tasks(std::size_t count);
  void start_followers();

  StampedCores cores_;
  CoreId managers_core_, other_core_;
  std::vector<TaskId> tasks_;
  os::Parker driver_;
  std::unique_ptr<dispatch::Executive> executive_;
  std::unique_ptr<dispatch::Executive> followers_;  // null until call_as_leader()
  TaskId followers_task_ = no_task;
};

}  // namespace corelane::tool
