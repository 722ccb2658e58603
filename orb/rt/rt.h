// corelane::rt: explicit admission of a client's task at the server, and what a task may ask.
//
// Threads: any but real-time ones for admit() and the destructor of Task (both talk to the server).
#pragma once

#include "orb/base/language.h"

#include <memory>
#include <string>
#include <utility>

#include "orb/base/contract.h"
#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/core/object.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/refusal.h"

namespace corelane::core {
class Orb;
class TaskBinding;
}  // namespace corelane::core

namespace corelane::rt {

struct TaskSpec {
  std::string operation{};  // as in IDL; an attribute's is "_get_name" or "_set_name"
  Contract contract{};
};

// Why a task was not admitted: in numbers, and as the server says it.
struct Refusal {
  sched::Refusal reason;
  std::string text;
};

// An admitted task. As long as it lives, calls of its operation through the reference (and its copies and narrowed
// forms) run as its jobs. Departs when destroyed.
class Task {
 public:
  Task(Task&&) noexcept = default;
  Task& operator=(Task&& other) noexcept;
  ~Task();

  TaskId id() const noexcept;
  // As it was admitted: a server may be stricter about overruns than it was asked to be (its limits.peer_overrun).
  // Without any time once the task has departed.
  Contract contract() const noexcept;
  // Departs now instead of in the destructor. Calls are then those of a caller without a task of its own.
  void depart() noexcept;

 private:
  friend Expected<Task, Refusal> admit(const core::ObjectReference<core::Object>& object, const TaskSpec& spec);
  explicit Task(std::shared_ptr<core::TaskBinding> binding) : binding_(std::move(binding)) {}

  std::shared_ptr<core::TaskBinding> binding_;
};

// Asks the server of the object. A refusal is a value; raises the system exceptions of a call (COMM_FAILURE,
// OBJECT_NOT_EXIST, BAD_PARAM bad_contract, ...) when the question itself fails.
Expected<Task, Refusal> admit(const core::ObjectReference<core::Object>& object, const TaskSpec& spec);

// What this process runs: its tasks, cores and counters; and what this ORB turned away.
struct Report : dispatch::ExecutiveReport {
  std::uint64_t dropped_oneways = 0;     // came and were not run: no task, no room, no such object
  std::uint64_t cut_off_clients = 0;     // connections closed for what the client did or left undone
  std::uint64_t abandoned_requests = 0;  // not run: their client had cancelled them, or was gone
};
Report report(core::Orb& orb);

// What a handler hears of a job: which one, when it was due and when it ended, and how long it ran and slept.
using TaskEvent = dispatch::TaskEvent;
using TaskEventHandler = dispatch::TaskEventHandler;

// From now on the handler is called for each job of this process's tasks that ends after its deadline, that used more
// than its budget, or that suspended itself for longer than S (nobody looks in mode leader-followers), whoever's ORB
// serves it. A job that did more than one of these is told of to the handler of each. There is
// one handler of each kind in a process; an empty one takes it back. When these return no call of the handler before
// runs, unless they were called from one.
//
// A handler is called soon after the job has ended, never in it: on a thread of the best-effort lane (in mode
// leader-followers on one of its own), one call at a time. It may block, allocate and call objects; meanwhile requests
// without a contract have a thread less. What it throws is logged. 256 events wait for it; TaskEvent::lost counts those
// beyond. Threads: any that is not real-time. Raises what Orb::executive() raises.
void on_miss(core::Orb& orb, TaskEventHandler handler);
void on_overrun(core::Orb& orb, TaskEventHandler handler);
void on_oversleep(core::Orb& orb, TaskEventHandler handler);

// Writes what was recorded of this process's scheduling to a new file, in `directory` or where recorder.directory says,
// and gives its path; see docs/recorder.md. Errors: BAD_PARAM bad_option (recorder.size is 0), PERSIST_STORE.
// Any thread that is not real-time.
Expected<std::string> dump_trace(core::Orb& orb, const std::string& directory = {});

}  // namespace corelane::rt
