// The jobs that have arrived and not ended. JobPool keeps them in one array, and uses the places of ended jobs again.
//
// Threads: one. take() allocates if more jobs live than ever before; nothing else does.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "orb/base/time.h"

namespace corelane::sim::multicore {

using JobIndex = std::uint32_t;
inline constexpr JobIndex no_job = UINT32_MAX;

// The order in which jobs run: the least value first. No two jobs that compete are equal, because the jobs of a task
// run one after the other.
struct Urgency {
  std::int64_t rank = 0;  // the negative priority, or the absolute deadline in ns
  Time release{};         // nominal
  std::uint32_t task = 0;

  friend constexpr auto operator<=>(const Urgency&, const Urgency&) = default;
};

struct Job {
  Urgency urgency{};  // of the current part
  Time nominal{};
  Time arrival{};
  Time start{};
  Time deadline{};
  Duration left{};   // execution until the current part ends, with overheads; valid while the job does not run
  Duration later{};  // demand of the parts after the current one
  Duration demand{};
  std::uint64_t number = 0;  // within its task
  std::uint32_t task = 0;
  JobIndex next = no_job;  // the next job of its task, or the next free place
  std::uint32_t part = 0;  // the current one, from 0
  std::uint32_t core = 0;  // where it runs, or ran last; valid if it has started
  std::uint32_t preemptions = 0;
  std::uint32_t migrations = 0;
  bool started = false;
  bool preempted = false;  // and has not continued
};

class JobPool {
 public:
  Job& operator[](JobIndex index) { return jobs_[index]; }
  const Job& operator[](JobIndex index) const { return jobs_[index]; }

  // Adds a job. References to other jobs become invalid.
  JobIndex take(const Job& job) {
    if (free_ == no_job) {
      jobs_.push_back(job);
      return static_cast<JobIndex>(jobs_.size() - 1);
    }
    const JobIndex index = free_;
    free_ = jobs_[index].next;
    jobs_[index] = job;
    return index;
  }

  void give_back(JobIndex index) {
    jobs_[index].next = free_;
    free_ = index;
  }

 private:
  std::vector<Job> jobs_;
  JobIndex free_ = no_job;  // the first free place
};

}  // namespace corelane::sim::multicore
