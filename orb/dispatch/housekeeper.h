// Housekeeper: everything around the tasks that takes time: starting their threads, joining them, mending the ledger.
// An agent, so that the manager thread never waits for any of it.
//
// Threads: start() and retire() any thread; step() on the housekeeper's own, which is not real-time; close() once, by
// whoever ends it. Answers (ThreadStarted, ThreadFailed) go to the manager's inbox.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "orb/base/agent.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/inbox.h"
#include "orb/dispatch/node_list.h"
#include "orb/dispatch/task_worker.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait.h"

namespace corelane::dispatch {

// Makes the threads; a test gives one that makes none.
class ThreadMaker {
 public:
  virtual ~ThreadMaker() = default;
  // A thread that runs worker->loop() at its seat().
  virtual Expected<std::unique_ptr<WorkerThread>> start(const std::string& name, const WorkerPtr& worker) = 0;
  // The same at once, with a thread that is there already and does not run before begin(); null: there is none. Any
  // thread.
  virtual std::unique_ptr<WorkerThread> take(const std::string&, const WorkerPtr&) noexcept { return nullptr; }
  // Makes one more thread for take(), where one is missing; whether it did.
  virtual bool refill() noexcept { return false; }
  // How many take() has. Any thread.
  virtual std::size_t spares() const noexcept { return 0; }
};

class Housekeeper final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{250};  // of CoreProvider::maintain()

  Housekeeper(ThreadMaker& maker, CoreProvider& provider, NoteInbox& inbox)
      : maker_(maker), provider_(provider), inbox_(inbox) {}

  // From now on `chore` is stepped on this thread, about so often. It outlives this. Before the first step().
  void keep(Agent& chore, Duration every) { chores_.push_back({&chore, every, {}}); }

  void start(std::string name, WorkerPtr worker);
  // A thread that is there already, or null; see ThreadMaker::take(). Once it runs it is the housekeeper's: adopt().
  std::unique_ptr<WorkerThread> take(const std::string& name, const WorkerPtr& worker) noexcept {
    return maker_.take(name, worker);
  }
  void adopt(WorkerPtr worker, std::unique_ptr<WorkerThread> thread);
  std::size_t spare_threads() const noexcept { return maker_.spares(); }
  // The worker has no jobs any more; ends and joins its thread.
  void retire(WorkerPtr worker);

  bool step(Time now) noexcept override;
  Time wake_at() const noexcept;
  os::Parker& parker() noexcept { return parker_; }

  // Ends all threads; what runs finishes first. After the last step().
  void close() noexcept;

 private:
  struct Order {
    bool starts = false;
    bool adopted = false;
    std::string name;
    WorkerPtr worker;
    std::unique_ptr<WorkerThread> thread;  // of one that runs already
    std::unique_ptr<Order> next;
  };
  struct Chore {
    Agent* agent;
    Duration every;
    Time next;
  };
  void give(std::unique_ptr<Order> order) noexcept;
  bool take_over(Order& order) noexcept;
  void begin_thread(const Order& order) noexcept;
  Expected<WorkerThread*> start_thread(const Order& order) noexcept;
  void end_thread(const WorkerPtr& worker) noexcept;

  // Constant.
  ThreadMaker& maker_;
  CoreProvider& provider_;
  NoteInbox& inbox_;

  os::PiMutex mutex_;
  NodeList<Order> orders_;  // guarded by mutex_
  os::Parker parker_;

  // Owner: the housekeeper's thread.
  std::unique_ptr<Order> order_;  // the one that is carried out
  std::unordered_map<WorkerPtr, std::unique_ptr<WorkerThread>> threads_;
  std::vector<WorkerPtr> graves_;  // freed here and not by a real-time thread that still holds a reference
  Time next_maintenance_{};
  std::vector<Chore> chores_;
};

}  // namespace corelane::dispatch
