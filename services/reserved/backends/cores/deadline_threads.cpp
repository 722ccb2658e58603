#include "services/reserved/backends/cores/deadline_threads.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "orb/os/log.h"
#include "services/reserved/accounts/core_sets.h"

namespace corelane::reserved {
namespace {

std::string deadline_fault(const Process& thread, int fault) {
  return "SCHED_DEADLINE of thread " + std::to_string(thread.pid) + ": " + errno_text(fault) +
         (fault == EPERM
              ? "; it needs CAP_SYS_NICE, a set of cores with a scheduling domain of its own (of cgroup v1 an "
                "exclusive one right below the hierarchy's root), and a thread that is not bound to some of them"
              : "") +
         (fault == EBUSY ? "; the kernel has promised too much to others (kernel.sched_rt_runtime_us)" : "");
}

}  // namespace

bool DeadlineThreads::ran_elsewhere(const Given& given) const {
  const auto core = host_->processes->last_core(given.thread.pid);
  return core && !holds(given.cores, *core);
}

Done<Remarks> DeadlineThreads::give(const Given& given) {
  if (auto kept = memory_.keep_scheduling(given.thread); !kept) return Unexpected{kept.error()};
  std::erase(kept_, given.thread);
  const bool elsewhere = ran_elsewhere(given);  // before set_deadline(), since the thread may run meanwhile
  const int fault = host_->processes->set_deadline(given.thread.pid, given.share.budget, given.share.period);
  if (fault == 0) return Remarks{};
  if (fault != EPERM || !elsewhere || !given.has_domain) return Unexpected{deadline_fault(given.thread, fault)};
  waiting_.push_back(given);
  return Remarks{"thread " + std::to_string(given.thread.pid) +
                 " sleeps: it is under SCHED_DEADLINE a moment after it has run on its core for the first time"};
}

void DeadlineThreads::take(const Process& thread) {
  if (thread.pid == 0) return;
  std::erase_if(waiting_, [&](const Given& given) { return given.thread == thread; });
  const int fault = memory_.put_back_scheduling(thread);
  if (fault == 0) return;
  kept_.push_back(thread);
  os::log::warn("thread " + std::to_string(thread.pid) +
                " keeps its share until the kernel takes it back: " + errno_text(fault));
}

std::vector<Lost> DeadlineThreads::retry() {
  std::erase_if(kept_, [&](const Process& thread) { return memory_.put_back_scheduling(thread) == 0; });
  std::vector<Lost> lost;
  std::erase_if(waiting_, [&](const Given& given) {
    if (!is_same(*host_->processes, given.thread)) return true;
    if (ran_elsewhere(given)) return false;
    const int fault = host_->processes->set_deadline(given.thread.pid, given.share.budget, given.share.period);
    if (fault != 0) lost.push_back({given.id, deadline_fault(given.thread, fault)});
    return true;
  });
  return lost;
}

}  // namespace corelane::reserved
