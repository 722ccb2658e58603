#include "orb/sched/admission/core_task_set.h"

#include <cassert>
#include <limits>
#include <utility>

namespace corelane::sched {
namespace {

constexpr int step_limit = 20'000;         // evaluations for one task; Effort bounds the sum over all tasks
constexpr int busy_limit = 4'096;          // evaluations for a busy period; beyond that a bound is used
constexpr int explain_step_limit = 2'000;  // evaluations to find out by how much a deadline would be missed
constexpr Ticks explain_horizon = 64;      // as a multiple of the deadline; a longer response counts as endless

Interference as_interference(const PlatformLoad& load) noexcept {
  return {load.budget.count(), load.period.count(), load.jitter.count()};
}

bool is_load(const PlatformLoad& load) noexcept {
  return load.period > Duration::zero() && load.budget > Duration::zero();
}

}  // namespace

Demand demand_of(const Contract& c, std::uint64_t age, bool charges) noexcept {
  Demand demand{.budget = c.budget.count(),
                .suspension = c.suspension.count(),
                .period = c.period.count(),
                .deadline = c.deadline.count(),
                .jitter = c.jitter.count(),
                .share = share_of(c.budget.count(), c.period.count()),
                .rank = {.urgency = (c.deadline - c.jitter).count(), .importance = c.importance, .age = age},
                .enforced = is_enforced(c, charges),
                .ahead = c.on_overrun == OverrunPolicy::report,
                .served = task_server_of(c),
                .intensive = is_intensive(c)};
  for (std::size_t i = 0; i < max_uses; ++i) {
    if (c.uses[i].resource == no_resource) continue;
    demand.sections[i] = {c.uses[i].resource, c.uses[i].longest.count()};
    demand.locks = true;
    if (demand.enforced) demand.overshoot = std::max(demand.overshoot, demand.sections[i].longest);
  }
  return demand;
}

bool CoreModel::set(const PlatformLoad& own, std::span<const PlatformLoad> others) noexcept {
  std::size_t count = 0;
  bool changed = false;
  Share share = 0;
  Ticks longest = own.blocking.count();
  const auto charge = [&](const PlatformLoad& load) {
    longest = std::max(longest, load.blocking.count());
    if (!is_load(load)) return;
    share += share_of(load.budget.count(), load.period.count());
    const Interference charged = as_interference(load);
    if (count == above.size()) above.push_back({});
    changed |= std::exchange(above[count++], charged) != charged;
  };
  charge(own);
  for (const PlatformLoad& other : others.first(std::min(others.size(), max_interference))) charge(other);
  if (others.size() > max_interference) share += whole_share;
  changed |= count < above.size() || platform != share || blocking != longest;
  platform = share;
  blocking = longest;
  above.resize(count);
  return changed;
}

bool Verdict::closer_than(const Verdict& other) const noexcept {
  if (response == endless || other.response == endless) return response != endless && other.response == endless;
  return Wide{response - deadline} * other.deadline < Wide{other.response - other.deadline} * deadline;
}

void CoreTaskSet::reserve(std::size_t count) {
  members_.reserve(count);
  levels_.reserve(count);
  usages_.reserve(count + max_interference + 2);
  terms_.reserve(count + max_interference + 2);
  bounds_.reserve(count);
  above_.reserve(count + max_interference + 1);
  locks_.reserve(count * max_uses);
  by_deadline_.reserve(count, max_interference + 1);
}

const Member* CoreTaskSet::find(std::uint32_t slot) const noexcept {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const Member& m) { return m.slot == slot; });
  return found == members_.end() ? nullptr : &*found;
}
Member* CoreTaskSet::find(std::uint32_t slot) noexcept {
  return const_cast<Member*>(static_cast<const CoreTaskSet*>(this)->find(slot));
}

void CoreTaskSet::clear() noexcept {
  members_.clear();
  load_ = intensive_load_ = 0;
}

void CoreTaskSet::copy_from(const CoreTaskSet& other) noexcept {
  assert(other.members_.size() <= members_.capacity());
  members_.assign(other.members_.begin(), other.members_.end());
  load_ = other.load_;
  intensive_load_ = other.intensive_load_;
}

void CoreTaskSet::remove(std::uint32_t slot, bool at_idle) noexcept {
  const Member* member = find(slot);
  if (member == nullptr) return;
  load_ -= member->demand.share;
  if (member->demand.intensive) intensive_load_ -= member->demand.share;
  const auto index = static_cast<std::size_t>(member - members_.data());
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(index));
  for (Member& rest : members_) {
    rest.windows = {};  // R stays an upper bound, but w(q) is no longer a valid start
    if (rest.last >= index && rest.last > 0) --rest.last;
    if (at_idle) rest.last = 0;
  }
  tie();
}

// Updates Member::last. Tasks that share a level delay each other. New levels can separate two of them within a busy
// period in which one has already delayed the other. A new task could then delay it on top of that. So such tasks count
// as tied until the core was idle. To be safe, this is also true for tasks that are placed between them.
void CoreTaskSet::tie() noexcept {
  std::size_t last = members_.size();
  for (std::size_t i = members_.size(); i > 0; --i) {
    Member& member = members_[i - 1];
    if (i == members_.size() || members_[i].level != member.level) last = i - 1;
    member.last = std::max(member.last, last);
  }
}

bool CoreTaskSet::has_ties() const noexcept {
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (members_[i].last > i) return true;
  return false;
}

bool CoreTaskSet::locks() const noexcept {
  return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.demand.locks; });
}

// Returns the index of the most urgent member that uses the resource, or the number of members if none uses it.
std::size_t CoreTaskSet::first_user(ResourceId resource) const noexcept {
  const auto uses = [&](const Member& member) {
    const auto& sections = member.demand.sections;
    return std::any_of(sections.begin(), sections.end(), [&](const auto& s) { return s.resource == resource; });
  };
  return static_cast<std::size_t>(std::find_if(members_.begin(), members_.end(), uses) - members_.begin());
}

int CoreTaskSet::ceiling_of(ResourceId resource) const noexcept {
  const std::size_t user = first_user(resource);
  return user < members_.size() ? members_[user].level : 0;
}

bool CoreTaskSet::shares_resources(std::uint32_t slot) const noexcept {
  const Member* self = find(slot);
  if (self == nullptr || !self->demand.locks) return false;
  const auto is_used_by = [](const Demand& demand, ResourceId resource) {
    return std::any_of(demand.sections.begin(), demand.sections.end(),
                       [&](const Demand::Section& s) { return s.resource == resource; });
  };
  return std::any_of(members_.begin(), members_.end(), [&](const Member& other) {
    return &other != self &&
           std::any_of(self->demand.sections.begin(), self->demand.sections.end(), [&](const auto& s) {
             return s.resource != no_resource && is_used_by(other.demand, s.resource);
           });
  });
}

bool CoreTaskSet::renumber(int levels) noexcept {
  levels_.clear();
  for (const Member& member : members_) levels_.push_back(member.level);
  const bool changed = assign_levels(levels_, levels);
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].level = levels_[i];
  return changed;
}

Verdict CoreTaskSet::add(const CoreModel& core, const Member& candidate, const AdmissionTest& test,
                         int levels) noexcept {
  begin_add(core, candidate, test, levels);
  int unlimited = std::numeric_limits<int>::max();
  step(unlimited);
  return verdict();
}

void CoreTaskSet::begin_add(const CoreModel& core, const Member& candidate, const AdmissionTest& test, int levels,
                            const Effort& effort) noexcept {
  assert(members_.size() < members_.capacity());
  const auto place = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
    return before(candidate.demand.rank, member.demand.rank);
  });
  const auto first = static_cast<std::size_t>(place - members_.begin());
  members_.insert(place, candidate);
  for (Member& member : members_)
    if (member.last >= first) ++member.last;
  members_[first].last = first;
  load_ += candidate.demand.share;
  if (candidate.demand.intensive) intensive_load_ += candidate.demand.share;
  renumber(levels);
  tie();
  if (!test.promises) return end_pass({.fits = true});
  if (load_ + core.platform > core.capacity)
    return end_pass({.response = endless, .deadline = candidate.demand.deadline});
  if (core.order == CoreOrder::served) {
    if (!servers_fit(core)) return end_pass({.response = endless, .deadline = candidate.demand.deadline});
    return begin_by_deadline(core, EdfPass::Goal::deadlines, effort);
  }
  if (core.order == CoreOrder::deadline) {
    // Ceilings are priorities, so they have no effect here. Jobs that share a level would not run in the order of their
    // deadlines.
    if (candidate.demand.locks || members_.size() > static_cast<std::size_t>(levels))
      return end_pass({.response = endless, .deadline = candidate.demand.deadline});
    return begin_by_deadline(core, EdfPass::Goal::deadlines, effort);
  }
  if (test.holds != nullptr) return decide_by(test, core, candidate.demand.deadline);
  // If tasks share levels, new groups of them can add interference to any task. If tasks lock resources, the new task
  // can block the tasks above it. In both cases all tasks are analyzed, without their earlier results.
  const bool cold = has_ties() || locks();
  begin_pass(core, cold ? 0 : first, candidate.demand.budget, cold, effort);
}

// Decides by the test alone, which computes no responses. So each member's deadline is the bound of its response until
// begin_refresh(). `deadline` is that of the new task.
void CoreTaskSet::decide_by(const AdmissionTest& test, const CoreModel& core, Ticks deadline) noexcept {
  const std::span<const Usage> tasks = rate_monotonic_tasks(core);
  pass_ = {.core = &core, .loose = true, .owed = 1 + static_cast<int>(tasks.size() + locks_.size()) / 8};
  if (!test.holds(tasks)) return end_pass({.response = endless, .deadline = deadline});
  for (Member& member : members_) member.response = member.demand.deadline, member.windows = {};
  end_pass({.fits = true});
}

// Returns whether each task has a server, and the shares of the servers fit into the capacity together with the load
// above them.
bool CoreTaskSet::servers_fit(const CoreModel& core) const noexcept {
  Share sum = core.platform;
  for (const Member& member : members_) {
    const Reservation& server = member.demand.served;
    if (server.budget == Duration::zero()) return false;  // the new task has no server
    sum += share_of(server.budget.count(), server.period.count());
  }
  return sum <= core.capacity;
}

void CoreTaskSet::begin_refresh(const CoreModel& core) noexcept {
  if (core.order == CoreOrder::served) {
    for (Member& member : members_) member.response = bound_by_server(member.demand);
    return end_pass({.fits = true});
  }
  if (core.order == CoreOrder::deadline) return begin_by_deadline(core, EdfPass::Goal::responses, {});
  begin_pass(core, 0, 0, true, {});
  pass_.refreshing = true;
}

void CoreTaskSet::begin_by_deadline(const CoreModel& core, EdfPass::Goal goal, const Effort& effort) noexcept {
  pass_ = {.core = &core, .done = false, .left = effort.exact};
  goal_ = goal;
  by_deadline_.clear();
  for (const Member& member : members_)
    by_deadline_.add(core.order == CoreOrder::served ? by_server(member.demand) : by_deadline(member.demand));
  by_deadline_.begin({.above = core.above, .blocking = core.blocking}, goal,
                     goal == EdfPass::Goal::deadlines ? step_limit : explain_step_limit);
}

// Ends the analysis by deadlines. Only Goal::responses computes responses. With the other goal, each member's deadline
// is the bound of its response.
void CoreTaskSet::end_by_deadline() noexcept {
  if (goal_ == EdfPass::Goal::responses) {
    for (std::size_t i = 0; i < members_.size(); ++i)
      members_[i].response =
          std::min(by_deadline_.response(i) + members_[i].demand.jitter, members_[i].demand.deadline);
    return end_pass({.fits = true});
  }
  const DemandVerdict& verdict = by_deadline_.verdict();
  if (verdict.kind == DemandVerdict::Kind::holds) {
    for (Member& member : members_) member.response = member.demand.deadline;
    return end_pass({.fits = true});
  }
  const Member& loser = members_[by_deadline_.loser()];
  const bool undecided = verdict.kind == DemandVerdict::Kind::undecided;
  const Ticks late = verdict.at > 0 ? verdict.demand - verdict.at : endless;
  end_pass({.undecided = undecided,
            .loser = loser.slot,
            .response = add_up(loser.demand.deadline, late),
            .deadline = loser.demand.deadline});
}

// Starts the analysis at the member `first`. The new task does not affect the members before it.
void CoreTaskSet::begin_pass(const CoreModel& core, std::size_t first, Ticks added, bool cold,
                             const Effort& effort) noexcept {
  gather(core);
  pass_ = {.core = &core, .index = first, .added = added, .cold = cold, .done = false, .left = effort.exact};
  if (first < members_.size()) members_[first].windows = {};  // the new task: nothing is known yet
  if (effort.bounds_first && take_bounds(first)) end_pass({.fits = true});
}

// Ends the analysis, also one that was decided before it began.
void CoreTaskSet::end_pass(const Verdict& verdict) noexcept {
  pass_.verdict = verdict;
  pass_.done = true;
}

// Returns whether the upper bounds of the responses meet the deadlines of all members from `first` on. If so, the
// bounds become their responses.
bool CoreTaskSet::take_bounds(std::size_t first) noexcept {
  pass_.owed += 1 + static_cast<int>(above_.size() + locks_.size()) / 16;
  terms_.assign(1, {});
  for (const Interference& one : above_) (terms_.emplace_back(terms_.back())) += bound_terms(one);
  bounds_.clear();
  for (std::size_t i = first; i < members_.size(); ++i) {
    const Member& member = members_[i];
    const Ticks blocking = blocking_of(i);
    const std::size_t own = pass_.core->above.size() + i;
    BoundTerms above = terms_[pass_.core->above.size() + member.last + 1];
    above -= bound_terms(above_[own]);
    bounds_.push_back(response_upper_bound(member.demand.as_analysed(pass_.core->blocking + blocking), above));
    const bool waits_anew = member.demand.suspension > 0 && blocking > 0;  // see begin_member()
    if (bounds_.back() > member.demand.deadline || waits_anew) return false;
  }
  for (std::size_t i = first; i < members_.size(); ++i)
    members_[i].response = bounds_[i - first], members_[i].windows = {};
  return pass_.loose = true;
}

bool CoreTaskSet::step(int& evaluations) noexcept {
  if (!pass_.done && pass_.core->order != CoreOrder::priority && !step_by_deadline(evaluations)) return false;
  while (!pass_.done) {
    if (!pass_.searching) begin_member();
    if (!pass_.searching) continue;
    const int allowed = std::min(evaluations, pass_.left);
    int left = allowed;
    const bool found = pass_.response.step(left);
    evaluations -= allowed - left;
    pass_.left -= allowed - left;
    pass_.spent += allowed - left;
    if (found)
      end_member();
    else if (pass_.left <= 0)
      run_out();
    else
      return false;
  }
  pass_.spent += pass_.owed;
  evaluations -= std::exchange(pass_.owed, 0);
  return true;
}

bool CoreTaskSet::step_by_deadline(int& evaluations) noexcept {
  const int allowed = std::min(evaluations, pass_.left);
  int left = allowed;
  const bool found = by_deadline_.step(left);
  evaluations -= allowed - left;
  pass_.left -= allowed - left;
  pass_.spent += allowed - left;
  if (!found && pass_.left > 0) return false;
  if (!found) by_deadline_.cut_short(), pass_.owed += 1 + static_cast<int>(members_.size()) / 64;
  end_by_deadline();
  return true;
}

// The exact evaluations are used up. Uses bounds for the remaining members.
void CoreTaskSet::run_out() noexcept {
  std::swap(above_[pass_.own], above_[pass_.end]);
  pass_.searching = false;
  const Member& member = members_[pass_.index];
  const Ticks deadline = member.demand.deadline;
  if (pass_.refreshing) return end_pass({.fits = true});
  if (pass_.explaining) return end_pass({.loser = member.slot, .response = endless, .deadline = deadline});
  if (take_bounds(pass_.index)) return end_pass({.fits = true});
  const Member& loser = members_[pass_.index + bounds_.size() - 1];
  end_pass({.undecided = true, .loser = loser.slot, .response = endless, .deadline = loser.demand.deadline});
}

void CoreTaskSet::begin_member() noexcept {
  if (pass_.index == members_.size()) return end_pass({.fits = true});
  Member& member = members_[pass_.index];
  const Ticks deadline = member.demand.deadline;
  // Each time the task wakes, another section can block it, and the number of its wake-ups is unknown.
  if (member.demand.suspension > 0 && blocking_of(pass_.index) > 0)
    return end_pass({.loser = member.slot, .response = endless, .deadline = deadline});
  if (pass_.cold) member.windows = {};
  search({.stop_above = deadline, .iterations = step_limit});
}

void CoreTaskSet::end_member() noexcept {
  std::swap(above_[pass_.own], above_[pass_.end]);
  pass_.searching = false;
  Member& member = members_[pass_.index];
  const Ticks deadline = member.demand.deadline;
  const Response& result = pass_.response.response();
  const bool exact = result.verdict == Response::Verdict::exact;
  if (pass_.explaining)
    return end_pass({.loser = member.slot, .response = exact ? result.value : endless, .deadline = deadline});
  if (result.verdict == Response::Verdict::undecided)
    return end_pass({.undecided = true, .loser = member.slot, .response = endless, .deadline = deadline});
  if (!exact) {
    pass_.explaining = true;
    return search({.stop_above = multiply_up(deadline, explain_horizon), .iterations = explain_step_limit});
  }
  member.response = result.value;
  member.windows = pass_.response.windows();
  ++pass_.index;
}

// Starts the search for the response of members_[pass_.index]. Members that are tied to it interfere, too. During the
// analysis, the entry of the member itself is swapped to the end of these.
void CoreTaskSet::search(const Limits& limits) noexcept {
  const std::size_t index = pass_.index;
  const Member& member = members_[index];
  const std::size_t last = members_[index].last;
  pass_.own = pass_.core->above.size() + index;
  pass_.end = pass_.core->above.size() + last;
  std::swap(above_[pass_.own], above_[pass_.end]);
  Windows start = !pass_.cold ? member.windows : Windows{};
  for (std::size_t q = 0; q < start.count; ++q) start.w[q] = add_up(start.w[q], pass_.added);
  const Analysed task = member.demand.as_analysed(pass_.core->blocking + blocking_of(index));
  pass_.response.begin(task, std::span(above_).first(pass_.end), limits, start);
  pass_.searching = true;
}

// Returns B of a member under immediate ceilings: the longest section of a task below it with a ceiling at its level or
// above. At most one such section can block it, and it began before the member's release. A task whose jobs can be
// demoted counts as a task below every other task, too.
Ticks CoreTaskSet::blocking_of(std::size_t index) const noexcept {
  const std::size_t last = members_[index].last;
  Ticks longest = 0;
  for (const Lock& lock : locks_) {
    const bool below = lock.user > index || (lock.user < index && members_[lock.user].demand.enforced);
    if (below && lock.ceiling <= last) longest = std::max(longest, lock.longest);
  }
  return longest;
}

Ticks CoreTaskSet::longest_busy(const CoreModel& core) noexcept {
  BusySearch search;
  begin_longest_busy(core, search);
  int unlimited = std::numeric_limits<int>::max();
  search.step(unlimited);
  return search.longest();
}

void CoreTaskSet::begin_longest_busy(const CoreModel& core, BusySearch& search) noexcept {
  const bool overloaded = load_ + core.platform >= whole_share;  // then the bound is endless at once
  above_.assign(core.above.begin(), core.above.end());
  Ticks section = 0;  // the longest section of a demoted job
  for (const Member& member : members_) {
    above_.push_back(member.demand.as_pending());
    section = std::max(section, member.demand.overshoot);
  }
  search.begin(above_, core.blocking + section, overloaded ? 0 : busy_limit);
}

void CoreTaskSet::gather_locks() noexcept {
  locks_.clear();
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (const Demand::Section& section : members_[i].demand.sections)
      if (section.resource != no_resource) locks_.push_back({i, first_user(section.resource), section.longest});
}

void CoreTaskSet::gather(const CoreModel& core) noexcept {
  above_.assign(core.above.begin(), core.above.end());
  for (const Member& member : members_) above_.push_back(member.demand.as_interference());
  gather_locks();
}

// Returns tasks with implicit deadlines, under rate-monotonic priorities, that delay each other at least as much as the
// load of the core does. If they meet their deadlines, so do the members.
//
// Reasons. Jobs of a task are released at least T - J apart, and each has D - J from its release. So the task demands
// no more than one with the period min(T, D) - J, whose jobs end before the next one comes. The order of the members is
// that of D - J. A shorter period only adds demand, so each task gets at most the period of the tasks below it. Tasks
// that share a level get the same period. Blocking is one more task above all. A period that is not positive becomes
// one tick, which no test admits.
std::span<const Usage> CoreTaskSet::rate_monotonic_tasks(const CoreModel& core) noexcept {
  gather_locks();
  Ticks blocking = core.blocking, shortest = endless;
  usages_.resize(members_.size());
  for (std::size_t i = members_.size(); i > 0; --i) {
    const Demand& demand = members_[i - 1].demand;
    const Ticks section = blocking_of(i - 1);
    const bool waits_anew = demand.suspension > 0 && section > 0;  // see begin_member()
    const Ticks period = std::min(demand.deadline - demand.jitter, demand.period - demand.as_interference().jitter);
    shortest = std::min(shortest, waits_anew ? 1 : std::max<Ticks>(period, 1));
    usages_[i - 1] = {.budget = demand.budget + demand.overshoot + demand.suspension, .period = shortest};
    blocking = std::max(blocking, core.blocking + section);
  }
  for (std::size_t i = 1, last = 0; i < members_.size(); ++i) {
    last = std::max(last, members_[i - 1].last);
    if (i <= last) usages_[i].period = usages_[i - 1].period;
  }
  for (const Interference& load : core.above)
    usages_.push_back(
        {.budget = load.budget, .period = std::min(shortest, std::max<Ticks>(load.period - load.jitter, 1))});
  if (blocking > 0) usages_.push_back({.budget = blocking, .period = shortest});
  return usages_;
}

}  // namespace corelane::sched
