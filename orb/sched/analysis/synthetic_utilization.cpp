#include "orb/sched/analysis/synthetic_utilization.h"

#include <algorithm>
#include <utility>

namespace corelane::sched {

std::optional<std::string> fault_of(const AperiodicPolicy& policy) {
  if (valid(policy)) return std::nullopt;
  if (policy.admission == When::never)
    return "admission never is no policy; choose admission per task (reserve once) or per job (ask for each job)";
  return "admission per task with idle resetting per job contradicts itself: what a task has reserved for good would "
         "be taken back when its job is done; choose admission per job, or idle resetting per task (aperiodic jobs "
         "only)";
}

SyntheticUtilization::SyntheticUtilization(std::size_t processors, SoundAperiodicPolicy policy, std::size_t capacity)
    : policy_(policy.axes()), load_(processors) {
  entries_.reserve(capacity);
  homes_.reserve(capacity);
}

std::optional<std::span<const std::size_t>> SyntheticUtilization::arrive(Time now, JobId job, TaskId task,
                                                                         Duration deadline,
                                                                         std::span<const Stage> stages) noexcept {
  expire(now);
  if (!sound(deadline, stages)) return std::nullopt;
  if (Entry* reserved = reservation_of(task)) {
    if (!go_on(*reserved, now, job, deadline, stages)) return std::nullopt;
    return answer(*reserved);
  }
  const bool periodic = task != no_task;
  Home* home = periodic && policy_.load_balancing == When::per_task ? home_of(task) : nullptr;
  Entry entry{.job = job, .task = task, .expires = now + deadline};
  entry.reserved = periodic && policy_.admission == When::per_task;
  place(entry, deadline, stages, home);
  if (!admit(entry)) return std::nullopt;
  if (periodic && home == nullptr && policy_.load_balancing == When::per_task && homes_.size() < homes_.capacity()) {
    homes_.push_back({.task = task});
    for (std::size_t i = 0; i < entry.count; ++i) homes_.back().processors[i] = entry.parts[i].processor;
  }
  return answer(entry);
}

bool SyntheticUtilization::sound(Duration deadline, std::span<const Stage> stages) const noexcept {
  if (deadline <= Duration::zero() || stages.empty() || stages.size() > most_stages) return false;
  return std::all_of(stages.begin(), stages.end(), [&](const Stage& stage) {
    return stage.budget > Duration::zero() && !stage.processors.empty() &&
           std::all_of(stage.processors.begin(), stage.processors.end(),
                       [&](std::size_t processor) { return processor < load_.size(); });
  });
}

SyntheticUtilization::Entry* SyntheticUtilization::reservation_of(TaskId task) noexcept {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.reserved && e.task == task; });
  return found == entries_.end() ? nullptr : &*found;
}

SyntheticUtilization::Home* SyntheticUtilization::home_of(TaskId task) noexcept {
  const auto found = std::find_if(homes_.begin(), homes_.end(), [&](const Home& h) { return h.task == task; });
  return found == homes_.end() ? nullptr : &*found;
}

void SyntheticUtilization::place(Entry& entry, Duration deadline, std::span<const Stage> stages,
                                 const Home* home) noexcept {
  entry.count = stages.size();
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const Stage& stage = stages[i];
    const bool balanced = policy_.load_balancing != When::never && home == nullptr;
    const std::size_t processor = home != nullptr ? home->processors[i]
                                  : balanced      ? least_loaded(stage.processors)
                                                  : stage.processors.front();
    entry.parts[i] = {.processor = processor, .share = share_of(stage.budget.count(), deadline.count())};
  }
}

std::size_t SyntheticUtilization::least_loaded(std::span<const std::size_t> processors) const noexcept {
  return *std::min_element(processors.begin(), processors.end(),
                           [&](std::size_t a, std::size_t b) { return load_[a] < load_[b]; });
}

void SyntheticUtilization::Entry::restart() noexcept {
  done = 0;
  for (Part& part : parts) part.peak = 0;
}

// Accepts another job of a task with a reservation. With load balancing per job, the job moves to other processors if
// the bound allows it. Otherwise it stays.
bool SyntheticUtilization::go_on(Entry& entry, Time now, JobId job, Duration deadline,
                                 std::span<const Stage> stages) noexcept {
  if (stages.size() != entry.count) return false;
  entry.job = job;
  entry.expires = now + deadline;
  entry.restart();
  if (policy_.load_balancing != When::per_job) return true;
  const Entry before = entry;
  add(before, -1);
  place(entry, deadline, stages, nullptr);
  add(entry, 1);
  if (all_hold()) return note_peaks(), true;
  add(entry, -1);
  entry = before;
  add(entry, 1);
  return true;
}

bool SyntheticUtilization::admit(const Entry& entry) noexcept {
  if (entries_.size() == entries_.capacity()) return false;
  entries_.push_back(entry);
  add(entry, 1);
  if (all_hold()) return note_peaks(), true;
  add(entry, -1);
  entries_.pop_back();
  return false;
}

Share SyntheticUtilization::counted(const Entry& entry, std::size_t stage) const noexcept {
  const Part& part = entry.parts[stage];
  if (stage < entry.done) return part.peak;
  return stage == entry.done ? std::max(part.peak, load_[part.processor]) : load_[part.processor];
}

// Only admissions raise a utilization, so no higher value is missed.
void SyntheticUtilization::note_peaks() noexcept {
  for (Entry& entry : entries_)
    if (entry.done < entry.count) entry.parts[entry.done].peak = counted(entry, entry.done);
}

bool SyntheticUtilization::holds(const Entry& entry) const noexcept {
  std::array<std::int64_t, most_stages> ppm{};
  for (std::size_t i = 0; i < entry.count; ++i) ppm[i] = ppm_of(counted(entry, i));
  return aperiodic_bound(std::span(ppm).first(entry.count));
}

bool SyntheticUtilization::all_hold() const noexcept {
  return std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return holds(entry); });
}

void SyntheticUtilization::add(const Entry& entry, Share sign) noexcept {
  for (std::size_t i = 0; i < entry.count; ++i) load_[entry.parts[i].processor] += sign * entry.parts[i].share;
}

std::span<const std::size_t> SyntheticUtilization::answer(const Entry& entry) noexcept {
  for (std::size_t i = 0; i < entry.count; ++i) answer_[i] = entry.parts[i].processor;
  return std::span(answer_).first(entry.count);
}

void SyntheticUtilization::completed(JobId job) noexcept {
  for (Entry& entry : entries_) {
    if (entry.job != job || entry.done == entry.count) continue;
    if (++entry.done == entry.count) continue;
    Part& next = entry.parts[entry.done];
    next.peak = load_[next.processor];
  }
}

void SyntheticUtilization::idle(std::size_t processor) noexcept {
  if (policy_.idle_resetting == When::never) return;
  for (Entry& entry : entries_) {
    const bool periodic = entry.task != no_task;
    if (entry.reserved || (periodic && policy_.idle_resetting != When::per_job)) continue;
    for (Part& part : std::span(entry.parts).first(entry.done))
      if (part.processor == processor) load_[processor] -= std::exchange(part.share, 0);
  }
}

void SyntheticUtilization::departed(TaskId task) noexcept {
  std::erase_if(homes_, [&](const Home& home) { return home.task == task; });
  for (Entry& entry : entries_)
    if (entry.task == task) entry.reserved = false;
}

void SyntheticUtilization::expire(Time now) noexcept {
  std::erase_if(entries_, [&](const Entry& entry) {
    const bool over = !entry.reserved && entry.expires <= now;
    if (over) add(entry, -1);
    return over;
  });
}

}  // namespace corelane::sched
