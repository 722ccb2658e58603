// CommandBuffer collects the Manager's commands in response to one fact, and writes them in an order that can be
// carried out. The levels of all tasks are known by then. First come changes of ceilings and priorities, then the
// commands of say(), then the tasks that start on a core.
//
// Threads: as Manager. All memory is allocated in the constructor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/sched/admission/placement.h"
#include "orb/sched/commands.h"

namespace corelane::sched {

// Returns now + wait, or `never` if the sum is too large or the wait has no end.
constexpr Time after(Time now, Ticks wait) noexcept {
  return wait >= (never - now).count() ? never : now + Duration{wait};
}

class CommandBuffer {
 public:
  explicit CommandBuffer(Placement& placement);

  void say(const Command& command) noexcept { said_.push_back(command); }
  void refuse(JobId job, RefusalCode code) noexcept { say(Refuse{job, {.code = code}}); }
  // Lets the task of this slot start on the core that the slot names, as a newly admitted task.
  void admit(std::uint32_t slot) noexcept { starts_.push_back({slot, no_core}); }
  // Lets the task of this slot start on the core that the slot names, after a move from the core `from`. If both are
  // the same core, the move was called off.
  void move(std::uint32_t slot, CoreId from) noexcept { starts_.push_back({slot, from}); }

  // Returns all commands in order and forgets them. `now` is the time of the fact. The result is valid until the next
  // call.
  std::span<const Command> write(Time now) noexcept;

 private:
  struct Start {
    std::uint32_t slot;
    CoreId from;  // no_core for a new task
  };

  void update(Core& core) noexcept;
  void reprioritize(Core& core) noexcept;
  void raise_ceilings(Core& core) noexcept;
  void lower_ceilings(Core& core) noexcept;
  void write(const Start& start, Time now) noexcept;

  Placement& placement_;
  std::vector<Command> said_;
  std::vector<Start> starts_;
  std::vector<Command> written_;
};

}  // namespace corelane::sched
