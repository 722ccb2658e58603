// PacedJobs records the response times of an attacked server's tasks, without the time that the machine took from its
// cores.
//
// Threads: note(): the tasks' threads, without a lock. judge(): one thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "orb/base/time.h"
#include "orb/os/clock.h"
#include "orb/rt/current.h"
#include "orb/rt/gap_log.h"
#include "orb/rt/rt.h"
#include "orb/rt/stall_watch.h"

namespace corelane::attack {

class PacedJobs {
 public:
  explicit PacedJobs(core::Orb& orb) : orb_(orb), watch_(cores_of(orb), gaps_, highest) {}

  // Records the calling thread's job when it ends.
  void note() noexcept {
    const rt::Current job = rt::current();
    if (!job) return;
    Slot& slot = slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()];  // relaxed: only a number
    slot.job = {job.task, job.release, os::now()};
    slot.written.store(true, std::memory_order_release);  // PAIR paced.written: release here -> acquire in judge().
  }

  // Returns four numbers about the jobs since the last call:
  // - how many there were
  // - how many ended after their deadline, without the time that the machine took
  // - the most by which one exceeded its task's bound, in us; other programs' real-time threads may run on the same
  //   cores
  // - whether the machine is watched (1); if it is not, lateness proves nothing
  std::string judge() {
    std::map<std::uint64_t, dispatch::TaskReport> tasks;
    for (auto& task : rt::report(orb_).tasks) tasks.emplace(task.task.value, std::move(task));
    std::size_t jobs = 0, late = 0;
    Duration worst{};
    for (Slot& slot : slots_) {
      // PAIR paced.written: acquire here <- release in note(). The job is written.
      if (!slot.written.load(std::memory_order_acquire)) continue;
      const Job job = slot.job;
      slot.written.store(false, std::memory_order_relaxed);  // relaxed: the slot is used again only much later
      const auto task = tasks.find(job.task.value);
      if (task == tasks.end()) continue;  // the task left long ago
      ++jobs;
      const Duration response = job.end - job.release;
      if (response <= task->second.bound) continue;
      const Duration attributed = response - taken_from(job);
      if (attributed > task->second.contract.deadline) ++late;
      worst = std::max(worst, attributed - task->second.bound);
    }
    return std::to_string(jobs) + " " + std::to_string(late) + " " +
           std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(worst).count()) + " " +
           (watch_.watching() ? "1" : "0");
  }

 private:
  struct Job {
    TaskId task;
    Time release, end;
  };
  struct Slot {
    Job job{};
    std::atomic<bool> written{false};
  };

  // Counts gaps on any core, because jobs also pass through the manager's core. Adds the part of each gap that the
  // watch does not see.
  Duration taken_from(const Job& job) const {
    constexpr Duration unseen = rt::StallWatch::interval + rt::StallWatch::usual_wakeup;
    Duration taken = unseen;
    for (const rt::Gap& gap : gaps_.gaps())
      if (gap.cause == rt::GapCause::machine && gap.begin < job.end && gap.begin + gap.length > job.release)
        taken += gap.length + unseen;
    return taken;
  }
  static std::vector<CoreId> cores_of(core::Orb& orb) {
    std::vector<CoreId> cores;
    for (const auto& core : rt::report(orb).cores) cores.push_back(core.core);
    return cores;
  }

  static constexpr int highest = 50;  // io.priority
  core::Orb& orb_;
  std::atomic<std::size_t> next_{0};
  std::vector<Slot> slots_{1 << 16};
  rt::GapLog gaps_{1 << 18};
  rt::StallWatch watch_;
};

}  // namespace corelane::attack
