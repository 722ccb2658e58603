// Answer: the Manager's commands to one fact, collected while it decides and written out when everybody's level is
// settled: first changes of ceilings and priorities, then what was said, then those who start on a core.
//
// Threads: as Manager. All room is taken in the constructor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "orb/base/ids.h"
#include "orb/sched/commands.h"
#include "orb/sched/placement.h"

namespace corelane::sched {

// now + wait; `never` for what does not end.
constexpr Time after(Time now, Ticks wait) noexcept {
  return wait >= (never - now).count() ? never : now + Duration{wait};
}

class Answer {
 public:
  explicit Answer(Placement& placement);

  void say(const Command& command) noexcept { said_.push_back(command); }
  void refuse(JobId job, RefusalCode code) noexcept { say(Refuse{job, {.code = code}}); }
  // The task of this slot starts on the core that the slot names: it is admitted there ...
  void admit(std::uint32_t slot) noexcept { starts_.push_back({slot, no_core}); }
  // ... or comes from another one, or stays after all.
  void move(std::uint32_t slot, CoreId from) noexcept { starts_.push_back({slot, from}); }

  // All of it, in order, at the time of the fact; forgets it. Valid until the next call.
  std::span<const Command> write(Time now) noexcept;

 private:
  struct Start {
    std::uint32_t slot;
    CoreId from;  // no_core: a new task
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
