// Housekeeper: everything around the tasks that takes time: starting their threads, joining them, mending the ledger.
// An agent, so that the manager thread never waits for any of it.
//
// Threads: start(), adopt() and retire() any thread; step() on the housekeeper's own, which is not real-time; close()
// once, by whoever ends it. Answers (ThreadStarted, ThreadFailed) go to the manager's inbox.
#pragma once

#include <cstddef>
#include <cstdint>
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
  // One that start() or take() gave: its worker has been retired. Waits for the end of loop(); whether the thread ends,
  // too, is the maker's.
  virtual void take_back(std::unique_ptr<WorkerThread> thread) noexcept { thread.reset(); }
  // Makes one more thread for take(), where one is missing; whether it did.
  virtual bool refill() noexcept { return false; }
  // How many take() has. Any thread.
  virtual std::size_t spares() const noexcept { return 0; }
};

class Housekeeper final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{250};  // of CoreProvider::maintain()

  // At most `max_tasks` threads live at once, but for those that are ending.
  Housekeeper(ThreadMaker& maker, CoreProvider& provider, NoteInbox& inbox, std::size_t max_tasks);

  // From now on `chore` is stepped on this thread, about so often. It outlives this. Before the first step().
  void keep(Agent& chore, Duration every) { chores_.push_back({&chore, every, {}}); }

  struct Order;
  using OrderPtr = std::unique_ptr<Order>;
  using Threads = std::unordered_map<WorkerPtr, std::unique_ptr<WorkerThread>>;
  // Carried out once. The first two kinds bring the place of the thread among the others.
  struct Order {
    enum class Kind : std::uint8_t { start, adopt, retire };
    Kind kind = Kind::start;
    std::string name;
    WorkerPtr worker;
    Threads::node_type place;
    std::unique_ptr<WorkerThread> thread;  // of one that runs already
    OrderPtr next;
  };
  // All that will be ordered for one worker's thread: made beforehand, so that no order fails for want of memory.
  struct Orders {
    OrderPtr begin, end;
  };
  static Orders orders_for(std::string name, const WorkerPtr& worker);

  // Starts the thread: ThreadStarted or ThreadFailed.
  void start(OrderPtr begin) noexcept;
  // A thread that is there already, or null; see ThreadMaker::take(). Once it runs it is the housekeeper's: adopt().
  std::unique_ptr<WorkerThread> take(const Order& begin) noexcept;
  void adopt(OrderPtr begin, std::unique_ptr<WorkerThread> thread) noexcept;
  // The worker has no jobs any more; its thread leaves it.
  void retire(OrderPtr end) noexcept;
  std::size_t spare_threads() const noexcept { return maker_.spares(); }

  // Binds all tasks' threads anew to their cores. Thread: the housekeeper's.
  void rebind_threads() noexcept;

  bool step(Time now) noexcept override;
  Time wake_at() const noexcept;
  os::Parker& parker() noexcept { return parker_; }

  // Ends all threads; what runs finishes first. After the last step().
  void close() noexcept;

 private:
  struct Chore {
    Agent* agent;
    Duration every;
    Time next;
  };
  Time next_after(Time now, Duration every) noexcept;
  void give(OrderPtr order) noexcept;
  OrderPtr next_order() noexcept;
  void carry_out(Order& order) noexcept;
  void begin_thread(Order& order) noexcept;
  Expected<std::unique_ptr<WorkerThread>> make_thread(const Order& order) noexcept;
  void keep_thread(Order& order, std::unique_ptr<WorkerThread> thread) noexcept;
  void end_thread(const WorkerPtr& worker) noexcept;

  // Constant.
  ThreadMaker& maker_;
  CoreProvider& provider_;
  NoteInbox& inbox_;

  os::PiMutex mutex_;
  NodeList<Order> orders_;  // guarded by mutex_
  os::Parker parker_;

  // Owner: the housekeeper's thread.
  Threads threads_;
  std::vector<WorkerPtr> graves_;  // freed here and not by a real-time thread that still holds a reference
  Time began_ = never;             // the first step
  Time next_maintenance_{};
  std::vector<Chore> chores_;
};

}  // namespace corelane::dispatch
