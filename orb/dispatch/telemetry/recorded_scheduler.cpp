#include "orb/dispatch/telemetry/recorded_scheduler.h"

#include <algorithm>

namespace corelane::dispatch {
namespace {

using sched::Command;
namespace trace = sched::trace;

// Records the answers to the input that was added last, and ends the group. Bound: the answers.
std::span<const Command> with_answers(RecorderRing* ring, std::span<const Command> commands) noexcept {
  if (!ring) return commands;
  const Time at = ring->last();
  for (const Command& command : commands) ring->add(command, at);
  ring->publish();
  return commands;
}

// Records a group of one record.
template <typename T>
void record(RecorderRing* ring, const T& item) noexcept {
  if (!ring) return;
  ring->add(item, ring->last());
  ring->publish();
}

template <typename T>
void begin(RecorderRing* ring, const T& input) noexcept {
  if (ring) ring->add(input, ring->last());
}

void begin(RecorderRing* ring, const sched::Fact& fact) noexcept {
  if (ring) ring->add(fact);
}

}  // namespace

void RecordedScheduler::allow_early(bool allowed) noexcept {
  record(ring_, trace::EarlyAllowed{allowed});
  scheduler_.allow_early(allowed);
}

bool RecordedScheduler::add(TaskId task, const Contract& contract, Priority priority) noexcept {
  record(ring_, trace::TaskAdded{task, contract, priority});
  return scheduler_.add(task, contract, priority);
}

std::span<const Command> RecordedScheduler::join(Time now, TaskId task, const Contract& contract,
                                                 Priority priority) noexcept {
  begin(ring_, trace::JoinAsked{now, task, contract, priority});
  return with_answers(ring_, scheduler_.join(now, task, contract, priority));
}

bool RecordedScheduler::reprioritize(TaskId task, Priority priority) noexcept {
  record(ring_, trace::PrioritySet{task, priority});
  return scheduler_.reprioritize(task, priority);
}

std::span<const Command> RecordedScheduler::decide(const sched::Fact& fact) noexcept {
  begin(ring_, fact);
  return with_answers(ring_, scheduler_.decide(fact));
}

std::span<const Command> RecordedScheduler::vacate(Time now, TaskId task) noexcept {
  begin(ring_, trace::VacateAsked{now, task});
  return with_answers(ring_, scheduler_.vacate(now, task));
}

std::span<const Command> RecordedScheduler::dismiss(Time now, TaskId task) noexcept {
  begin(ring_, trace::DismissAsked{now, task});
  return with_answers(ring_, scheduler_.dismiss(now, task));
}

sched::ScheduledTask RecordedScheduler::take(TaskId task) noexcept {
  record(ring_, trace::TaskTaken{task});
  return scheduler_.take(task);
}

std::span<const Command> RecordedScheduler::put(Time now, const sched::ScheduledTask& task) noexcept {
  begin(ring_, trace::TaskPut{now, task});
  return with_answers(ring_, scheduler_.put(now, task));
}

void RecordedScheduler::started(Time at, JobId job, TaskId task) noexcept {
  record(ring_, trace::Started{at, job, task});
}

void RecordedScheduler::ended(const trace::Missed& job) noexcept {
  if (!ring_ || job.at <= job.deadline) return;
  record(ring_, job);
  ring_->note_miss();
}

void RecordedScheduler::blocked(Time at, JobId job, TaskId task, Duration waited) noexcept {
  record(ring_, trace::Blocked{at, job, task, waited});
}

void RecordedScheduler::overslept(Time at, JobId job, TaskId task, Duration slept) noexcept {
  record(ring_, trace::Overslept{at, job, task, slept});
}

void RecordedScheduler::turned_away(Time at, JobId job, TaskId task, sched::RefusalCode reason) noexcept {
  record(ring_, trace::TurnedAway{at, job, task, reason});
}

std::span<const Command> RecordedManager::decide(const sched::Fact& fact) noexcept {
  begin(ring_, fact);
  return with_answers(ring_, manager_.decide(fact));
}

void RecordedManager::set_capacity(CoreId core, sched::Ppm capacity) noexcept {
  record(ring_, trace::CapacitySet{core, capacity});
  manager_.set_capacity(core, capacity);
}

// The Manager counts loads past its limit as one, whatever they are. So it is enough to record one more than the limit.
void RecordedManager::set_interference(CoreId core, std::span<const sched::PlatformLoad> loads) noexcept {
  const std::size_t count = std::min(loads.size(), sched::max_interference + 1);
  begin(ring_, trace::InterferenceSet{core, static_cast<std::uint32_t>(count)});
  for (const sched::PlatformLoad& load : loads.first(count)) begin(ring_, trace::InterferenceLoad{load});
  if (ring_) ring_->publish();
  manager_.set_interference(core, loads);
}

void RecordedManager::set_closed(CoreId core, bool closed) noexcept {
  record(ring_, trace::ClosedSet{core, closed});
  manager_.set_closed(core, closed);
}

void RecordedManager::set_repack(bool allowed) noexcept {
  record(ring_, trace::RepackSet{allowed});
  manager_.set_repack(allowed);
}

void RecordedManager::name(TaskId task, std::string_view text) noexcept {
  record(ring_, trace::Named::make(task, text));
}

}  // namespace corelane::dispatch
