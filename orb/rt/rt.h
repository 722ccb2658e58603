// corelane::rt admits a client's task at the server explicitly, and reports on tasks.
//
// Threads: any; but real-time threads may not call admit() or the destructor of Task, because both call the server.
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

// Why a task was not admitted: as numbers, and as the server's text.
struct Refusal {
  sched::Refusal reason;
  std::string text;
};

// Task is an admitted task. While it lives, calls of its operation through the reference (and its copies and narrowed
// forms) run as its jobs. It departs when it is destroyed.
class Task {
 public:
  Task(Task&&) noexcept = default;
  Task& operator=(Task&& other) noexcept;
  ~Task();

  TaskId id() const noexcept;
  // Returns the contract as admitted. A server may be stricter about overruns than requested (its limits.peer_overrun).
  // All times are zero after the task has departed.
  Contract contract() const noexcept;
  // Departs now instead of in the destructor. After that, calls are those of a caller without its own task.
  void depart() noexcept;

 private:
  friend Expected<Task, Refusal> admit(const core::ObjectReference<core::Object>& object, const TaskSpec& spec);
  explicit Task(std::shared_ptr<core::TaskBinding> binding) : binding_(std::move(binding)) {}

  std::shared_ptr<core::TaskBinding> binding_;
};

// Asks the object's server to admit a task. A refusal is a value. Raises the system exceptions of a call (COMM_FAILURE,
// OBJECT_NOT_EXIST, BAD_PARAM bad_contract, ...) if the request itself fails.
Expected<Task, Refusal> admit(const core::ObjectReference<core::Object>& object, const TaskSpec& spec);

// Report describes what this process runs (tasks, cores and counters) and what this ORB rejected.
struct Report : dispatch::ExecutiveReport {
  std::uint64_t dropped_oneways = 0;     // arrived but did not run: no task, no room, no such object
  std::uint64_t cut_off_clients = 0;     // connections closed because of what the client did or failed to do
  std::uint64_t abandoned_requests = 0;  // did not run: the client had canceled them, or was gone
};
Report report(core::Orb& orb);

// What a handler learns about a job: which job, when it was due and ended, and how long it ran and slept.
using TaskEvent = dispatch::TaskEvent;
using TaskEventHandler = dispatch::TaskEventHandler;

// Set the handler for jobs of this process's tasks that end after the deadline, use more than the budget, or suspend
// themselves for longer than S. Mode leader-followers does not check S. The handler is called whichever ORB serves the
// job. If a job did several of these, each handler is called. A process has one handler of each kind; an empty one
// removes it. When these functions return, no call of the previous handler runs, unless they were called from one.
//
// A handler is called soon after the job has ended, never in it, one call at a time. It runs on a thread of the
// best-effort executor (in mode leader-followers on its own thread). It may block, allocate and call objects; meanwhile
// requests without a contract have one thread less. Its exceptions are logged. Up to 256 events wait for it;
// TaskEvent::lost counts those that were lost. Threads: any that is not real-time. Raise what Orb::executive() raises.
void on_miss(core::Orb& orb, TaskEventHandler handler);
void on_overrun(core::Orb& orb, TaskEventHandler handler);
void on_oversleep(core::Orb& orb, TaskEventHandler handler);

// Writes the recorded scheduling events of this process to a new file in `directory`, or in recorder.directory. Returns
// the file's path; see docs/recorder.md. Errors: BAD_PARAM bad_option (recorder.size is 0), PERSIST_STORE. Any thread
// that is not real-time.
Expected<std::string> dump_trace(core::Orb& orb, const std::string& directory = {});

}  // namespace corelane::rt
