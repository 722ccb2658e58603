#include "services/corelane/real_run/overheads/decision_scenarios.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/os/wait/wait.h"

namespace corelane::tool {
namespace {

using namespace std::chrono_literals;

Contract percent(int share) { return make_contract(100ms, share * 1ms, 100ms, 0ms); }

[[noreturn]] void unexpected(const char* what) { throw std::runtime_error(what); }

DecisionStamps new_task(DecisionPool& pool, CoreId expected) {
  TaskId task = no_task;
  const DecisionStamps stamps = pool.call(percent(10), task);
  if (!stamps.ran || stamps.core != expected) unexpected("the new task is not where the scenario needs it");
  pool.depart(task);
  return stamps;
}

// Resident tasks are there from the first sample on. The new task gets the thread of the previous one, which ran on the
// same core.
DecisionStamps new_on_managers_core(DecisionPool& pool) {
  if (pool.resident_count() == 0) {
    const TaskId first = pool.admit(percent(60), pool.managers_core());
    pool.admit(percent(50), pool.other_core());
    pool.depart(first);
  }
  return new_task(pool, pool.managers_core());
}

DecisionStamps new_on_other_core(DecisionPool& pool) {
  if (pool.resident_count() == 0) pool.admit(percent(50), pool.managers_core());
  return new_task(pool, pool.other_core());
}

// The thread of a task that has left sleeps on the other core. The new task on the manager's core takes it.
DecisionStamps pool_thread_moves(DecisionPool& pool) {
  pool.admit(percent(50), pool.managers_core());
  const TaskId leaving = pool.admit(percent(10), pool.other_core());
  pool.admit(percent(60), pool.other_core());
  pool.settle();  // otherwise a thread that is made later would be the first to be taken
  pool.depart(leaving);
  const DecisionStamps stamps = new_task(pool, pool.managers_core());
  pool.clear();
  return stamps;
}

struct Resident {
  int share;  // percent
  bool is_on_managers_core;
};

// For a new task of this share, so many of the resident tasks have to move.
DecisionStamps with_moves(DecisionPool& pool, const std::vector<Resident>& residents, int candidate,
                          std::size_t moves) {
  std::vector<TaskId> tasks;
  for (const Resident& resident : residents)
    tasks.push_back(
        pool.admit(percent(resident.share), resident.is_on_managers_core ? pool.managers_core() : pool.other_core()));
  const auto before = pool.places(tasks);
  TaskId task = no_task;
  const DecisionStamps stamps = pool.call(percent(candidate), task);
  const auto after = pool.places(tasks);
  std::size_t moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) moved += before[i] != after[i];
  if (!stamps.ran || moved != moves) unexpected("not those tasks have moved that the scenario needs");
  pool.clear();
  return stamps;
}

DecisionStamps one_task_moves(DecisionPool& pool) {
  return with_moves(pool, {{50, true}, {30, false}, {30, false}}, 60, 1);
}

DecisionStamps all_repacked(DecisionPool& pool) {
  return with_moves(pool, {{40, true}, {40, false}, {30, true}}, 60, 2);
}

DecisionStamps rejected(DecisionPool& pool) {
  if (pool.resident_count() == 0) {
    pool.admit(percent(60), pool.managers_core());
    pool.admit(percent(60), pool.other_core());
  }
  TaskId task = no_task;
  const DecisionStamps stamps = pool.call(percent(90), task);
  if (stamps.ran) unexpected("the new task was admitted");
  return stamps;
}

DecisionStamps job_on(DecisionPool& pool, bool on_managers) {
  constexpr Duration period = 100us;
  const Contract contract = make_contract(period, 20us, period, 0us);
  if (pool.resident_count() == 0) {
    pool.admit(contract, pool.managers_core());
    if (!on_managers) pool.admit(contract, pool.other_core());
  }
  std::this_thread::sleep_for(period);
  const DecisionStamps stamps = pool.call(pool.latest_resident());
  if (!stamps.ran || stamps.placed != stamps.submitted)
    unexpected("a job a period after the last one waited all the same");
  return stamps;
}

DecisionStamps job_on_managers_core(DecisionPool& pool) { return job_on(pool, true); }
DecisionStamps job_on_other_core(DecisionPool& pool) { return job_on(pool, false); }

DecisionStamps job_migrates(DecisionPool& pool) {
  std::this_thread::sleep_for(100us);  // as long as job_on() does
  const DecisionStamps stamps = pool.call_as_leader();
  if (!stamps.ran || stamps.core != pool.other_core()) unexpected("the leader did not move to the core of the task");
  return stamps;
}

// Driver, middle and last thread: each wakes the next one and sleeps.
class BareHops {
 public:
  explicit BareHops(CoreId core)
      : middle_(start(
            core, 49, [this] { last_bell_.unpark(); }, middle_bell_)),
        last_(start(
            core, 40, [this] { arrived_ = os::now(), driver_bell_.unpark(); }, last_bell_)) {}
  ~BareHops() {
    stopping_.store(true, std::memory_order_relaxed);  // relaxed: the parkers order it
    middle_bell_.unpark(), last_bell_.unpark();
  }
  DecisionStamps sample() {
    DecisionStamps stamps{.submitted = os::now(), .begun = never};
    middle_bell_.unpark();
    driver_bell_.park(never);
    stamps.ended = arrived_;
    return stamps;
  }

 private:
  template <typename Pass>
  os::Thread start(CoreId core, int priority, Pass pass, os::Parker& bell) {
    auto thread =
        os::start_thread({.name = "hop", .core = core, .fifo_priority = priority}, [this, pass, &bell]() noexcept {
          for (;;) {  // bound: ends with the destructor
            bell.park(never);
            if (stopping_.load(std::memory_order_relaxed)) return;  // relaxed: the parkers order it
            pass();
          }
        });
    if (!thread) unexpected("no thread for the bare hops");
    return std::move(*thread);
  }

  os::Parker middle_bell_, last_bell_, driver_bell_;
  std::atomic<bool> stopping_{false};
  Time arrived_{};  // the parkers order it
  os::Thread middle_, last_;
};

DecisionStamps bare_hops(DecisionPool& pool) {
  static BareHops hops(pool.managers_core());
  return hops.sample();
}

constexpr DecisionScenario all_scenarios[] = {
    {"new-task-on-managers-core", "1 new task, manager's core", new_on_managers_core},
    {"new-task-on-other-core", "2 new task, other core", new_on_other_core},
    {"pool-thread-moves", "3 a sleeping thread moves", pool_thread_moves},
    {"all-repacked", "4 all are packed anew", all_repacked},
    {"rejected", "5 rejected", rejected},
    {"task-moves", "a sleeping task moves", one_task_moves},
    {"job-on-managers-core", "job, manager's core", job_on_managers_core},
    {"bare-hops", "bare, manager's core", bare_hops},
    {"job-on-other-core", "job, other core", job_on_other_core},
    {"job-migrates", "job, the leader migrates", job_migrates},
};

}  // namespace

std::span<const DecisionScenario> decision_scenarios() noexcept { return all_scenarios; }

}  // namespace corelane::tool
