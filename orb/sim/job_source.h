// JobSource says when the jobs of simulated tasks are released, and how long they execute. PatternJobs draws them:
// periodic, sporadic or bursty. ListedJobs takes them from a trace. Programs may implement others.
//
// What a job is does not depend on the schedule. So two simulations with equal sources get the same jobs, and their
// schedulers can be compared job by job.
//
// Threads: one. next() of the sources here does not allocate.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "orb/base/time.h"
#include "orb/sim/duration_distribution.h"

namespace corelane::sim {

inline constexpr Duration longest_demand = std::chrono::hours{24 * 365};

struct JobRelease {
  Time nominal{};     // the deadline counts from here, and so does the response time
  Duration delay{};   // release jitter: the job arrives at nominal + delay, delay >= 0
  Duration demand{};  // execution time without overheads, 0 <= demand <= longest_demand

  friend bool operator==(const JobRelease&, const JobRelease&) = default;
};

class JobSource {
 public:
  virtual ~JobSource() = default;
  // Returns the next job of the task with this index; nothing if there are no more. The nominal releases of a task do
  // not descend. A job that would arrive before its predecessor arrives together with it. A source of endless jobs must
  // let time pass: the simulator does not end an instant at which jobs keep coming.
  virtual std::optional<JobRelease> next(std::size_t task) = 0;
};

// Random numbers that belong to one job: they depend on the seed, the task and the number of the job, and on nothing
// else. The generator is SplitMix64 (Steele, Lea & Flood 2014).
class JobRandom {
 public:
  using result_type = std::uint64_t;
  JobRandom(std::uint64_t seed, std::size_t task, std::uint64_t job);
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return UINT64_MAX; }
  result_type operator()();

 private:
  std::uint64_t state_;
};

// How the jobs of a task come, and how long they execute.
//   periodic: period                      releases at offset, offset + T, offset + 2T, ...
//   sporadic: period and extra_gap        the times between releases are uniform in [T, T + extra_gap]
//   bursty:   burst and burst_gap         each release brings `burst` jobs, `burst_gap` apart
struct JobPattern {
  Duration period{};        // T > 0: the shortest time between two releases; with bursts, between two bursts
  Duration offset{};        // of the first release, from time 0; >= 0
  Duration extra_gap{};     // 0 <= extra_gap <= longest_random_time
  std::uint32_t burst = 1;  // >= 1
  Duration burst_gap{};     // >= 0; a burst ends before the next one: (burst - 1) * burst_gap <= period
  Duration jitter{};        // each job is late by a uniform time in [0, jitter]; 0 <= jitter <= longest_random_time
  DurationDistribution demand{};
};

class PatternJobs final : public JobSource {
 public:
  // Returns the execution time of job number `job`, from 0, of a task. It replaces JobPattern::demand.
  using Demand = std::function<Duration(std::size_t task, std::uint64_t job, JobRandom& random)>;

  // The patterns keep to the ranges above. Task i has patterns[i].
  explicit PatternJobs(std::vector<JobPattern> patterns, std::uint64_t seed = 1, Demand demand = {});
  std::optional<JobRelease> next(std::size_t task) override;

 private:
  struct State {
    std::uint64_t jobs = 0;      // so many were returned
    std::uint32_t in_burst = 0;  // the next job's number in its burst
    Time burst_at{};
  };

  std::vector<JobPattern> patterns_;
  std::vector<State> states_;
  std::uint64_t seed_;
  Demand demand_;
};

// The jobs of a trace, such as a recorded one.
class ListedJobs final : public JobSource {
 public:
  // Task i has jobs[i], in ascending order of their nominal releases.
  explicit ListedJobs(std::vector<std::vector<JobRelease>> jobs);
  std::optional<JobRelease> next(std::size_t task) override;

 private:
  std::vector<std::vector<JobRelease>> jobs_;
  std::vector<std::size_t> next_;
};

}  // namespace corelane::sim
