// Manager: who may run on this process's cores, and where; a pure state machine, one per process. It admits a task only
// when the analysis proves that every admitted deadline still holds with it.
//
// Policy: the least-loaded core that passes; else the next; else a core that passes once leaving tasks are gone; else a
// repacking of everything (worst fit decreasing); else Refuse with its reason.
//
// Threads: owned by one thread at a time. No clock, no thread; all room is taken in the constructor, decide() allocates
// nothing. Invariants: on every core that is not lost the tasks charged to it (running, leaving, arriving) pass the
// analysis together; a task moves or starts on room freed by others only after that core was idle, since the
// response-time argument does not hold across a change of mode in the middle of a busy period.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"
#include "orb/sched/task.h"

namespace corelane::sched {

enum class AdmissionTest : std::uint8_t {
  response_time,  // exact for fixed priorities
  hyperbolic,     // sufficient; implicit deadlines without jitter, else falls back to response_time
  none,           // admit everything on the least-loaded core: the contrast of `--no-admission`
};

inline constexpr std::size_t max_interference = 64;  // loads per core

struct ManagerOptions {
  std::vector<CoreOptions> cores;  // those that this process holds
  std::size_t max_tasks = 1024;
  std::size_t max_tasks_per_core = 256;
  int levels = 48;  // distinct priorities per core; tasks that share one interfere both ways
  bool repack = true;
  AdmissionTest test = AdmissionTest::response_time;
  bool enforces_budgets = true;  // whoever carries out the commands answers Watch; else demote and cancel are refused
  bool charge_overruns = false;  // the Lanes by priorities charge those under `report` to their own tasks
  Ppm peer_limit = 0;            // utilization that one remote peer may hold, all cores together; 0: no limit
  bool spares_own_user = false;  // peer_limit is not for this process's user and root, see is_of_own_user()
  Duration peer_urgency{};       // D - J, which orders priorities, of a remote peer's task is this or more
  std::size_t peer_tasks = 0;    // places of max_tasks that one remote peer may hold; 0: all
};

class Manager {
 public:
  explicit Manager(const ManagerOptions& options);
  ~Manager();
  Manager(Manager&&) noexcept;

  // Takes Arrived, Proposed, Departed, PeerLost, CoreLost, CoreReturned, Vacated; ignores the Lanes' facts. The
  // commands (Ceiling, Reprioritize, Place, Postpone, Vacate, Dismiss, Evict, Refuse, Admit, Move) are valid until the
  // next call. Cost: of a newcomer a response-time analysis per core tried, plus one repacking, unless they were
  // prepared; of a Vacated that begins the next phase of a repacking an analysis for each task of it.
  std::span<const Command> decide(const Fact& fact) noexcept;

  // The analysis of a newcomer in pieces, so that more urgent work goes in between: prepare(), then
  // continue_preparing() until it is true; decide() of the newcomer then uses what was found. It changes nothing that
  // is decided, so any fact may be told in between; one that changes the tables makes the preparation start over,
  // which continue_preparing() does by itself. `evaluations` bounds a piece: one is a sum over up to 64 tasks of a
  // core, or another half microsecond's work; 0 asks only whether what was prepared still holds. One newcomer at a
  // time.
  void prepare(PeerId peer, const Contract& contract) noexcept;
  bool continue_preparing(int evaluations) noexcept;

  // Whether the newcomer whose preparation has ended makes others move, or waits for those who leave.
  bool would_move() const noexcept;

  // Makes bounds exact again that were only upper ones since tasks left or moved, in pieces as above; true when all
  // are. Bounds are for reports: no decision depends on them.
  bool refresh_bounds(int evaluations) noexcept;
  bool has_stale_bounds() const noexcept;

  // From now on newcomers must leave admitted plus platform load at or below `capacity`. Nobody who is admitted is
  // evicted. Ignored for a core that is not ours.
  void set_capacity(CoreId core, Ppm capacity) noexcept;

  // What other processes run on the core, as interference above every task of ours; replaces what was set before. Loads
  // past `max_interference` are counted as one that uses the core up, so nothing is admitted there.
  void set_interference(CoreId core, std::span<const PlatformLoad> loads) noexcept;

  // Whether newcomers from now on may not go to the core, though they would fit there: another process's task would be
  // late. Who is there stays, plans under way go on.
  void set_closed(CoreId core, bool closed) noexcept;

  // Whether a newcomer may make others move, as ManagerOptions::repack says at first. Moves under way are finished.
  void set_repack(bool allowed) noexcept;

  // What would fit instead of a contract that was just refused, without moving anybody. Some hundred analyses per core:
  // call it after the refusal went out, or at low priority.
  Nearest nearest(const Contract& contract) const noexcept;
  // The same in pieces, so that more urgent work goes first: begin_nearest(), then continue_nearest() until it answers.
  // `evaluations`, at least 1, bounds one piece as in continue_preparing(). Facts may be told in between; when they
  // change what is asked about it starts over, and after Explainer::max_restarts it answers that nothing was found. One
  // question at a time: another, or nearest(), replaces it.
  void begin_nearest(const Contract& contract) noexcept;
  std::optional<Nearest> continue_nearest(int evaluations) noexcept;

  // Reports. tasks() and cores() are not for real-time threads (they allocate).
  std::vector<TaskView> tasks() const;
  std::vector<CoreView> cores() const;
  // Nothing when the task is not known; a leaving task is known until its core was idle.
  std::optional<TaskView> find(TaskId task) const noexcept;
  std::optional<CoreView> find(CoreId core) const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace corelane::sched
