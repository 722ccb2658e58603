// A run is one set of tasks under one dispatcher: in virtual time (virtual_run.h), or with processes and threads on
// this host. Both take a RunRequest and return a RunOutcome, so that they can be compared.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/executive.h"
#include "orb/eval/dispatchers.h"
#include "orb/eval/run_overheads.h"
#include "orb/eval/scenario.h"
#include "orb/eval/slowdown_table.h"
#include "orb/eval/task_set.h"

namespace corelane::eval {

struct CustomPolicies;  // orb/eval/planning/custom_policies.h

struct RunRequest {
  std::vector<Task> tasks;                 // in the order in which they ask for admission
  std::vector<CoreId> cores;               // at least one
  const Dispatcher* dispatcher = nullptr;  // never null in a request that is run
  dispatch::ExecutiveOptions server{};     // platform load, allocation, admission test
  // For a virtual run: policies that replace those of `server`, for dispatchers that refuse tasks. Null: none.
  const CustomPolicies* custom = nullptr;
  RunOverheads overheads{};           // of a virtual run; a real one has its own
  SlowdownTable slowdowns{};          // in a virtual run: how much tasks slow each other down
  bool charge_slowdowns = false;      // policy.charge_slowdowns = true; in a virtual run
  std::string transport = "channel";  // of a real run: "channel", "unix" or "tcp"
  Duration length{};                  // of the run, from the common start of all tasks; > 0
  std::uint64_t seed = 1;        // of arrivals and execution times. Dispatchers with the same seed get the same jobs
  std::size_t most_misses = 16;  // RunOutcome::misses has at most so many
};

// Why a job was late.
enum class MissCause : std::uint8_t {
  unknown,
  scheduling,  // other admitted work
  overrun,     // it executed longer than its budget
  host,        // the machine took the core away; only in real runs
};

// A job. Times count from the start of the run.
struct JobRecord {
  std::size_t task = 0;      // index in RunRequest::tasks
  std::uint64_t number = 0;  // of the task's jobs, from 0
  Duration release{};        // nominal: the deadline counts from here
  Duration start{};          // when it first executed; Duration::max(): never
  Duration finish{};         // Duration::max(): not until the end of the run, or it was refused
  Duration deadline{};
  CoreId core = no_core;  // where it ended
  MissCause cause = MissCause::unknown;

  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

struct TaskOutcome {
  std::string label{};
  bool admitted = false;
  CoreId core = no_core;       // of an admitted task: its last one; no_core: it has none of its own
  Duration bound{};            // the computed response; zero: nothing is promised
  std::string refusal{};       // of a task that is not admitted: the sentence for its client
  std::uint64_t jobs = 0;      // whose deadlines are within the run
  std::uint64_t misses = 0;    // of these: refused, late, or not finished
  std::uint64_t overruns = 0;  // jobs that exceeded their budgets
  Duration worst{};            // the longest response, from the nominal release
  Duration total{};            // the sum of the responses of `finished` jobs
  std::uint64_t finished = 0;  // jobs that ended, also those whose deadlines are behind the run

  Duration mean() const { return finished == 0 ? Duration{} : total / static_cast<Duration::rep>(finished); }
};

struct RunOutcome {
  std::vector<TaskOutcome> tasks;    // as in RunRequest::tasks
  std::vector<JobRecord> misses{};   // the first ones, by their deadlines
  std::uint64_t trace_hash = 0;      // of a virtual run: of all events; equal runs have equal hashes
  bool real_time = true;             // of a real run: its threads had SCHED_FIFO
  std::vector<std::string> notes{};  // sentences that belong beside the figures, such as what the host lacks
};

}  // namespace corelane::eval
