// Refusal: why a task or a job may not run, as values: they travel through the real-time path and onto the wire.
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

// The numbers are those of the refusal service context (0x434C4E02).
enum class RefusalCode : std::uint32_t {
  not_schedulable = 1,   // some deadline would no longer hold on every core: closest, response and deadline say where
  no_core = 2,           // this process holds no core
  too_many_tasks = 3,    // the table of tasks is full
  bad_contract = 4,      // a field is out of its range; fault_of() names it
  unknown_task = 5,      // never admitted, gone, or another peer's
  job_waiting = 6,       // one early job of the task waits already, or its backlog is full
  analysis_limit = 7,    // the analysis reached its bound of steps; it refuses rather than guesses
  reorganizing = 8,      // tasks are being moved for somebody else: ask again
  peer_limit = 9,        // the peer has used up the utilization, or the tasks, that it is allowed
  core_lost = 10,        // the core went away and no other could take the task
  backlog = 11,          // the deadline spans more periods than jobs may wait
  overrun_policy = 12,   // nobody watches budgets here, so demote and cancel cannot be kept: use report
  neighbour_late = 13,   // it would fit, but another process's task on `closest` would be late
  peer_urgency = 14,     // a remote peer's deadline must be longer: `deadline` is the least one with its jitter
  resources_apart = 15,  // it locks resources whose users are on different cores
  unused = 16,           // no job of the task came for as long as its lease is; ask for it again
  ended = 17,            // the server's operator ended the task
};

// What would have been admitted: the smallest T' >= T (at most 1000 T) with C and D/T kept, else the smallest D', else
// the largest C'; to four digits where that fits, too. J and S are as asked, also where J was a default of the old T;
// so are importance, overrun policy and resources. All zero when not computed (see Manager::nearest()) or when nothing
// fits.
struct Nearest {
  Duration period{};
  Duration deadline{};
  Duration budget{};
  Duration jitter{};
  Duration suspension{};

  constexpr bool found() const noexcept { return period > Duration::zero(); }
  friend constexpr bool operator==(const Nearest&, const Nearest&) = default;
};

// Why a refusal for a deadline that would be missed proposes nothing.
enum class Unproposed : std::uint8_t {
  not_asked,      // it proposes something, or nobody looked for it
  nothing_fits,   // neither a longer period, a later deadline nor a smaller budget
  beside_others,  // what fits here might make a task of another process late
  no_time,        // others came first, or the process ends
};

struct Refusal {
  RefusalCode code = RefusalCode::not_schedulable;
  CoreId closest = no_core;  // the core with the least (R - D) / D
  TaskId loser = no_task;    // whose deadline would be missed there; no_task: the newcomer's own
  Duration response{};       // R of that task with the newcomer; Duration::max(): without bound (the core is full)
  Duration deadline{};       // D of that task
  Nearest nearest{};
  std::uint32_t peer_tasks = 0;  // with peer_limit: how many tasks one peer may have; 0: it was its utilization
  std::int64_t peer_holds = 0;   // then: parts per million of a core that it holds, ...
  std::int64_t peer_may = 0;     // ... and that it may hold

  // What the analysis does not know; its owner fills it in.
  Duration jitter{};                              // J of the loser, which `response` contains
  std::int64_t tasks = 0;                         // parts per million of `closest` that this process's tasks hold
  std::int64_t platform = 0;                      // and what it runs above them
  std::int64_t others = 0;                        // what other processes hold
  std::int64_t others_platform = 0;               // and what of that they run above their tasks
  Unproposed unproposed = Unproposed::not_asked;  // not on the wire, where the sentence says it
  std::array<char, 32> loser_name{};              // the end of the loser's label, ended by a zero; "": none
  bool takes_none = false;                        // with too_many_tasks: the table has no place at all

  friend constexpr bool operator==(const Refusal&, const Refusal&) = default;
};

// To four digits at most, as people read it.
enum class Rounding : std::uint8_t { up, down };
Duration rounded(Duration value, Rounding rounding) noexcept;

// A short name such as "not_schedulable". Static storage.
std::string_view name_of(RefusalCode code) noexcept;

// The exception a caller sees: kind and minor code of a refusal. TRANSIENT where asking again may help.
Error error_of(const Refusal& refusal) noexcept;

// One sentence for people, with the numbers and what would fit. Not for real-time threads (allocates).
std::string text_of(const Refusal& refusal);

}  // namespace corelane::sched
