// Compares the MulticoreSimulator with a deliberately naive one, which advances by one nanosecond at a time and looks
// at every task in each step. They share the rules of multicore_simulator.h, and no code.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <optional>
#include <tuple>
#include <vector>

#include "orb/base/sanitizer.h"
#include "orb/sim/multicore_simulator.h"
#include "orb/sim/workload.h"

namespace multicore_oracle_test {

using namespace corelane;
using namespace corelane::sim;

namespace {

#if CORELANE_ADDRESS_SANITIZER || CORELANE_THREAD_SANITIZER
constexpr int sets = 100;
#else
constexpr int sets = 1'500;
#endif
constexpr std::int64_t last_release = 40;
constexpr std::int64_t end = 120;

Time at(std::int64_t time) { return Time{Duration{time}}; }

// Returns a uniform number from `low` to `high`.
std::int64_t between(Random& random, std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

struct TaskSet {
  MulticoreOptions options;
  std::vector<MulticoreTask> tasks;
  std::vector<std::vector<JobRelease>> jobs;
};

// A job as both simulators saw it.
struct JobRecord {
  std::size_t task;
  std::uint64_t number;
  Time arrival, start, finish;
  CoreId core;
  std::uint32_t preemptions, migrations;

  friend auto operator<=>(const JobRecord&, const JobRecord&) = default;
};

struct Outcome {
  std::vector<JobRecord> jobs;  // by task and number
  std::array<OverheadUse, overhead_infos.size()> overheads{};
  std::vector<std::uint64_t> misses{};  // by task

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

class SteppedSimulator {
 public:
  explicit SteppedSimulator(const TaskSet& set)
      : set_(set), cores_(static_cast<std::size_t>(set.options.cores)), queues_(set.tasks.size()) {
    outcome_.misses.resize(set.tasks.size());
    for (std::size_t task = 0; task < set.tasks.size(); ++task) {
      const std::size_t first = cluster_of(parts_of(task)[0]) * size();
      queues_[task].home = first + task % size();
    }
  }

  Outcome run() {
    for (std::int64_t time = 0; time <= end; ++time) {
      now_ = at(time);
      complete();
      arrive();
      for (std::size_t cluster = 0; cluster < cores_.size() / size(); ++cluster) dispatch(cluster);
      step();
    }
    for (const Queue& queue : queues_)
      for (const Job& job : queue.jobs) outcome_.misses[job.task] += job.deadline <= at(end) ? 1 : 0;
    std::sort(outcome_.jobs.begin(), outcome_.jobs.end());
    return outcome_;
  }

 private:
  struct Job {
    std::size_t task;
    std::uint64_t number;
    Time nominal, arrival, deadline;
    std::int64_t demand_left;  // of the parts after this one
    std::int64_t left = 0;     // of this part
    std::int64_t overhead = 0;
    std::size_t part = 0;
    Time ready_at{};
    Time start{};
    std::optional<std::size_t> core{};  // the latest
    bool running = false;
    bool preempted = false;
    std::uint32_t preemptions = 0;
    std::uint32_t migrations = 0;
  };
  struct Queue {
    std::deque<Job> jobs;
    std::size_t arrived = 0;
    Time latest_arrival{};
    std::size_t home = 0;
  };
  struct Core {
    Job* job = nullptr;
    std::int64_t interrupt = 0;
  };

  std::size_t size() const { return static_cast<std::size_t>(set_.options.cluster); }
  std::size_t cluster_of(const TaskPart& part) const { return static_cast<std::size_t>(part.core.value) / size(); }

  std::vector<TaskPart> parts_of(std::size_t task) const {
    const MulticoreTask& t = set_.tasks[task];
    if (!t.parts.empty()) return t.parts;
    return {{.core = t.core, .budget = Duration::max(), .deadline = t.deadline, .priority = t.priority}};
  }
  TaskPart part_of(const Job& job) const { return parts_of(job.task)[job.part]; }

  auto urgency(const Job& job) const {
    const TaskPart part = part_of(job);
    const std::int64_t rank = set_.options.order == Order::deadline
                                  ? (job.nominal + part.deadline).time_since_epoch().count()
                                  : -std::int64_t{part.priority.value};
    return std::tuple(rank, job.nominal, job.task);
  }

  std::int64_t charge(OverheadKind kind) {
    const Duration cost = cost_of(set_.options.overheads, kind).most();
    OverheadUse& use = outcome_.overheads[static_cast<std::size_t>(kind)];
    ++use.count;
    use.total += cost;
    return cost.count();
  }

  void begin_part(Job& job) {
    const auto parts = parts_of(job.task);
    const bool is_last = job.part + 1 == parts.size();
    job.left = is_last ? job.demand_left : std::min(job.demand_left, parts[job.part].budget.count());
    job.demand_left -= job.left;
    job.ready_at = std::max(now_, job.nominal + parts[job.part].offset);
  }

  void complete() {
    for (Core& core : cores_) {
      if (core.job == nullptr || core.job->left > 0) continue;
      Job& job = *core.job;
      core.job = nullptr;
      job.running = false;
      if (job.demand_left > 0) {
        ++job.part;
        begin_part(job);
      } else {
        finish(job);
      }
    }
  }

  void finish(const Job& job) {
    outcome_.jobs.push_back({job.task, job.number, job.arrival, job.start, now_,
                             CoreId{static_cast<std::int16_t>(*job.core)}, job.preemptions, job.migrations});
    outcome_.misses[job.task] += now_ > job.deadline ? 1 : 0;
    auto& jobs = queues_[job.task].jobs;
    jobs.pop_front();
    if (!jobs.empty()) begin_part(jobs.front());
  }

  void arrive() {
    for (std::size_t task = 0; task < queues_.size(); ++task) {
      Queue& queue = queues_[task];
      for (; queue.arrived < set_.jobs[task].size(); ++queue.arrived) {
        const JobRelease& next = set_.jobs[task][queue.arrived];
        queue.latest_arrival = std::max(queue.latest_arrival, next.nominal + next.delay);
        if (queue.latest_arrival > now_) break;
        queue.jobs.push_back(
            {task, queue.arrived, next.nominal, now_, next.nominal + set_.tasks[task].deadline, next.demand.count()});
        cores_[queue.home].interrupt += charge(OverheadKind::release);
        if (queue.jobs.size() == 1) begin_part(queue.jobs.front());
      }
    }
  }

  Job* most_urgent_waiting(std::size_t cluster) {
    Job* best = nullptr;
    for (Queue& queue : queues_) {
      if (queue.jobs.empty()) continue;
      Job& job = queue.jobs.front();
      if (job.running || job.ready_at > now_ || cluster_of(part_of(job)) != cluster) continue;
      if (best == nullptr || urgency(job) < urgency(*best)) best = &job;
    }
    return best;
  }

  std::optional<std::size_t> idle_core(std::size_t cluster, const Job& job) const {
    const auto is_idle = [&](std::size_t core) { return core / size() == cluster && cores_[core].job == nullptr; };
    if (job.core && is_idle(*job.core)) return job.core;
    for (std::size_t core = 0; core < cores_.size(); ++core)
      if (is_idle(core)) return core;
    return {};
  }

  std::size_t least_urgent_core(std::size_t cluster) const {
    std::size_t least = cluster * size();
    for (std::size_t core = least; core < (cluster + 1) * size(); ++core)
      if (urgency(*cores_[least].job) < urgency(*cores_[core].job)) least = core;
    return least;
  }

  void dispatch(std::size_t cluster) {
    while (Job* job = most_urgent_waiting(cluster)) {
      auto core = idle_core(cluster, *job);
      if (!core) {
        core = least_urgent_core(cluster);
        Job& victim = *cores_[*core].job;
        if (!(urgency(*job) < urgency(victim))) return;
        victim.running = false;
        victim.preempted = true;
        ++victim.preemptions;
      }
      start(*job, *core);
    }
  }

  void start(Job& job, std::size_t core) {
    job.overhead += charge(OverheadKind::dispatch);
    if (!job.core) {
      job.start = now_;
      job.overhead += charge(OverheadKind::hop);
    } else if (*job.core != core) {
      ++job.migrations;
      job.overhead += charge(OverheadKind::migration);
    } else if (job.preempted) {
      job.overhead += charge(OverheadKind::preemption);
    }
    job.core = core;
    job.running = true;
    job.preempted = false;
    queues_[job.task].home = core;
    cores_[core].job = &job;
  }

  void step() {
    for (Core& core : cores_) {
      if (core.interrupt > 0)
        --core.interrupt;
      else if (core.job != nullptr)
        --(core.job->overhead > 0 ? core.job->overhead : core.job->left);
    }
  }

  const TaskSet& set_;
  Time now_{};
  std::vector<Core> cores_;
  std::vector<Queue> queues_;
  Outcome outcome_;
};

class Recorder final : public JobObserver {
 public:
  void finished(const FinishedJob& job) override {
    jobs.push_back(
        {job.task, job.number, job.arrival, job.start, job.finish, job.core, job.preemptions, job.migrations});
  }
  std::vector<JobRecord> jobs;
};

Outcome fast_outcome(const TaskSet& set) {
  REQUIRE(fault_of(set.options, set.tasks) == std::nullopt);
  ListedJobs source(set.jobs);
  Recorder recorder;
  MulticoreSimulator simulator(set.options, set.tasks, source, &recorder);
  simulator.run(at(end));
  std::sort(recorder.jobs.begin(), recorder.jobs.end());
  Outcome outcome{recorder.jobs};
  for (const OverheadInfo& info : overhead_infos)
    outcome.overheads[static_cast<std::size_t>(info.kind)] = simulator.overhead(info.kind);
  for (std::size_t task = 0; task < set.tasks.size(); ++task)
    outcome.misses.push_back(simulator.responses(task).misses);
  return outcome;
}

struct Policy {
  Order order;
  std::int32_t cluster;   // 0: all cores
  std::int64_t clusters;  // at most so many
  bool is_split = false;
};

TaskPart random_part(Random& random, std::int32_t cores) {
  return {.core = CoreId{static_cast<std::int16_t>(between(random, 0, cores - 1))},
          .budget = Duration{between(random, 1, 3)},
          .offset = Duration{between(random, 0, 1) * between(random, 0, 6)},
          .deadline = Duration{between(random, 1, 12)},
          .priority = Priority{static_cast<std::int32_t>(between(random, 1, 4))}};
}

MulticoreTask random_task(Random& random, std::int32_t cores, bool is_split) {
  MulticoreTask task{.deadline = Duration{between(random, 1, 20)},
                     .priority = Priority{static_cast<std::int32_t>(between(random, 1, 4))},
                     .core = CoreId{static_cast<std::int16_t>(between(random, 0, cores - 1))}};
  if (!is_split) return task;
  for (std::int64_t parts = between(random, 0, 3); parts > 0; --parts) task.parts.push_back(random_part(random, cores));
  return task;
}

std::vector<JobRelease> random_jobs(Random& random) {
  const std::int64_t period = between(random, 2, 15);
  std::vector<JobRelease> jobs;
  for (std::int64_t time = between(random, 0, 5); time <= last_release; time += period + between(random, 0, 2))
    jobs.push_back(
        {at(time), Duration{between(random, 0, 1) * between(random, 0, 4)}, Duration{between(random, 1, 5)}});
  return jobs;
}

TaskSet random_set(Random& random, const Policy& policy, bool has_overheads) {
  TaskSet set;
  set.options.order = policy.order;
  set.options.cores = static_cast<std::int32_t>(
      policy.cluster == 0 ? between(random, 1, 4) : policy.cluster * between(random, 1, policy.clusters));
  set.options.cluster = policy.cluster == 0 ? set.options.cores : policy.cluster;
  if (has_overheads)
    for (const OverheadInfo& info : overhead_infos)
      cost_of(set.options.overheads, info.kind) = Duration{between(random, 0, 2)};
  for (std::int64_t tasks = between(random, 1, 7); tasks > 0; --tasks) {
    set.tasks.push_back(random_task(random, set.options.cores, policy.is_split));
    set.jobs.push_back(random_jobs(random));
  }
  return set;
}

// Simulates the sets with both simulators, half of them with overheads.
void compare(const Policy& policy) {
  Random random(1);
  std::size_t jobs = 0;
  std::uint64_t preempted = 0;
  for (int i = 0; i < sets; ++i) {
    CAPTURE(i);
    const TaskSet set = random_set(random, policy, i % 2 == 1);
    const Outcome slow = SteppedSimulator(set).run();
    const Outcome fast = fast_outcome(set);
    REQUIRE(fast.jobs == slow.jobs);
    REQUIRE(fast.overheads == slow.overheads);
    REQUIRE(fast.misses == slow.misses);
    jobs += slow.jobs.size();
    for (const JobRecord& job : slow.jobs) preempted += job.preemptions;
  }
  CHECK(jobs > std::size_t{10} * sets);
  CHECK(preempted > std::uint64_t{sets} / 2);
}

}  // namespace

TEST_CASE("partitioned fixed priorities give the schedule of the stepped simulator") {
  compare({Order::priority, 1, 4});
}

TEST_CASE("partitioned deadlines give the schedule of the stepped simulator") { compare({Order::deadline, 1, 4}); }

TEST_CASE("global fixed priorities give the schedule of the stepped simulator") { compare({Order::priority, 0, 1}); }

TEST_CASE("global deadlines give the schedule of the stepped simulator") { compare({Order::deadline, 0, 1}); }

TEST_CASE("clusters of two cores give the schedule of the stepped simulator") {
  compare({Order::priority, 2, 2});
  compare({Order::deadline, 2, 2});
}

TEST_CASE("split tasks give the schedule of the stepped simulator") {
  compare({Order::priority, 1, 4, true});
  compare({Order::deadline, 1, 4, true});
}

}  // namespace multicore_oracle_test
