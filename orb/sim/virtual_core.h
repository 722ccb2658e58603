// VirtualCore: the platform under a Lane in virtual time: one preemptive processor without overhead. By priorities,
// first come first served within a level, as SCHED_FIFO promises on a bound core; or by deadlines, as SCHED_DEADLINE
// does.
//
// It carries servers: a job under a server runs only while that one has budget, and all such jobs together are the
// server's work.
//
// Threads: owned by the Simulator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/server_driver.h"

namespace corelane::sim {

inline constexpr Priority platform_priority{INT32_MAX};  // of the core's platform load
inline constexpr Priority above_tasks{INT32_MAX - 1};    // of servers

enum class Order : std::uint8_t { priority, deadline };

struct ReadyJob {
  JobId job;
  TaskId task;
  Priority priority;
  Duration remaining;                      // execution until it ends
  Duration until_sleep = Duration::max();  // execution until it suspends itself; beyond `remaining`: it does not
  Duration used{};                         // executed so far
  Duration locks_at = Duration::max();     // in terms of `used`: a section begins ...
  Duration unlocks_at = Duration::max();   // ... and ends
  Time place{};                            // by deadlines: among those that are neither platform load nor best effort
  std::optional<std::size_t> server{};     // whose work it is
  bool own_server = false;                 // that one is its task's, and no more than an order to the platform
  Duration caller_period{};                // under an IoServer: of the caller, whose priority it has
};

class VirtualCore {
 public:
  // Before the first job. Ceilings have no effect by deadlines.
  void order_by(Order order) { order_by_ = order; }
  // Its number, for ReadyJob::server.
  std::size_t add_server(const sched::Server& server);

  // A job joins; it may preempt at the next dispatch().
  void start(Time now, const ReadyJob& job);
  void set_priority(Time now, TaskId task, Priority priority);
  // The job runs at `ceiling` while that is above its priority; best_effort ends it.
  void raise(Time now, JobId job, Priority ceiling);
  bool has(JobId job) { return find(job) != jobs_.end(); }
  // The job's new place. False when it is not here.
  bool set_place(Time now, JobId job, Time place);
  // The job of a task with a server of its own runs behind all such from now on. Nothing for one that is not here.
  void step_back(Time now, TaskId task);
  // The job executes for at most so much more. False when it is not here.
  bool shorten(Time now, JobId job, Duration most);
  // A job that sleeps is ready again, behind its equals. False when it is not here.
  bool wake(Time now, JobId job);
  void drop_all(Time now);

  // reach() says when this job has used its budget. Replaces what was watched; JobId{} watches nobody.
  void watch(Time now, JobId job, Duration budget);

  enum class What : std::uint8_t { ended, slept, overran, locked, unlocked };
  struct Reached {
    ReadyJob job;
    What what;
  };
  // Advances the running job to `now` and tells the first thing that has come up, if any; ask again for the next.
  std::optional<Reached> reach(Time now);

  // Picks who runs from now on. Returns the instant at which reach() will have something to say, and the one at which a
  // server that waits has budget again: dispatch then.
  struct Until {
    Time reach = never;
    Time replenished = never;
  };
  Until dispatch(Time now);
  // Counts what has run until now.
  void advance(Time now) { charge(now); }

  std::optional<JobId> running() const;
  std::uint64_t preemptions() const { return preemptions_; }
  Duration busy() const { return busy_; }
  const sched::ServerDriver& server(std::size_t index) const { return servers_[index]; }

 private:
  struct Entry {
    ReadyJob job;
    std::int64_t order;  // first come first served; whose priority is raised comes last there, lowered first
    bool asleep = false;
    Priority ceiling = best_effort;

    Priority effective() const { return std::max(job.priority, ceiling); }
  };

  std::vector<Entry>::iterator find(JobId job);
  void charge(Time now);
  void change(Entry& entry, Priority priority, Priority ceiling);
  bool before(const Entry& a, const Entry& b) const;
  void sort();
  void step(Time now, std::optional<std::size_t> server, Duration used = {});
  Duration until_budget(const ReadyJob& job) const;
  Duration until_lock(const ReadyJob& job) const;

  Order order_by_ = Order::priority;
  std::vector<sched::ServerDriver> servers_;
  std::vector<Entry> jobs_;  // who runs first comes first
  bool running_ = false;     // current_ has run since since_
  JobId current_{};
  Time since_{};
  JobId watched_{};
  Duration budget_{};  // of watched_
  std::int64_t last_order_ = 0;
  std::int64_t first_order_ = 0;
  Duration busy_{};
  std::uint64_t preemptions_ = 0;
};

}  // namespace corelane::sim
