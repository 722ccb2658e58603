#include "orb/sim/multicore/engine.h"

#include <algorithm>
#include <optional>

namespace corelane::sim::multicore {
namespace {

std::size_t count_of(std::int32_t number) { return static_cast<std::size_t>(number); }

}  // namespace

Engine::Engine(const MulticoreOptions& options, std::span<const MulticoreTask> tasks, JobSource& source,
               JobObserver* observer)
    : order_(options.order),
      cluster_size_(static_cast<std::uint32_t>(options.cluster)),
      source_(source),
      observer_(observer),
      tasks_(options, tasks),
      cores_(count_of(options.cores)),
      completions_(cores_.size()),
      releases_(tasks.size()),
      is_touched_(cores_.size() / cluster_size_),
      overheads_(options.overheads, options.seed) {
  clusters_.reserve(is_touched_.size());
  for (std::uint32_t first = 0; first < cores_.size(); first += cluster_size_)
    clusters_.emplace_back(first, cluster_size_);
  for (std::uint32_t task = 0; task < tasks.size(); ++task) ask_source(task);
}

void Engine::run(Time until) {
  for (Time next = next_event(); next <= until && next != never && !stop_.is_due(); next = next_event()) {
    now_ = next;
    complete_due();
    start_due_parts();
    release_due();
    dispatch();
  }
  now_ = std::max(now_, until);
}

Time Engine::next_event() const {
  Time next = never;
  if (!completions_.empty()) next = completions_.top_key();
  if (!releases_.empty()) next = std::min(next, releases_.top_key());
  if (!part_starts_.empty()) next = std::min(next, part_starts_.front().at);
  return next;
}

void Engine::complete_due() {
  while (!completions_.empty() && completions_.top_key() == now_) complete(completions_.top());
}

void Engine::start_due_parts() {
  while (!part_starts_.empty() && part_starts_.front().at == now_) {
    const JobIndex job = part_starts_.front().job;
    std::pop_heap(part_starts_.begin(), part_starts_.end(), is_later);
    part_starts_.pop_back();
    make_ready(job);
  }
}

void Engine::release_due() {
  while (!releases_.empty() && releases_.top_key() == now_) release(releases_.top());
}

// At most one decision for each ready job and one for each that it preempts.
void Engine::dispatch() {
  for (const std::uint32_t cluster : touched_) {
    while (const auto decision = clusters_[cluster].decide()) {
      if (decision->preempts) preempt(decision->core);
      start(decision->job, decision->core);
    }
    is_touched_[cluster] = false;
  }
  touched_.clear();
}

// Queues the next arrival of the task, or removes the task from the queue.
void Engine::ask_source(std::uint32_t task) {
  const std::optional<JobRelease> next = source_.next(task);
  const bool is_queued = releases_.contains(task);
  if (!next) {
    if (is_queued) releases_.remove(task);
    return;
  }
  tasks_[task].next = *next;
  const Time arrival = std::max(now_, next->nominal + std::max(next->delay, Duration::zero()));
  is_queued ? releases_.change(task, arrival) : releases_.push(task, arrival);
}

void Engine::release(std::uint32_t task) {
  TaskState& state = tasks_[task];
  trace_.add(now_, TraceHash::Event::released, task, state.core);
  const Duration demand = std::clamp(state.next.demand, Duration::zero(), longest_demand);
  const JobIndex index = jobs_.take({.nominal = state.next.nominal,
                                     .arrival = now_,
                                     .deadline = state.next.nominal + state.deadline,
                                     .later = demand,
                                     .demand = demand,
                                     .number = state.arrived++,
                                     .task = task});
  if (!state.is_load) interrupt(state.core);
  if (tasks_.append(jobs_, index)) begin_part(index);
  ask_source(task);
}

void Engine::interrupt(std::uint32_t index) {
  const Duration cost = overheads_.charge(OverheadKind::release);
  if (cost == Duration::zero()) return;
  Core& core = cores_[index];
  core.interrupted_until = std::max(core.interrupted_until, now_) + cost;
  if (core.job != no_job) completions_.change(index, completions_.key_of(index) + cost);
}

// Begins the part job.part, at the time that its offset allows.
void Engine::begin_part(JobIndex index) {
  Job& job = jobs_[index];
  const Part& part = tasks_.part(job);
  job.left = tasks_.is_last_part(job) ? job.later : std::min(job.later, part.budget);
  job.later -= job.left;
  const Time earliest = job.nominal + part.offset;
  if (earliest <= now_) return make_ready(index);
  part_starts_.push_back({earliest, job.task, index});
  std::push_heap(part_starts_.begin(), part_starts_.end(), is_later);
}

void Engine::make_ready(JobIndex index) {
  Job& job = jobs_[index];
  const Part& part = tasks_.part(job);
  const std::int64_t deadline = (job.nominal + part.deadline).time_since_epoch().count();
  job.urgency = {order_ == Order::priority ? part.rank : deadline, job.nominal, job.task};
  clusters_[part.cluster].add(index, job.urgency, job.started ? job.core : nowhere);
  touch(part.cluster);
}

void Engine::touch(std::uint32_t cluster) {
  if (is_touched_[cluster]) return;
  is_touched_[cluster] = true;
  touched_.push_back(cluster);
}

void Engine::start(JobIndex index, std::uint32_t core_index) {
  Job& job = jobs_[index];
  Core& core = cores_[core_index];
  job.left += start_overhead(job, core_index);
  if (!job.started) job.start = now_;
  if (job.started && job.core != core_index) ++job.migrations;
  job.started = true;
  job.preempted = false;
  job.core = core_index;
  tasks_[job.task].core = core_index;
  core.job = index;
  core.since = now_;
  completions_.push(core_index, std::max(now_, core.interrupted_until) + job.left);
  trace_.add(now_, TraceHash::Event::dispatched, job.task, core_index);
}

// Returns what it costs to let the job run on the core from now on.
Duration Engine::start_overhead(const Job& job, std::uint32_t core) {
  if (tasks_[job.task].is_load) return {};
  const Duration cost = overheads_.charge(OverheadKind::dispatch);
  if (!job.started) return cost + overheads_.charge(OverheadKind::hop);
  if (job.core != core) return cost + overheads_.charge(OverheadKind::migration);
  return job.preempted ? cost + overheads_.charge(OverheadKind::preemption) : cost;
}

void Engine::preempt(std::uint32_t core) {
  const Time end = completions_.key_of(core);
  const JobIndex index = leave(core);
  Job& job = jobs_[index];
  job.left = end - std::max(now_, cores_[core].interrupted_until);
  job.preempted = true;
  ++job.preemptions;
  make_ready(index);
}

// Takes the job off the core, and counts the time as busy. Returns the job.
JobIndex Engine::leave(std::uint32_t index) {
  Core& core = cores_[index];
  const JobIndex left = core.job;
  const Job& job = jobs_[left];
  completions_.remove(index);
  core.job = no_job;
  core.busy += now_ - core.since;
  if (observer_ != nullptr && core.since < now_)
    observer_->executed({job.task, job.number, CoreId{static_cast<std::int16_t>(index)}, core.since, now_});
  return left;
}

void Engine::complete(std::uint32_t core) {
  const JobIndex index = leave(core);
  const std::uint32_t cluster = core / cluster_size_;
  clusters_[cluster].free(core);
  touch(cluster);
  Job& job = jobs_[index];
  if (job.later == Duration::zero()) return finish(index);
  ++job.part;
  begin_part(index);
}

void Engine::finish(JobIndex index) {
  const Job& job = jobs_[index];
  const std::uint32_t task = job.task;
  ++finished_jobs_;
  tasks_.count(job, now_);
  trace_.add(now_, TraceHash::Event::finished, task, job.core);
  if (observer_ != nullptr)
    observer_->finished({task, job.number, job.nominal, job.arrival, job.start, now_, job.deadline,
                         CoreId{static_cast<std::int16_t>(job.core)}, job.demand, job.preemptions, job.migrations});
  const JobIndex next = tasks_.remove_first(jobs_, task);
  if (next != no_job) begin_part(next);
}

}  // namespace corelane::sim::multicore
