// The kinds of records in a trace, and the number of each kind. A number is never used again for another kind. Besides
// facts and commands, a trace holds the other calls of CoreSchedulers and the Manager, and what the runtime observed.
//
// Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/sched/commands.h"
#include "orb/sched/facts.h"
#include "orb/sched/schedulers/core_scheduler.h"
#include "orb/sched/task.h"

namespace corelane::sched {

namespace trace {

// Calls of a CoreScheduler other than decide().
struct EarlyAllowed {
  bool allowed = false;
};
struct TaskAdded {
  TaskId task;
  Contract contract;
  Priority priority;
};
struct JoinAsked {
  Time at;
  TaskId task;
  Contract contract;
  Priority priority;
};
struct PrioritySet {
  TaskId task;
  Priority priority;
};
struct VacateAsked {
  Time at;
  TaskId task;
};
struct DismissAsked {
  Time at;
  TaskId task;
};
struct TaskTaken {
  TaskId task;
};
struct TaskPut {
  Time at;
  ScheduledTask task;
};

// Calls of the Manager other than decide().
struct CapacitySet {
  CoreId core;
  Ppm capacity = 0;
};
// Is followed by `loads` records of InterferenceLoad.
struct InterferenceSet {
  CoreId core;
  std::uint32_t loads = 0;
};
struct InterferenceLoad {
  PlatformLoad load;
};
struct ClosedSet {
  CoreId core;
  bool closed = false;
};
struct RepackSet {
  bool allowed = false;
};

// What the runtime observed. No state machine is told these.
// The code of the job begins.
struct Started {
  Time at;
  JobId job;
  TaskId task;
};
// The job ended after its deadline.
struct Missed {
  Time at;
  JobId job;
  TaskId task;
  Time released;
  Time deadline;
};
// The job ended. It had waited for something without reporting a suspension.
struct Blocked {
  Time at;
  JobId job;
  TaskId task;
  Duration waited;
};
// The job ended. It had suspended itself for longer than its contract allows.
struct Overslept {
  Time at;
  JobId job;
  TaskId task;
  Duration slept;  // in total
};
// The job was refused before it reached its CoreScheduler.
struct TurnedAway {
  Time at;
  JobId job;
  TaskId task;
  RefusalCode reason = RefusalCode::job_waiting;
};
// The name of the task, cut to `room` bytes.
struct Named {
  static constexpr std::size_t room = 96;
  TaskId task;
  std::array<char, room> text{};

  static Named make(TaskId task, std::string_view name) noexcept;
  std::string_view name() const noexcept;
};

}  // namespace trace

enum class TraceKind : std::uint8_t {
  arrived = 1,
  proposed = 2,
  departed = 3,
  peer_lost = 4,
  core_lost = 5,
  vacated = 6,
  finished = 7,
  overran = 8,
  suspended = 9,
  resumed = 10,
  elapsed = 11,
  core_returned = 12,

  early_allowed = 32,
  task_added = 33,
  priority_set = 34,
  vacate_asked = 35,
  dismiss_asked = 36,
  task_taken = 37,
  task_put = 38,
  capacity_set = 39,
  interference_set = 40,
  interference_load = 41,
  closed_set = 42,
  repack_set = 43,
  join_asked = 44,

  admit = 64,
  place = 65,
  reprioritize = 66,
  vacate = 67,
  move = 68,
  dismiss = 69,
  evict = 70,
  refuse = 71,
  run = 72,
  defer = 73,
  demote = 74,
  cancel = 75,
  watch = 76,
  arm = 77,
  report_vacated = 78,
  ceiling = 79,
  joined = 80,
  postpone = 81,

  started = 96,
  missed = 97,
  turned_away = 98,
  named = 99,
  blocked = 100,
  overslept = 101,
};

// Inputs are facts and calls. Commands are answers. The other kinds are observations.
constexpr bool is_input(TraceKind kind) noexcept { return static_cast<std::uint8_t>(kind) < 64; }
constexpr bool is_command(TraceKind kind) noexcept {
  return static_cast<std::uint8_t>(kind) >= 64 && static_cast<std::uint8_t>(kind) < 96;
}
// Returns a short name such as "arrived", in static storage. It is empty for an unknown number.
std::string_view name_of(TraceKind kind) noexcept;

// The kind of a type's records; 0: a trace does not hold the type.
template <typename T>
inline constexpr TraceKind kind_of = TraceKind{};
// clang-format off
template <> inline constexpr TraceKind kind_of<Arrived> = TraceKind::arrived;
template <> inline constexpr TraceKind kind_of<Proposed> = TraceKind::proposed;
template <> inline constexpr TraceKind kind_of<Departed> = TraceKind::departed;
template <> inline constexpr TraceKind kind_of<PeerLost> = TraceKind::peer_lost;
template <> inline constexpr TraceKind kind_of<CoreLost> = TraceKind::core_lost;
template <> inline constexpr TraceKind kind_of<CoreReturned> = TraceKind::core_returned;
template <> inline constexpr TraceKind kind_of<Vacated> = TraceKind::vacated;
template <> inline constexpr TraceKind kind_of<Finished> = TraceKind::finished;
template <> inline constexpr TraceKind kind_of<Overran> = TraceKind::overran;
template <> inline constexpr TraceKind kind_of<Suspended> = TraceKind::suspended;
template <> inline constexpr TraceKind kind_of<Resumed> = TraceKind::resumed;
template <> inline constexpr TraceKind kind_of<Elapsed> = TraceKind::elapsed;
template <> inline constexpr TraceKind kind_of<Admit> = TraceKind::admit;
template <> inline constexpr TraceKind kind_of<Postpone> = TraceKind::postpone;
template <> inline constexpr TraceKind kind_of<Dispatch> = TraceKind::place;
template <> inline constexpr TraceKind kind_of<Reprioritize> = TraceKind::reprioritize;
template <> inline constexpr TraceKind kind_of<Ceiling> = TraceKind::ceiling;
template <> inline constexpr TraceKind kind_of<Joined> = TraceKind::joined;
template <> inline constexpr TraceKind kind_of<Vacate> = TraceKind::vacate;
template <> inline constexpr TraceKind kind_of<Move> = TraceKind::move;
template <> inline constexpr TraceKind kind_of<Dismiss> = TraceKind::dismiss;
template <> inline constexpr TraceKind kind_of<Evict> = TraceKind::evict;
template <> inline constexpr TraceKind kind_of<Refuse> = TraceKind::refuse;
template <> inline constexpr TraceKind kind_of<Run> = TraceKind::run;
template <> inline constexpr TraceKind kind_of<Defer> = TraceKind::defer;
template <> inline constexpr TraceKind kind_of<Demote> = TraceKind::demote;
template <> inline constexpr TraceKind kind_of<Cancel> = TraceKind::cancel;
template <> inline constexpr TraceKind kind_of<Watch> = TraceKind::watch;
template <> inline constexpr TraceKind kind_of<Arm> = TraceKind::arm;
template <> inline constexpr TraceKind kind_of<ReportVacated> = TraceKind::report_vacated;
template <> inline constexpr TraceKind kind_of<trace::EarlyAllowed> = TraceKind::early_allowed;
template <> inline constexpr TraceKind kind_of<trace::TaskAdded> = TraceKind::task_added;
template <> inline constexpr TraceKind kind_of<trace::JoinAsked> = TraceKind::join_asked;
template <> inline constexpr TraceKind kind_of<trace::PrioritySet> = TraceKind::priority_set;
template <> inline constexpr TraceKind kind_of<trace::VacateAsked> = TraceKind::vacate_asked;
template <> inline constexpr TraceKind kind_of<trace::DismissAsked> = TraceKind::dismiss_asked;
template <> inline constexpr TraceKind kind_of<trace::TaskTaken> = TraceKind::task_taken;
template <> inline constexpr TraceKind kind_of<trace::TaskPut> = TraceKind::task_put;
template <> inline constexpr TraceKind kind_of<trace::CapacitySet> = TraceKind::capacity_set;
template <> inline constexpr TraceKind kind_of<trace::InterferenceSet> = TraceKind::interference_set;
template <> inline constexpr TraceKind kind_of<trace::InterferenceLoad> = TraceKind::interference_load;
template <> inline constexpr TraceKind kind_of<trace::ClosedSet> = TraceKind::closed_set;
template <> inline constexpr TraceKind kind_of<trace::RepackSet> = TraceKind::repack_set;
template <> inline constexpr TraceKind kind_of<trace::Started> = TraceKind::started;
template <> inline constexpr TraceKind kind_of<trace::Missed> = TraceKind::missed;
template <> inline constexpr TraceKind kind_of<trace::Blocked> = TraceKind::blocked;
template <> inline constexpr TraceKind kind_of<trace::Overslept> = TraceKind::overslept;
template <> inline constexpr TraceKind kind_of<trace::TurnedAway> = TraceKind::turned_away;
template <> inline constexpr TraceKind kind_of<trace::Named> = TraceKind::named;
// clang-format on

}  // namespace corelane::sched
