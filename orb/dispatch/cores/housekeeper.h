// Housekeeper does the slow work for tasks: it starts and joins their threads, maintains the ledger, and steps other
// agents. It is an agent, so the manager thread never waits for any of this.
//
// It sleeps while there is no task and nothing to repair. Two things wake it: an order, and an event in the runtime
// directory, where other processes leave messages for this one. After an event, each agent is stepped until its step()
// returns false. Then the housekeeper sleeps again. A watch of the directory misses some changes, such as a parent
// directory that is renamed. So all agents are also stepped once in each `longest_sleep`.
//
// Threads: any thread calls start(), adopt() and retire(). The housekeeper's own thread, which is not real-time, calls
// step(). The thread that destroys the housekeeper calls close() once. Answers (ThreadStarted, ThreadFailed) go to the
// manager's inbox.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/cores/task_worker.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/node_list.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/directory_bell.h"

namespace corelane::dispatch {

// ThreadMaker makes the threads of tasks. A test uses one that makes none.
class ThreadMaker {
 public:
  virtual ~ThreadMaker() = default;
  // Returns a new thread that runs worker->loop() at its placement().
  virtual Expected<std::unique_ptr<WorkerThread>> start(const std::string& name, const WorkerPtr& worker) = 0;
  // Returns an existing thread, which runs worker->loop() from begin() on; null: there is none. Any thread.
  virtual std::unique_ptr<WorkerThread> take(const std::string&, const WorkerPtr&) noexcept { return nullptr; }
  // Takes back a thread that start() or take() gave, after its worker was retired. Waits for the end of loop(). Whether
  // the thread itself ends is up to the maker.
  virtual void take_back(std::unique_ptr<WorkerThread> thread) noexcept { thread.reset(); }
  // Makes one more thread for take() if one is missing. Returns whether it did.
  virtual bool refill() noexcept { return false; }
  // Returns how many threads take() has. Any thread.
  virtual std::size_t spares() const noexcept { return 0; }
};

class Housekeeper final : public Agent {
 public:
  static constexpr Duration period = std::chrono::milliseconds{250};  // of CoreProvider::maintain()
  static constexpr Duration longest_sleep = std::chrono::seconds{30};
  static constexpr Duration between_watches = std::chrono::seconds{2};  // if the directory cannot be watched

  // The caller starts at most `max_tasks` threads at once, not counting those that are ending. Room for so many is
  // reserved.
  Housekeeper(ThreadMaker& maker, CoreProvider& provider, NoteInbox& inbox, std::size_t max_tasks);

  // Adds an agent: the housekeeper's thread calls `agent.step()` about once in each period `every`. `agent` must
  // outlive this object. Call keep() before the first step().
  void keep(Agent& agent, Duration every);
  // Lets this agent sleep. `directory`: the runtime directory, which is watched from now on if it is there. `is_idle`:
  // returns whether no agent waits for something to happen elsewhere. Call it before the first step().
  void sleep_when_idle(std::string directory, std::function<bool()> is_idle);

  struct Order;
  using OrderPtr = std::unique_ptr<Order>;
  using Threads = std::unordered_map<WorkerPtr, std::unique_ptr<WorkerThread>>;
  // An order is carried out once. `start` and `adopt` orders carry the map node in which the thread is kept.
  struct Order {
    enum class Kind : std::uint8_t { start, adopt, retire };
    Kind kind = Kind::start;
    std::string name;
    WorkerPtr worker;
    Threads::node_type place;
    std::unique_ptr<WorkerThread> thread;  // for `adopt`: the thread, which already runs
    OrderPtr next;
  };
  // The orders for one worker's thread, made in advance, so that no order fails because memory is short.
  struct Orders {
    OrderPtr begin, end;
  };
  static Orders orders_for(std::string name, const WorkerPtr& worker);

  // Starts the thread. The answer is ThreadStarted or ThreadFailed.
  void start(OrderPtr begin) noexcept;
  // Returns an existing thread, or null; see ThreadMaker::take(). Once it runs, hand it over with adopt().
  std::unique_ptr<WorkerThread> take(const Order& begin) noexcept;
  void adopt(OrderPtr begin, std::unique_ptr<WorkerThread> thread) noexcept;
  // Makes the worker's thread leave it, because the worker has no jobs any more.
  void retire(OrderPtr end) noexcept;
  std::size_t spare_threads() const noexcept { return maker_.spares(); }

  // Binds all tasks' threads to their cores again. Thread: the housekeeper's.
  void rebind_threads() noexcept;

  bool step(Time now) noexcept override;
  Time wake_at() const noexcept;
  os::DirectoryBell& parker() noexcept { return bell_; }

  // Ends all threads after their current jobs. Call it after the last step().
  void close() noexcept;

 private:
  struct PeriodicAgent {
    Agent* agent;
    Duration every;
    Time next{};
    bool looked = false;  // since the last event, step() has returned false: there is no more to do
  };
  class Maintenance final : public Agent {
   public:
    explicit Maintenance(CoreProvider& provider) : provider_(provider) {}
    bool step(Time) noexcept override { return provider_.maintain(), false; }

   private:
    CoreProvider& provider_;
  };
  Time next_after(Time now, Duration every) noexcept;
  void do_periodic_work(Time now) noexcept;
  void end_sleep() noexcept;
  void try_to_sleep(Time now) noexcept;
  bool try_to_watch(Time now) noexcept;
  bool has_nothing_to_do() noexcept;
  bool all_looked() const noexcept;
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
  NodeList<Order> orders_ CORELANE_GUARDED_BY(mutex_);
  os::DirectoryBell bell_;  // resting while there is nothing to do

  // Constant after sleep_when_idle().
  std::string directory_;
  std::function<bool()> is_idle_;  // null: never sleeps

  // Owner: the housekeeper's thread.
  Threads threads_;
  std::vector<WorkerPtr> retired_;  // freed here, not by a real-time thread that still holds a reference
  Time began_ = never;              // time of the first step
  Maintenance maintenance_;
  std::vector<PeriodicAgent> periodic_agents_;
  Time next_watch_{};          // when it tries again to watch the directory
  bool is_quiet_ = false;      // there is nothing to do but to step the agents that have not looked
  Time sleeps_until_ = never;  // never: it does not sleep
};

}  // namespace corelane::dispatch
