// TaskHistory remembers the latest tasks that ended: their last reports, and why a task ended that no client asked to
// end. A client that still sends jobs of such a task is told the reason.
//
// Threads: the holder of the manager's lock. Nothing allocates after construction. Bound: `remembered` of each kind.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "orb/base/ids.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/recent.h"
#include "orb/sched/refusal.h"

namespace corelane::dispatch {

class TaskHistory {
 public:
  static constexpr std::size_t remembered = 256;

  // Keeps the last report of a task that has left.
  void add(std::shared_ptr<const TaskReport> last) noexcept {
    refused_ += last->refused;
    reports_.add(std::move(last));
  }
  // Notes why a task ends although its client did not ask for that.
  void note_end(TaskId task, sched::RefusalCode why) noexcept { ends_.add({task, why}); }
  // Returns why a job of the task is refused: the task's end if it was noted, `otherwise` if not.
  sched::Refusal reason_for(TaskId task, const sched::Refusal& otherwise) const noexcept {
    sched::Refusal reason = otherwise;
    ends_.for_each([&](const End& end) {
      if (end.task == task) reason = {.code = end.why};
    });
    return reason;
  }

  // Calls see(report) for each remembered report, the oldest first.
  template <typename See>
  void for_each(See see) const {
    reports_.for_each(see);
  }
  // Returns how many jobs were refused by the workers of all tasks that have left.
  std::uint64_t refused() const noexcept { return refused_; }

 private:
  struct End {
    TaskId task;
    sched::RefusalCode why = sched::RefusalCode::core_lost;
  };

  Recent<std::shared_ptr<const TaskReport>> reports_{remembered};
  Recent<End> ends_{remembered};
  std::uint64_t refused_ = 0;
};

}  // namespace corelane::dispatch
