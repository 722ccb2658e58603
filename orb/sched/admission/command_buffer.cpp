#include "orb/sched/admission/command_buffer.h"

#include <algorithm>

namespace corelane::sched {

CommandBuffer::CommandBuffer(Placement& placement) : placement_(placement) {
  const std::size_t tasks = placement.options().max_tasks;
  said_.reserve(2 * tasks + 16);
  starts_.reserve(tasks + 16);
  written_.reserve((6 + 2 * max_uses) * tasks + 64);  // a task is charged to at most two cores
}

std::span<const Command> CommandBuffer::write(Time now) noexcept {
  written_.clear();
  for (Core& core : placement_.cores())
    if (core.changed && !core.lost) update(core);
  written_.insert(written_.end(), said_.begin(), said_.end());
  for (const Start& start : starts_) write(start, now);
  said_.clear();
  starts_.clear();
  return written_;
}

// Raises ceilings first and lowers them last. So at no step is a task that uses a resource above the resource's
// ceiling.
void CommandBuffer::update(Core& core) noexcept {
  core.changed = false;
  raise_ceilings(core);
  reprioritize(core);
  lower_ceilings(core);
}

void CommandBuffer::raise_ceilings(Core& core) noexcept {
  for (const Member& member : core.task_set.members()) {
    for (const Demand::Section& section : member.demand.sections) {
      if (section.resource == no_resource) continue;
      auto told = std::find_if(core.ceilings.begin(), core.ceilings.end(),
                               [&](const Core::Ceiling& c) { return c.resource == section.resource; });
      if (told == core.ceilings.end()) told = core.ceilings.insert(told, {section.resource, 0});
      const int level = core.task_set.ceiling_of(section.resource);
      if (level <= told->level) continue;
      told->level = level;
      written_.push_back(Ceiling{section.resource, core.options.id, Priority{level}});
    }
  }
}

void CommandBuffer::lower_ceilings(Core& core) noexcept {
  for (Core::Ceiling& told : core.ceilings) {
    const int level = core.task_set.ceiling_of(told.resource);
    if (level == told.level) continue;
    told.level = level;
    written_.push_back(Ceiling{told.resource, core.options.id, Priority{level}});
  }
  std::erase_if(core.ceilings, [](const Core::Ceiling& c) { return c.level == 0; });
}

// Raises levels from the top down, then lowers them from the bottom up. So at no step does a task overtake one that has
// precedence over it.
void CommandBuffer::reprioritize(Core& core) noexcept {
  const auto members = core.task_set.members();
  const auto tell = [&](Member& member) {
    member.told = member.level;
    written_.push_back(Reprioritize{placement_.id_of(member.slot), core.options.id, Priority{member.level}});
  };
  for (Member& member : members)
    if (member.told != 0 && member.level > member.told) tell(member);
  for (std::size_t i = members.size(); i > 0; --i)
    if (members[i - 1].told != 0 && members[i - 1].level < members[i - 1].told) tell(members[i - 1]);
}

void CommandBuffer::write(const Start& start, Time now) noexcept {
  const Slot& slot = placement_.slot(start.slot);
  const TaskId task = placement_.id_of(start.slot);
  const CoreId core = placement_.core_id(slot.core);
  Member& member = *placement_.core(slot.core).task_set.find(start.slot);
  member.told = member.level;
  const Priority priority{member.level};
  if (start.from != no_core) {
    written_.push_back(Move{task, start.from, core, priority});
    return;
  }
  Core& on = placement_.core(slot.core);
  // The new task may raise the ceiling of a resource that a job holds now. At an idle instant no job holds a lock.
  const bool waits = on.task_set.shares_resources(start.slot);
  const Time startable = waits ? after(now, on.task_set.longest_busy(on.model)) : now;
  written_.push_back(
      Admit{slot.request, task, slot.peer, core, priority, slot.contract, Duration{member.response}, startable, waits});
  if (slot.request_is_job) written_.push_back(Dispatch{slot.request, task, core});
}

}  // namespace corelane::sched
