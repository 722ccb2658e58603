// DeadlineThreads: threads that have a share, under SCHED_DEADLINE. The kernel takes a thread in by the scheduling
// domain of the core where it ran last. One that sleeps since before it was moved is refused for that, and asked for
// again until it has run. Threads: as Backend.
#pragma once

#include <string>
#include <vector>

#include "services/reserved/backends/backend.h"
#include "services/reserved/backends/memory_of_threads.h"

namespace corelane::reserved {

class DeadlineThreads {
 public:
  explicit DeadlineThreads(const Host& host) : host_(&host), memory_(host) {}

  struct Given {
    ReservationId id{};
    Process thread{};
    ShareWanted share{};
    std::vector<CoreId> cores{};  // of its set, where it is already
    bool has_domain = true;       // the set is a scheduling domain
  };
  // A remark where the thread has to run first.
  Done<Remarks> give(const Given& given);
  // It is scheduled as it was before, where it lives. What the kernel refuses retry() asks again.
  void take(const Process& thread);
  // Asks for those again that had to run first. Those that are refused for another reason.
  std::vector<Lost> retry();
  bool is_waiting() const noexcept { return !waiting_.empty(); }

 private:
  bool ran_elsewhere(const Given& given) const;

  const Host* host_;
  ThreadMemory memory_;
  std::vector<Given> waiting_{};
  std::vector<Process> kept_{};  // have their shares yet, though they were taken
};

}  // namespace corelane::reserved
