// SyntheticUtilization: admission by the aperiodic utilization bound, as the distributed middleware of Zhang, Gill & Lu
// ("Reconfigurable Real-Time Middleware for Distributed Cyber-Physical Systems with Aperiodic Events", 2008) has it;
// the bound is Abdelzaher's. A job passes stages, each on a processor, under deadline-monotonic priorities. It adds C /
// D of each stage to its processor's synthetic utilization from its arrival until its deadline. It is admitted while,
// with it, for every current job
//   sum over its stages of U (1 - U/2) / (1 - U) <= 1,   U: the synthetic utilization of the stage's processor.
// For a stage that is over, U is the highest that there was while it lasted, and so far for the one under way. As
// published the test takes all of them as they are now, and with idle resetting that admits misses: (D 99, C 49) holds
// a job (D 100, C 1 and 1) up until 50 on the first processor, which idles then and is reset; a job (D 99, C 56) that
// comes to the second at that instant would be let in, and the other end at 107.
//
// The three axes: admission per task reserves for a periodic task once and for good, per job asks for each of its jobs.
// Idle resetting drops, when a processor idles, what completed stages had added there: of aperiodic jobs only
// (per_task) or of all (per_job). Load balancing puts a stage on its least loaded processor: once for a task, or for
// each job. Aperiodic jobs are tasks of one job.
//
// Threads: owned by one thread at a time. No clock, no thread; nothing allocates after the constructor. Every loop is
// bounded by the number of current jobs and tasks.
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
#include "orb/sched/bounds.h"
#include "orb/sched/share.h"

namespace corelane::sched {

// One of the fifteen combinations that make sense; there is no other value of this type.
class SoundAperiodicPolicy {
 public:
  // Nothing for the others: admission per task keeps its reservation, which resetting per job would take back.
  static std::optional<SoundAperiodicPolicy> of(const AperiodicPolicy& policy) noexcept {
    if (!valid(policy)) return std::nullopt;
    return SoundAperiodicPolicy(policy);
  }
  constexpr const AperiodicPolicy& axes() const noexcept { return axes_; }

 private:
  explicit constexpr SoundAperiodicPolicy(const AperiodicPolicy& axes) noexcept : axes_(axes) {}
  AperiodicPolicy axes_;
};

// What is wrong with a combination, and what to choose instead; nothing for the fifteen. Allocates.
std::optional<std::string> fault_of(const AperiodicPolicy& policy);

inline constexpr std::size_t most_stages = 8;

struct Stage {
  Duration budget{};                          // C > 0
  std::span<const std::size_t> processors{};  // that can run it, at least one; the first is its home
};

class SyntheticUtilization {
 public:
  // At most `capacity` current jobs and as many periodic tasks.
  SyntheticUtilization(std::size_t processors, SoundAperiodicPolicy policy, std::size_t capacity);

  // A job of the periodic task, or an aperiodic one (no_task), wants to pass these stages within `deadline`. Where each
  // goes, valid until the next call; nothing when it is not admitted: its stages are none or too many, a processor is
  // unknown, the capacity is used up, or the bound does not hold.
  std::optional<std::span<const std::size_t>> arrive(Time now, JobId job, TaskId task, Duration deadline,
                                                     std::span<const Stage> stages) noexcept;

  // The job has passed its next stage.
  void completed(JobId job) noexcept;
  // The processor has nothing to do.
  void idle(std::size_t processor) noexcept;
  // The periodic task is over: what it had reserved goes at the deadline of its last job.
  void departed(TaskId task) noexcept;

  // Drops what has expired by `now`; arrive() does so itself.
  void expire(Time now) noexcept;

  // Rounded up.
  Ppm utilization(std::size_t processor) const noexcept { return ppm_of(load_[processor]); }
  std::size_t current() const noexcept { return entries_.size(); }

 private:
  struct Part {
    std::size_t processor = 0;
    Share share = 0;  // 0 once reset
    Share peak = 0;   // the processor's highest utilization while the stage lasted
  };
  struct Entry {
    JobId job{};  // the latest, of a task that reserved
    TaskId task = no_task;
    bool reserved = false;
    Time expires{};
    std::array<Part, most_stages> parts{};
    std::size_t count = 0;
    std::size_t done = 0;  // stages; parts[done] is under way

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
  std::vector<Home> homes_;  // of periodic tasks that stay where they are
  std::array<std::size_t, most_stages> answer_{};
};

}  // namespace corelane::sched
