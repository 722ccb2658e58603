// Placement: the Manager's table of tasks and cores, and the tests on it. Says what is; Manager says what happens.
//
// Threads: as Manager. Nothing allocates after construction, except where the comment says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "orb/sched/manager.h"
#include "orb/sched/roster.h"
#include "orb/sched/task.h"
#include "orb/sched/trial.h"

namespace corelane::sched {

inline constexpr int nowhere = -1;

// One admitted (or pending) task.
struct Slot {
  bool used = false;
  std::uint64_t generation =
      0;  // of the task that holds the slot now; part of its id, so that ids are never used twice
  PeerId peer{};
  JobId request{};
  bool request_is_job = false;
  Contract contract{};
  Demand demand;
  TaskState state = TaskState::pending;
  int core = nowhere;    // index of the core it runs on
  int target = nowhere;  // where a plan wants it
  int phase = nowhere;   // of the plan in which it goes there
};

struct Core {
  CoreOptions options;
  CoreModel model;
  Roster roster;
  bool lost = false;
  bool reserved = false;  // part of a plan: closed to newcomers
  bool closed = false;    // to the present newcomer: Manager::set_closed()
  bool changed = false;   // its members or their levels, since the last answer
  bool stale = false;     // responses are only bounds: somebody left
  struct Ceiling {
    ResourceId resource;
    int level;
  };
  std::vector<Ceiling> ceilings;  // as the runtime knows them

  Share free() const noexcept { return model.capacity - model.platform - roster.load(); }
};

class Placement {
 public:
  explicit Placement(const ManagerOptions& options);

  // Those that were ever used: as many as there were tasks at once, a newcomer who is decided included.
  std::span<Slot> slots() noexcept { return std::span(slots_).first(touched_); }
  std::span<Core> cores() noexcept { return cores_; }
  std::span<const Slot> slots() const noexcept { return std::span(slots_).first(touched_); }
  std::span<const Core> cores() const noexcept { return cores_; }
  Slot& slot(std::uint32_t index) noexcept { return slots_[index]; }
  Core& core(int index) noexcept { return cores_[static_cast<std::size_t>(index)]; }
  const Core& core(int index) const noexcept { return cores_[static_cast<std::size_t>(index)]; }
  CoreId core_id(int index) const noexcept;
  int index_of(CoreId id) const noexcept;  // nowhere when it is not ours
  const ManagerOptions& options() const noexcept { return options_; }

  // A free slot, its generation advanced; nothing when all are taken.
  std::optional<std::uint32_t> take_slot() noexcept;
  void release(std::uint32_t index) noexcept;
  TaskId id_of(std::uint32_t index) const noexcept;
  std::optional<std::uint32_t> slot_of(TaskId task) const noexcept;
  std::uint64_t next_age() noexcept { return ++last_age_; }
  std::uint64_t last_age() const noexcept { return last_age_; }

  // Counts what changes the answers of an analysis: who is charged where and stays there, what else runs there, which
  // cores there are.
  std::uint64_t epoch() const noexcept { return epoch_; }
  void note_change() noexcept { ++epoch_; }

  // Whether core `a` has more room, or as much and the lower index.
  bool roomier(int a, int b) const noexcept;

  // Whether `roster` on `core` holds all deadlines with the task too.
  void begin(Trial& trial, const Roster& roster, const Core& core, std::uint32_t slot, const Demand& demand,
             const Effort& effort = {}) const noexcept;
  // Room of a core's roster, newcomer included.
  std::size_t members() const noexcept { return members_; }

  // The same at once on what is charged to the core now, kept when it fits.
  Verdict charge(int core, std::uint32_t slot) noexcept;
  // `analysed`: what is charged to the core with somebody more, from a trial that fits; it is in no state to be used
  // then.
  void charge(int core, Roster& analysed) noexcept;
  // at_idle: at an idle instant of the core.
  void discharge(int core, std::uint32_t slot, bool at_idle) noexcept;

  // All users of a resource are on one core, since its ceiling is a priority there. The core where those are (or will
  // be) who share a resource with these; nothing when there are none, `nowhere` when they are on several. Does not look
  // at `self`, nor at who was on a lost core.
  std::optional<int> core_of_users(const Demand& demand, std::uint32_t self) const noexcept;

  bool leaves(std::uint32_t slot) const noexcept { return slots_[slot].state == TaskState::leaving; }

 private:
  ManagerOptions options_;
  std::vector<Slot> slots_;  // max_tasks
  std::size_t touched_ = 0;  // of them; who comes takes the latest that was left, else the next one
  std::vector<std::uint32_t> free_slots_;
  std::vector<Core> cores_;
  std::size_t members_ = 0;
  Trial trial_;
  std::uint64_t last_age_ = 0;
  std::uint64_t epoch_ = 0;
};

// Whether a Lane has room for the jobs that may be pending under this contract.
bool backlog_fits(const Contract& contract) noexcept;

}  // namespace corelane::sched
