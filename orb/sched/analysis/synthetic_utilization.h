// SyntheticUtilization makes the admission test of the aperiodic utilization bound. It follows the distributed
// middleware of Zhang, Gill & Lu ("Reconfigurable Real-Time Middleware for Distributed Cyber-Physical Systems with
// Aperiodic Events", 2008); the bound is Abdelzaher's.
//
// A job passes stages, each on a processor, under deadline-monotonic priorities. From its arrival until its deadline it
// adds C / D of each stage to the synthetic utilization of the stage's processor. It is admitted if, with it, every
// current job satisfies
//   sum over its stages of U (1 - U/2) / (1 - U) <= 1,   U: the synthetic utilization of the stage's processor.
// For a completed stage, U is the highest value during the stage. For the stage in progress, it is the highest value so
// far. The published test takes the present value of all stages. With idle resetting that can admit a job that misses
// its deadline. Example:
// - A job (D 99, C 49) delays a job (D 100, C 1 and 1) until 50 on the first processor.
// - The first processor is then idle and is reset.
// - At that time a job (D 99, C 56) arrives at the second processor. The published test would admit it, and the delayed
//   job would end at 107.
//
// The policy has three axes:
// - Admission: per task reserves once for the whole life of a periodic task; per job tests each of its jobs.
// - Idle resetting: when a processor is idle, it drops what completed stages added there, for aperiodic jobs only
//   (per_task) or for all jobs (per_job).
// - Load balancing: assigns a stage to its least loaded processor, once for a task or for each job.
// Aperiodic jobs are tasks with one job.
//
// Threads: owned by one thread at a time. No clock, no thread. Nothing allocates after the constructor. Bound: the
// number of current jobs and tasks, for every loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/analysis/bounds.h"
#include "orb/sched/share.h"

namespace corelane::sched {

// One of the fifteen valid combinations. The type has no other values.
class SoundAperiodicPolicy {
 public:
  // Returns nothing for an invalid combination: admission per task keeps its reservation, and resetting per job would
  // take it back.
  static std::optional<SoundAperiodicPolicy> of(const AperiodicPolicy& policy) noexcept {
    if (!valid(policy)) return std::nullopt;
    return SoundAperiodicPolicy(policy);
  }
  constexpr const AperiodicPolicy& axes() const noexcept { return axes_; }

 private:
  explicit constexpr SoundAperiodicPolicy(const AperiodicPolicy& axes) noexcept : axes_(axes) {}
  AperiodicPolicy axes_;
};

// Returns what is wrong with a combination and what to choose instead, or nothing for a valid one. Allocates.
std::optional<std::string> fault_of(const AperiodicPolicy& policy);

inline constexpr std::size_t most_stages = 8;

struct Stage {
  Duration budget{};                          // C > 0
  std::span<const std::size_t> processors{};  // the processors that can run it, at least one; the first is the default
};

class SyntheticUtilization {
 public:
  // Allows at most `capacity` current jobs and the same number of periodic tasks.
  SyntheticUtilization(std::size_t processors, SoundAperiodicPolicy policy, std::size_t capacity);

  // Asks for admission of a job of the periodic task `task`, or of an aperiodic job (no_task). The job has to pass the
  // stages within `deadline`. Returns the processor of each stage, valid until the next call, or nothing if the job is
  // not admitted. That happens if there are no stages or too many, a processor is unknown, the capacity is used up, or
  // the bound does not hold.
  std::optional<std::span<const std::size_t>> arrive(Time now, JobId job, TaskId task, Duration deadline,
                                                     std::span<const Stage> stages) noexcept;

  // Reports that the job has completed its next stage.
  void completed(JobId job) noexcept;
  // Reports that the processor is idle.
  void idle(std::size_t processor) noexcept;
  // Reports that the periodic task has ended. Its reservation ends at the deadline of its last job.
  void departed(TaskId task) noexcept;

  // Removes the jobs that have expired by `now`. arrive() does this itself.
  void expire(Time now) noexcept;

  // Returns the synthetic utilization, rounded up.
  Ppm utilization(std::size_t processor) const noexcept { return ppm_of(load_[processor]); }
  std::size_t current() const noexcept { return entries_.size(); }

 private:
  struct Part {
    std::size_t processor = 0;
    Share share = 0;  // 0 after a reset
    Share peak = 0;   // the processor's highest utilization while the stage lasted
  };
  struct Entry {
    JobId job{};  // the latest job, for a task with a reservation
    TaskId task = no_task;
    bool reserved = false;
    Time expires{};
    std::array<Part, most_stages> parts{};
    std::size_t count = 0;
    std::size_t done = 0;  // completed stages; parts[done] is in progress

    void restart() noexcept;
  };
  struct Home {
    TaskId task = no_task;
    std::array<std::size_t, most_stages> processors{};
  };

  bool sound(Duration deadline, std::span<const Stage> stages) const noexcept;
  Entry* reservation_of(TaskId task) noexcept;
  Home* home_of(TaskId task) noexcept;
  void place(Entry& entry, Duration deadline, std::span<const Stage> stages, const Home* home) noexcept;
  std::size_t least_loaded(std::span<const std::size_t> processors) const noexcept;
  bool go_on(Entry& entry, Time now, JobId job, Duration deadline, std::span<const Stage> stages) noexcept;
  bool admit(const Entry& entry) noexcept;
  Share counted(const Entry& entry, std::size_t stage) const noexcept;
  bool holds(const Entry& entry) const noexcept;
  bool all_hold() const noexcept;
  void note_peaks() noexcept;
  void add(const Entry& entry, Share sign) noexcept;
  std::span<const std::size_t> answer(const Entry& entry) noexcept;

  AperiodicPolicy policy_;
  std::vector<Share> load_;  // by processor
  std::vector<Entry> entries_;
  std::vector<Home> homes_;  // of periodic tasks that keep their processors
  std::array<std::size_t, most_stages> answer_{};
};

}  // namespace corelane::sched
