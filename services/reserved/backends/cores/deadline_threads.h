// DeadlineThreads puts threads with a share under SCHED_DEADLINE. The kernel admits a thread by the scheduling domain
// of the core on which it last ran. A thread that has slept since it was moved is refused for that reason. It is tried
// again until it has run.
// Threads: as Backend.
#pragma once

#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/cores/memory_of_threads.h"

namespace corelane::reserved {

class DeadlineThreads {
 public:
  explicit DeadlineThreads(const Host& host) : host_(&host), memory_(host) {}

  struct Given {
    ReservationId id{};
    Process thread{};
    ShareWanted share{};
    std::vector<CoreId> cores{};  // of its set; the thread is already there
    bool has_domain = true;       // whether the set is a scheduling domain
  };
  // Gives the thread its share. Returns a remark if the thread has to run first.
  Done<Remarks> give(const Given& given);
  // Restores the scheduling that the thread had before, if it lives. If the kernel refuses, retry() tries again.
  void take(const Process& thread);
  // Retries threads that had to run first. Returns those that the kernel refused for another reason.
  std::vector<Lost> retry();
  bool is_waiting() const noexcept { return !waiting_.empty(); }

 private:
  bool ran_elsewhere(const Given& given) const;

  const Host* host_;
  ThreadMemory memory_;
  std::vector<Given> waiting_{};
  std::vector<Process> kept_{};  // still have their shares, although these were taken
};

}  // namespace corelane::reserved
