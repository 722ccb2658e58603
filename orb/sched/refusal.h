// Refusal is the reason why a task or a job may not run. It is a plain value, so it can travel through the real-time
// path and over the wire.
//
// Threads: value types. Units: nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "orb/base/contract.h"
#include "orb/base/error.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"

namespace corelane::sched {

// The reasons. The numbers are those of the refusal service context (0x434C4E02).
enum class RefusalCode : std::uint32_t {
  not_schedulable = 1,      // on every core a deadline would be missed; see closest, response, deadline
  no_core = 2,              // this process holds no core
  too_many_tasks = 3,       // the table of tasks is full
  bad_contract = 4,         // a field is out of range; fault_of() names it
  unknown_task = 5,         // the task was never admitted, has ended, or belongs to another peer
  job_waiting = 6,          // an early job of the task already waits, or its backlog is full
  analysis_limit = 7,       // the analysis reached its limit of steps, so the task is refused
  reorganizing = 8,         // tasks are being moved for another new task: ask again
  peer_limit = 9,           // the peer has all the utilization, or all the tasks, that it may have
  core_lost = 10,           // the core was lost and no other could take the task
  backlog = 11,             // the deadline spans more periods than jobs may wait
  overrun_policy = 12,      // budgets are not watched here, so demote and cancel do not work: use report
  other_process_late = 13,  // it would fit, but a task of another process on `closest` would be late
  peer_urgency = 14,        // a remote peer's deadline must be at least `deadline` (with this jitter)
  resources_apart = 15,     // it locks resources that tasks on different cores use
  unused = 16,              // no job of the task came during its lease; ask for admission again
  ended = 17,               // the server's operator ended the task
};

// The contract that would have been admitted. It is the first of these that exists: the smallest T' >= T (at most 1000
// T) with the same C and D/T; the smallest D'; the largest C'. The values are rounded to four digits if the rounded
// contract fits, too. J and S are those of the request, even if J was a default of the old T. Importance, overrun
// policy and resources also stay. All fields are zero if nothing fits or nothing was computed (see Manager::nearest()).
struct Nearest {
  Duration period{};
  Duration deadline{};
  Duration budget{};
  Duration jitter{};
  Duration suspension{};

  constexpr bool found() const noexcept { return period > Duration::zero(); }
  friend constexpr bool operator==(const Nearest&, const Nearest&) = default;
};

// Why a refusal because of a deadline proposes no other contract.
enum class Unproposed : std::uint8_t {
  not_asked,      // a contract is proposed, or none was looked for
  nothing_fits,   // neither a longer period, a later deadline nor a smaller budget
  beside_others,  // a contract that fits here might make a task of another process late
  no_time,        // other work had precedence, or the process ends
};

// How an allocation that a program brought with it (orb/eval/planning/custom_policies.h) left a task without a core.
enum class Unallocated : std::uint8_t {
  none,       // it did not: the admission test refused the task, or there is no such allocation
  no_core,    // it returned no core
  full_core,  // it returned `closest`, on which the admission test does not admit the task
};

// Says that slowdowns have lengthened the budget of a task (dispatch.slowdowns).
struct SlowedBudget {
  Duration asked{};               // zero: they have not
  Duration analyzed{};            // the lengthened one
  std::int64_t factor = 0;        // by another task, in millionths
  std::array<char, 32> beside{};  // the end of that task's label, zero-terminated

  friend constexpr bool operator==(const SlowedBudget&, const SlowedBudget&) = default;
};

struct Refusal {
  RefusalCode code = RefusalCode::not_schedulable;
  CoreId closest = no_core;  // the core with the least (R - D) / D
  TaskId loser = no_task;    // the task whose deadline would be missed there; no_task: the new task
  Duration response{};       // R of that task with the new one; Duration::max(): no bound, the core is full
  Duration deadline{};       // D of that task
  Nearest nearest{};
  // For peer_limit: how many tasks one peer may have; 0: the limit was the utilization.
  std::uint32_t peer_tasks = 0;
  // If the limit was the utilization: what the peer holds and may hold, in parts per million of a core.
  std::int64_t peer_holds = 0;
  std::int64_t peer_may = 0;

  // Values that the analysis does not know. The owner of the Manager fills them in.
  Duration jitter{};                              // J of the loser; `response` includes it
  std::int64_t tasks = 0;                         // the part of `closest` that this process's tasks hold, in ppm
  std::int64_t platform = 0;                      // the part that its platform load holds, in ppm
  std::int64_t others = 0;                        // the part that other processes hold, in ppm
  std::int64_t others_platform = 0;               // of that, the part that their platform load holds, in ppm
  Unproposed unproposed = Unproposed::not_asked;  // not on the wire; the sentence there says it
  std::array<char, 32> loser_name{};              // the end of the loser's label, zero-terminated; empty: none
  bool takes_none = false;                        // for too_many_tasks: the table has no entries at all
  // For not_schedulable: the admission test is not exact, so the deadlines might hold. Not on the wire; the sentence
  // there says it.
  bool by_bound = false;
  Unallocated unallocated = Unallocated::none;  // for not_schedulable, in plans; not on the wire
  // Of the new task, and of the loser. Not on the wire; the sentence there says it.
  SlowedBudget slowed{}, loser_slowed{};

  friend constexpr bool operator==(const Refusal&, const Refusal&) = default;
};

// Returns the value rounded to at most four digits.
enum class Rounding : std::uint8_t { up, down };
Duration rounded(Duration value, Rounding rounding) noexcept;

// Adds the task that would be late to the refusal: the end of its label, and its jitter. Allocates nothing.
void name_loser(Refusal& refusal, std::string_view label, Duration jitter) noexcept;

// Adds the end of the other task's label. Allocates nothing.
void name_beside(SlowedBudget& slowed, std::string_view label) noexcept;

// Returns a short name such as "not_schedulable", in static storage.
std::string_view name_of(RefusalCode code) noexcept;

// Returns the exception that a caller gets for a refusal: its kind and minor code. It is TRANSIENT if a later request
// may succeed.
Error error_of(const Refusal& refusal) noexcept;

// Returns whether a refusal may have this minor code.
bool is_minor_of_refusal(std::uint32_t minor) noexcept;

// Returns one sentence for the user: the cause, what can be done about it, the numbers, and the contract that would
// fit. The text of an exception shows this sentence in place of the minor code's text. It allocates, so do not call it
// on real-time threads.
std::string text_of(const Refusal& refusal);

}  // namespace corelane::sched
