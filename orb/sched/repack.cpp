#include "orb/sched/repack.h"

#include <algorithm>
#include <cassert>

namespace corelane::sched {
namespace {

bool alike(const Core& a, const Core& b) noexcept {
  const auto same = [](const Interference& x, const Interference& y) {
    return x.budget == y.budget && x.period == y.period && x.jitter == y.jitter;
  };
  return a.model.capacity == b.model.capacity && a.model.blocking == b.model.blocking &&
         std::equal(a.model.above.begin(), a.model.above.end(), b.model.above.begin(), b.model.above.end(), same);
}

// Whether all cores that live are interchangeable.
bool all_alike(std::span<const Core> cores) noexcept {
  const Core* first = nullptr;
  for (const Core& core : cores) {
    if (core.lost) continue;
    if (first == nullptr) first = &core;
    if (!alike(*first, core)) return false;
  }
  return true;
}

}  // namespace

Repacker::Repacker(const Placement& placement) {
  const auto cores = placement.cores();
  rosters_.resize(cores.size());
  for (std::size_t i = 0; i < cores.size(); ++i) rosters_[i].reserve(cores[i].roster.capacity());
  items_.reserve(placement.slots().size());
  bin_of_.resize(placement.slots().size());
  overlap_.resize(cores.size() * cores.size());
  core_of_bin_.resize(cores.size());
  tried_.resize(cores.size());
}

bool Repacker::plan(Placement& placement, std::uint32_t newcomer) noexcept {
  if (!assign(placement, newcomer)) return false;
  const bool anybody_locks =
      std::any_of(items_.begin(), items_.end(), [&](std::uint32_t i) { return placement.slot(i).demand.locks; });
  if (!anybody_locks && all_alike(placement.cores())) relabel(placement);  // who locks stays
  for (const std::uint32_t index : items_) {
    Slot& slot = placement.slot(index);
    if (bin_of_[index] != slot.core) slot.target = bin_of_[index];
  }
  return schedule(placement, newcomer);
}

bool Repacker::plan_to_wait(Placement& placement, std::uint32_t newcomer) noexcept {
  Slot& slot = placement.slot(newcomer);
  const auto bound = placement.core_of_users(slot.demand, newcomer);
  for (const int index : placement.by_room()) {
    Core& core = placement.core(index);
    if (core.closed || (bound && *bound != index)) continue;
    rosters_[0].copy_from(core.roster);
    for (const Member& member : core.roster.members())
      if (placement.leaves(member.slot)) rosters_[0].remove(member.slot, true);
    if (rosters_[0].members().size() == core.roster.members().size()) continue;
    if (!placement.try_add(rosters_[0], core, newcomer, slot.demand).fits) continue;
    longest_ = core.roster.longest_busy(core.model);
    slot.target = index;
    slot.phase = 1;
    core.reserved = true;
    return true;
  }
  return false;
}

// Worst fit decreasing from empty cores, into bin_of_.
bool Repacker::assign(Placement& placement, std::uint32_t newcomer) noexcept {
  items_.clear();
  const auto slots = placement.slots();
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    if (slots[i].used && (slots[i].state == TaskState::running || i == newcomer)) items_.push_back(i);
  std::sort(items_.begin(), items_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return slots[a].demand.share != slots[b].demand.share ? slots[a].demand.share > slots[b].demand.share : a < b;
  });
  for (Roster& roster : rosters_) roster.clear();
  return std::all_of(items_.begin(), items_.end(), [&](std::uint32_t i) { return assign_one(placement, i); });
}

// The emptiest core that takes the task; where several are equally empty, its own. Who locks resources stays: others on
// its core share them.
bool Repacker::assign_one(Placement& placement, std::uint32_t slot) noexcept {
  const auto cores = placement.cores();
  const Demand& demand = placement.slot(slot).demand;
  const int home = placement.slot(slot).core;
  const auto bound =
      !demand.locks || home == nowhere ? placement.core_of_users(demand, slot) : std::optional<int>(home);
  const auto emptier = [&](std::size_t a, std::size_t b) {
    const Share room_a = cores[a].model.capacity - cores[a].model.platform - rosters_[a].load();
    const Share room_b = cores[b].model.capacity - cores[b].model.platform - rosters_[b].load();
    return room_a != room_b ? room_a > room_b : static_cast<int>(a) == home;
  };
  std::fill(tried_.begin(), tried_.end(), false);
  for (std::size_t round = 0; round < cores.size(); ++round) {
    std::size_t best = cores.size();
    for (std::size_t i = 0; i < cores.size(); ++i)
      if (!tried_[i] && !cores[i].lost && (best == cores.size() || emptier(i, best))) best = i;
    if (best == cores.size()) return false;
    tried_[best] = true;
    if ((cores[best].closed && home == nowhere) || (bound && *bound != static_cast<int>(best))) continue;
    if (!placement.try_add(rosters_[best], cores[best], slot, demand).fits) continue;
    std::swap(rosters_[best], placement.trial());
    bin_of_[slot] = static_cast<int>(best);
    return true;
  }
  return false;
}

// Among cores that are alike the names of the bins do not matter: each bin goes to the core that holds most of it, the
// largest overlap first, so that few tasks move.
void Repacker::relabel(Placement& placement) noexcept {
  const std::size_t count = rosters_.size();
  std::fill(overlap_.begin(), overlap_.end(), Share{0});
  for (const std::uint32_t index : items_) {
    const Slot& slot = placement.slot(index);
    if (slot.core == nowhere) continue;
    overlap_[static_cast<std::size_t>(bin_of_[index]) * count + static_cast<std::size_t>(slot.core)] +=
        slot.demand.share;
  }
  std::fill(core_of_bin_.begin(), core_of_bin_.end(), nowhere);
  std::fill(tried_.begin(), tried_.end(), false);  // cores that have their bin
  for (std::size_t i = 0; i < count; ++i)
    if (placement.core(static_cast<int>(i)).lost) core_of_bin_[i] = static_cast<int>(i), tried_[i] = true;
  while (match_one(count)) {
  }
  for (const std::uint32_t index : items_) bin_of_[index] = core_of_bin_[static_cast<std::size_t>(bin_of_[index])];
}

// Gives one more bin its core; false when all have one. At most one call per core, each a scan of all pairs.
bool Repacker::match_one(std::size_t count) noexcept {
  std::size_t bin = count;
  std::size_t core = count;
  for (std::size_t b = 0; b < count; ++b) {
    if (core_of_bin_[b] != nowhere) continue;
    for (std::size_t c = 0; c < count; ++c) {
      if (tried_[c]) continue;
      if (bin == count || overlap_[b * count + c] > overlap_[bin * count + core]) bin = b, core = c;
    }
  }
  if (bin == count) return false;
  core_of_bin_[bin] = static_cast<int>(core);
  tried_[core] = true;
  return true;
}

// Plays the moves through, on rosters_, and notes the phase of each.
bool Repacker::schedule(Placement& placement, std::uint32_t newcomer) noexcept {
  const auto cores = placement.cores();
  for (std::size_t i = 0; i < cores.size(); ++i) rosters_[i].copy_from(cores[i].roster);
  longest_ = 0;
  bool done = false;
  bool progress = true;
  for (int phase = 0; !done && progress; ++phase) {  // at most one phase per move, since each makes progress
    done = joins(placement, newcomer, phase);
    if (!done) progress = run_phase(placement, phase);
  }
  for (const std::uint32_t index : items_) {
    Slot& slot = placement.slot(index);
    if (!done || slot.phase == nowhere) {
      slot.target = slot.phase = nowhere;  // no plan, or a move that the newcomer does not need
      continue;
    }
    placement.core(slot.target).reserved = true;
    if (slot.core != nowhere) placement.core(slot.core).reserved = true;
  }
  return done;
}

// Lets everybody join who fits beside all who are still there; then the cores are idle, and who moved is gone from its
// old one. Whether anything changed.
bool Repacker::run_phase(Placement& placement, int phase) noexcept {
  bool progress = false;
  for (const std::uint32_t index : items_) {
    const Slot& slot = placement.slot(index);
    if (slot.core != nowhere && slot.target != nowhere && slot.phase == nowhere)
      progress |= joins(placement, index, phase);
  }
  longest_ = add_up(longest_, longest_phase(placement, phase));
  for (const std::uint32_t index : items_) {
    const Slot& slot = placement.slot(index);
    if (slot.phase == phase) rosters_[static_cast<std::size_t>(slot.core)].remove(index, true);
  }
  if (phase == 0) progress |= drop_leaving(placement);
  return progress;
}

// Until every core that somebody leaves in this phase has been idle once.
Ticks Repacker::longest_phase(Placement& placement, int phase) noexcept {
  const auto cores = placement.cores();
  std::fill(tried_.begin(), tried_.end(), false);
  for (const std::uint32_t index : items_)
    if (const Slot& slot = placement.slot(index); slot.phase == phase && slot.core != nowhere)
      tried_[static_cast<std::size_t>(slot.core)] = true;
  Ticks longest = 0;
  for (std::size_t i = 0; i < cores.size(); ++i) {
    const auto members = cores[i].roster.members();
    const bool somebody_leaves = phase == 0 && std::any_of(members.begin(), members.end(), [&](const Member& member) {
                                   return placement.leaves(member.slot);
                                 });
    if (tried_[i] || somebody_leaves) longest = std::max(longest, rosters_[i].longest_busy(cores[i].model));
  }
  return longest;
}

bool Repacker::drop_leaving(Placement& placement) noexcept {
  bool any = false;
  const auto cores = placement.cores();
  for (std::size_t i = 0; i < cores.size(); ++i) {
    for (const Member& member : cores[i].roster.members()) {
      if (!placement.leaves(member.slot)) continue;
      rosters_[i].remove(member.slot, true);
      any = true;
    }
  }
  return any;
}

bool Repacker::joins(Placement& placement, std::uint32_t index, int phase) noexcept {
  Slot& slot = placement.slot(index);
  Roster& target = rosters_[static_cast<std::size_t>(slot.target)];
  if (!placement.try_add(target, placement.core(slot.target), index, slot.demand).fits) return false;
  std::swap(target, placement.trial());
  slot.phase = phase;
  return true;
}

}  // namespace corelane::sched
