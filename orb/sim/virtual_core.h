// VirtualCore is the platform under a CoreScheduler in virtual time: one preemptive processor without overhead. It runs
// by priorities, first come first served within a level, like SCHED_FIFO on a bound core. Or it runs by deadlines, like
// SCHED_DEADLINE.
//
// It has servers. A job under a server runs only while the server has budget, and all such jobs together are the
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
#include "orb/sched/servers/server_driver.h"
#include "orb/sim/order.h"

namespace corelane::sim {

inline constexpr Priority platform_priority{INT32_MAX};  // of the core's platform load
inline constexpr Priority above_tasks{INT32_MAX - 1};    // of servers

inline constexpr std::int64_t no_slowdown = 1'000'000;  // millionths

struct ReadyJob {
  JobId job;
  TaskId task;
  Priority priority;
  Duration remaining;                      // execution time until the end
  Duration until_sleep = Duration::max();  // execution time until it suspends itself; more than `remaining`: never
  Duration used{};                         // execution time so far
  Duration locks_at = Duration::max();     // value of `used` at which a section begins ...
  Duration unlocks_at = Duration::max();   // ... and ends
  // If the core runs by deadlines: the absolute deadline that orders jobs that are neither platform load nor best
  // effort.
  Time deadline{};
  std::optional<std::size_t> server{};  // the server to whose work it belongs
  bool own_server = false;              // the server belongs to the task of this job; the job is one of a CoreScheduler
  Duration caller_period{};             // for an IoServer: the period of the caller
};

class VirtualCore {
 public:
  // Sets the order. Call it before the first job. With deadlines, ceilings have no effect.
  void order_by(Order order) { order_by_ = order; }
  // Adds a server. Returns its number for ReadyJob::server.
  std::size_t add_server(const sched::Server& server);

  // Adds a job. It may preempt the running job at the next dispatch().
  void start(Time now, const ReadyJob& job);
  void set_priority(Time now, TaskId task, Priority priority);
  // Runs the job at `ceiling` while that is above its priority. best_effort ends the ceiling.
  void raise(Time now, JobId job, Priority ceiling);
  bool has(JobId job) { return find(job) != jobs_.end(); }
  // Sets a new deadline for the job. Returns false if the job is not here.
  bool set_deadline(Time now, JobId job, Time deadline);
  // Runs the job of a task with its own server at best effort from now on, below the jobs with a server. Does nothing
  // if the job is not here.
  void run_at_best_effort(Time now, TaskId task);
  // Lets the job execute for at most `most` more. Returns false if the job is not here.
  bool shorten(Time now, JobId job, Duration most);
  // Makes a sleeping job ready again, behind the jobs of the same priority. Returns false if no such job sleeps here.
  bool wake(Time now, JobId job);
  void drop_all(Time now);

  // From now on the execution of jobs takes `slowdown` millionths of its time. At first it is no_slowdown. The times at
  // which jobs lock and unlock do not change. A job whose slowdown never exceeds f executes for at most its demand
  // times f, rounded up once.
  void set_slowdown(Time now, std::int64_t slowdown);
  std::int64_t slowdown() const { return slowdown_; }

  // Watches a job: reach() reports when it has used `budget`. Replaces the previous watch; JobId{} watches no job.
  void watch(Time now, JobId job, Duration budget);

  enum class What : std::uint8_t { ended, slept, overran, locked, unlocked };
  struct Reached {
    ReadyJob job;
    What what;
  };
  // Advances the running job to `now` and returns the first event that has occurred, if any. Call it again for the next
  // event.
  std::optional<Reached> reach(Time now);

  // Selects the job that runs from now on. Returns the time at which reach() will report an event, and the time at
  // which a waiting server gets budget again. Call dispatch() again at that time.
  struct Until {
    Time reach = never;
    Time replenished = never;
  };
  Until dispatch(Time now);
  // Charges the execution until now.
  void advance(Time now) { charge(now); }

  std::optional<JobId> running() const;
  std::uint64_t preemptions() const { return preemptions_; }
  Duration busy() const { return busy_; }
  const sched::ServerDriver& server(std::size_t index) const { return servers_[index]; }

 private:
  struct Entry {
    ReadyJob job;
    // First come, first served. A job whose priority is raised becomes the last one at that priority. A job whose
    // priority is lowered becomes the first one.
    std::int64_t order;
    bool asleep = false;
    Priority ceiling = best_effort;
    std::int64_t carry = 0;  // work done that job.remaining still includes, in parts of slowdown_ of a nanosecond

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
  Duration work_in(Entry& entry, Duration time) const;
  Duration time_for(const Entry& entry, Duration work) const;

  Order order_by_ = Order::priority;
  std::vector<sched::ServerDriver> servers_;
  std::vector<Entry> jobs_;  // sorted: the job that runs first comes first
  bool running_ = false;     // current_ has run since since_
  JobId current_{};
  Time since_{};
  JobId watched_{};
  Duration budget_{};  // the budget of watched_
  std::int64_t slowdown_ = no_slowdown;
  std::int64_t last_order_ = 0;
  std::int64_t first_order_ = 0;
  Duration busy_{};
  std::uint64_t preemptions_ = 0;
};

}  // namespace corelane::sim
