#include "orb/dispatch/inline/inline_tasks.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "orb/base/errors.h"
#include "orb/base/peer.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/current.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/miss_log.h"
#include "orb/dispatch/tasks/task_account.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/privileges.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deferral.h"

namespace corelane::dispatch {
namespace {

// Returns why a contract is refused although nothing is analysed: it is invalid, or asks for an overrun policy that
// this mode does not have.
std::optional<sched::RefusalCode> fault_in(const Contract& contract) noexcept {
  if (!is_sound(contract)) return sched::RefusalCode::bad_contract;
  if (contract.on_overrun != OverrunPolicy::report) return sched::RefusalCode::overrun_policy;
  return std::nullopt;
}

}  // namespace

struct InlineTasks::Task {
  Task(TaskId task, const Contract& task_contract, PeerId task_owner, std::string task_label, CoreId task_core,
       TaskEvents& events)
      : id(task),
        contract(task_contract),
        owner(task_owner),
        label(std::move(task_label)),
        core(task_core),
        account(id, contract) {
    account.tell_events_to(&events);
  }

  sched::Rank rank() const noexcept {
    return {
        .urgency = (contract.deadline - contract.jitter).count(), .importance = contract.importance, .age = id.value};
  }
  // Counts the job that has ended, and tells of it if it was late or exceeded the contract.
  void add(const JobContext& context, const TaskAccount::Ended& ended) noexcept {
    const os::LockGuard lock(mutex);
    account.add(context, ended);
  }

  // Constant.
  const TaskId id;
  const Contract contract;
  const PeerId owner;
  const std::string label;
  const CoreId core;  // no_core: the task runs where its requests are read

  std::atomic<int> level{0};  // its priority; changes when other tasks are added

  os::PiMutex mutex;  // jobs of one task may run at the same time
  TaskAccount account CORELANE_GUARDED_BY(mutex);
};

namespace {

template <typename Task>
TaskReport report_of(Task& task, bool real_time, bool gone) {
  TaskReport report{.task = task.id,
                    .label = task.label,
                    .owner = task.owner,
                    .contract = task.contract,
                    .core = task.core,
                    .priority = Priority{task.level.load(std::memory_order_relaxed)},  // relaxed: a report
                    .bound = {}};
  report.latest_misses.reserve(MissLog::capacity);  // before the lock: a job may wait for it
  const os::LockGuard lock(task.mutex);
  task.account.statistics().copy_to(report);
  report.real_time = real_time;
  report.gone = gone;
  return report;
}

}  // namespace

InlineTasks::InlineTasks(const ExecutiveOptions& options)
    : max_tasks_(options.max_tasks),
      peer_tasks_(peer_tasks_of(options)),
      natives_{.lowest = options.lowest_native, .highest = options.highest_native},
      real_time_(options.real_time),
      cores_(options.follower_cores),
      allocator_(*options.allocation, cores_.size()),
      housekeeper_(options.recorder.runtime_directory, options.max_tasks, natives_, real_time_ && os::privileges().fifo,
                   events, [this] { return report(); }) {
  tasks_.reserve(max_tasks_);
  levels_.reserve(max_tasks_);
}

InlineTasks::~InlineTasks() = default;

Expected<void> InlineTasks::start(std::size_t stack) {
  if (auto started = internal_jobs_.start(stack); !started) return started;
  return housekeeper_.start(stack);
}

Pushed InlineTasks::submit(JobPtr& job) noexcept {
  {
    const os::LockGuard lock(mutex_);
    if (stopped_) return Pushed::closed;
  }
  if (job->is_internal) return internal_jobs_.submit(job);
  // On a thread of the pool the job runs after that thread has passed on the stream.
  if (!defer(job)) begin(std::move(job), RunsOn::caller);
  return Pushed::done;
}

// Moves the job to the list of jobs that this thread runs later; without memory for that, answers it. Returns false if
// this thread runs nothing later.
bool InlineTasks::defer(JobPtr& job) noexcept try {
  os::UniqueFunction<void()> work([this, mine = job.get()] { begin(JobPtr(mine), RunsOn::pool); });
  if (!os::Deferral::defer(work)) return false;
  (void)job.release();
  return true;
} catch (const std::bad_alloc&) {
  std::exchange(job, nullptr)->fail(errors::no_memory);
  return true;
}

void InlineTasks::begin(JobPtr job, RunsOn thread) noexcept {
  if (job->task != no_task) {
    const TaskPtr task = find(job->task, job->owner);
    task ? run(std::move(job), task, thread) : job->fail(errors::task_gone);
  } else if (job->contract) {
    const auto task = add(*job->contract, job->owner, job->label);
    if (task) return run(std::move(job), *task, thread);
    if (const auto* error = std::get_if<Error>(&task.error())) return job->fail(*error);
    job->refuse(std::get<sched::Refusal>(task.error()));
  } else {
    run_ordinary(std::move(job));
  }
}

void InlineTasks::run(JobPtr job, const TaskPtr& task, RunsOn thread) noexcept {
  // The thread moves at the priority at which it read. If the core cannot be used any more, the job runs here.
  if (thread == RunsOn::pool && task->core != no_core && task->core != os::current_core())
    (void)os::bind_this_thread(task->core);
  const JobContext context{.task = task->id,
                           .job = next_job_id(),
                           .core = os::current_core(),
                           .release = job->arrived,
                           .deadline = job->arrived + task->contract.deadline,
                           .budget = task->contract.budget};
  const Priority level{task->level.load(std::memory_order_relaxed)};  // relaxed: the latest that is known
  const os::PriorityScope at(real_time_ ? sched::native_of(level, natives_) : 0);
  const Duration before = os::thread_cpu_time();
  {
    const CurrentJob current{context, nullptr, nullptr};
    const CurrentScope scope(current);
    job->run(context);
  }
  job->finish();
  task->add(context, {.at = os::now(), .used = os::thread_cpu_time() - before});
}

void InlineTasks::run_ordinary(JobPtr job) noexcept {
  const os::PriorityScope below = os::PriorityScope::ordinary();
  job->run({.task = no_task,
            .job = next_job_id(),
            .core = os::current_core(),
            .release = job->arrived,
            .deadline = never,
            .budget = {}});
  best_effort_jobs_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count for reports
  job->finish();
}

void InlineTasks::admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler) {
  {
    const os::LockGuard lock(mutex_);
    if (stopped_) return handler->failed(errors::shutting_down);
  }
  const auto added = add(request.contract, request.owner, request.label);
  if (!added) {
    if (const auto* error = std::get_if<Error>(&added.error())) return handler->failed(*error);
    return handler->refused(std::get<sched::Refusal>(added.error()));
  }
  const Task& task = **added;
  const Priority level{task.level.load(std::memory_order_relaxed)};  // relaxed: a report to the client
  handler->admitted({.task = task.id, .core = task.core, .priority = level, .bound = Duration::zero()});
}

std::optional<sched::Refusal> InlineTasks::barred(const Contract& contract, PeerId owner) const noexcept {
  if (const auto fault = fault_in(contract)) return sched::Refusal{.code = *fault};
  const auto theirs = [&](const TaskPtr& task) { return same_holder(task->owner, owner); };
  if (owner != PeerId{} && peer_tasks_ > 0 &&
      static_cast<std::size_t>(std::ranges::count_if(tasks_, theirs)) >= peer_tasks_)
    return sched::Refusal{.code = sched::RefusalCode::peer_limit,
                          .peer_tasks = static_cast<std::uint32_t>(peer_tasks_)};
  if (tasks_.size() >= max_tasks_)
    return sched::Refusal{.code = sched::RefusalCode::too_many_tasks, .takes_none = max_tasks_ == 0};
  return std::nullopt;
}

Expected<InlineTasks::TaskPtr, NotAdmitted> InlineTasks::add(const Contract& contract, PeerId owner,
                                                             std::string_view label) noexcept try {
  const os::LockGuard lock(mutex_);
  if (const auto why = barred(contract, owner)) {
    ++refused_;
    refusals_.record(label, owner, contract, *why, os::now());
    return NotAdmitted(*why);
  }
  const std::size_t place = cores_.empty() ? 0 : allocator_.core_for(contract);
  const CoreId core = cores_.empty() ? no_core : cores_[place];
  auto task = std::make_shared<Task>(TaskId{last_id_ + 1}, contract, owner, std::string(label), core, events);
  ++last_id_;
  if (core != no_core) allocator_.add(place, contract);
  const auto before_this =
      std::ranges::find_if(tasks_, [&](const TaskPtr& other) { return sched::before(task->rank(), other->rank()); });
  tasks_.insert(before_this, task);
  assign_priorities();
  return task;
} catch (const std::bad_alloc&) {
  return NotAdmitted(errors::no_memory);
}

InlineTasks::TaskPtr InlineTasks::find(TaskId task, PeerId caller) const noexcept {
  const os::LockGuard lock(mutex_);
  const auto place = std::ranges::find_if(tasks_, [&](const TaskPtr& known) { return known->id == task; });
  if (place == tasks_.end()) return nullptr;
  const PeerId owner = (*place)->owner;
  return owner == PeerId{} || owner == caller ? *place : nullptr;
}

void InlineTasks::assign_priorities() noexcept {
  levels_.clear();  // its room is max_tasks
  // relaxed: written under the lock only
  for (const TaskPtr& task : tasks_) levels_.push_back(task->level.load(std::memory_order_relaxed));
  sched::assign_levels(levels_, natives_.task_levels());
  for (std::size_t i = 0; i < tasks_.size(); ++i)
    tasks_[i]->level.store(levels_[i], std::memory_order_relaxed);  // relaxed: a job may run at the level before
}

// Moves the tasks to gone_ one by one: to collect them first would need memory.
template <typename Leaves>
void InlineTasks::remove_if(Leaves leaves) noexcept {
  const os::LockGuard lock(mutex_);
  std::erase_if(tasks_, [&](const TaskPtr& task) CORELANE_REQUIRES(mutex_) {
    if (!leaves(*task)) return false;
    gone_.add(task);
    if (const auto core = std::ranges::find(cores_, task->core); core != cores_.end())
      allocator_.remove(static_cast<std::size_t>(core - cores_.begin()), task->contract);
    return true;
  });
}

void InlineTasks::depart(TaskId task, PeerId owner) noexcept {
  remove_if([&](const Task& known) { return known.id == task && (owner == PeerId{} || known.owner == owner); });
}

void InlineTasks::peer_gone(PeerId peer) noexcept {
  remove_if([&](const Task& known) { return known.owner == peer; });
}

// Closes the source, because a task has no thread of its own that could read it.
void InlineTasks::attach(TaskId, PeerId, std::shared_ptr<JobSource> source) noexcept { source->close(); }

ExecutiveReport InlineTasks::report() const {
  std::vector<TaskPtr> here, gone;
  ExecutiveReport report;
  report.promises = false;
  {
    const os::LockGuard lock(mutex_);
    here = tasks_;
    gone_.for_each([&](const TaskPtr& task) { gone.push_back(task); });
    report.admitted = last_id_;
    report.refused = refused_;
    report.jobs_refused = jobs_refused_.load(std::memory_order_relaxed);  // relaxed: a count
  }
  report.refusals = refusals_.latest();
  const bool real_time = real_time_ && os::privileges().fifo;
  for (const TaskPtr& task : here) report.tasks.push_back(report_of(*task, real_time, false));
  for (const TaskPtr& task : gone) report.tasks.push_back(report_of(*task, real_time, true));
  report.best_effort_jobs = best_effort_jobs_.load(std::memory_order_relaxed);  // relaxed: a count for reports
  return report;
}

void InlineTasks::stop() noexcept {
  {
    const os::LockGuard lock(mutex_);
    stopped_ = true;
  }
  internal_jobs_.stop();
  housekeeper_.stop();
}

}  // namespace corelane::dispatch
