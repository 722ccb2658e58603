#include "orb/dispatch/cores/sched_deadline_cores.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "orb/os/log.h"
#include "orb/os/machine/core_list.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deadline_class.h"

namespace corelane::dispatch {
namespace {

constexpr os::DeadlineShare some_share{std::chrono::microseconds{100}, std::chrono::milliseconds{100}};

// Returns the kernel's answer to a thread that is bound to the core.
os::DeadlineRefusal try_core(CoreId core) {
  std::atomic<os::DeadlineRefusal> answer{os::DeadlineRefusal::other};
  const auto ask = [&answer]() noexcept {
    answer.store(os::enter_deadline_class(gettid(), some_share), std::memory_order_relaxed);  // relaxed: joined below
    os::leave_deadline_class();
  };
  auto thread = os::start_thread({.name = "cl-probe", .core = core}, ask);
  if (!thread) return os::DeadlineRefusal::other;
  thread->join();
  return answer.load(std::memory_order_relaxed);  // relaxed: joined above
}

os::DeadlineRefusal try_cores(const std::vector<CoreId>& cores) {
  for (const CoreId core : cores)
    if (const auto refusal = try_core(core); refusal != os::DeadlineRefusal::none) return refusal;
  return os::DeadlineRefusal::none;
}

}  // namespace

SchedDeadlineCores::SchedDeadlineCores(const ExecutiveOptions& options) {
  const std::vector<CoreId>& wanted = options.deadline_cores;
  if (options.deadline_policy != DeadlinePolicy::kernel) return;
  if (wanted.empty()) {
    os::log::warn("pool.deadline_policy = kernel does nothing while pool.deadline_cores is none");
    return;
  }
  const std::string fault = options.real_time ? fault_of(wanted) : "pool.real_time is off";
  if (!fault.empty()) {
    domain_.reset();
    os::log::warn("cores " + os::core_list_text(wanted) + " run by SCHED_FIFO levels, not by SCHED_DEADLINE: " + fault);
    return;
  }
  cores_ = wanted;
  for (const CoreId core : cores_) isolations_.emplace_back(core);
  os::log::info("cores " + os::core_list_text(cores_) + " run by SCHED_DEADLINE");
}

// Returns what prevents SCHED_DEADLINE on the cores; "" if nothing does.
std::string SchedDeadlineCores::fault_of(const std::vector<CoreId>& cores) {
  os::DeadlineRefusal refusal = try_cores(cores);
  if (refusal == os::DeadlineRefusal::domain) {
    auto parted = os::CoreDomain::part(cores);
    if (!parted) return std::string(os::text_of(refusal)) + "; " + parted.error();
    domain_ = *std::move(parted);
    refusal = try_cores(cores);
  }
  return refusal == os::DeadlineRefusal::none ? std::string{} : std::string(os::text_of(refusal));
}

}  // namespace corelane::dispatch
