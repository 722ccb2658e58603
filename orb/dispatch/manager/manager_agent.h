// ManagerAgent is the manager: it admits tasks and dispatches their jobs. It takes requests from any thread, and has
// the locks, the queues and the wake-ups of its two threads. What its lock guards is in two parts: ManagerDriver asks
// sched::Manager and carries out its commands, and WorkCycle says in which order the work is done. It is an agent:
// tests step it by hand, and the executive gives it a thread. An AdmissionCandidate is a request for admission
// (admission_candidate.h).
//
// below() is an agent on a thread below all tasks. It does what takes longer than the manager's own time (WorkCycle).
// Each of its steps takes the lock. So an admitted job waits for one slice at most, which then runs at the manager's
// priority. On a core that the tasks fill, below() gets the part that is never promised (5 %). The manager goes on with
// first slices when it has time again.
//
// Between two steps, a thread that hands in a job of an admitted task may dispatch instead of the manager's thread.
// hand_in() dispatches the queued jobs of admitted tasks, in their order, on the caller's thread. If none is queued, it
// dispatches only the new job, which is then not queued and displaces no other job. It analyses nothing. This saves the
// switch to the manager's thread, which does everything else, and takes the jobs that arrive during its step.
//
// Threads: step(), wake_at() and shut_down(): one thread at a time; below(): another one; submit(), hand_in(), admit(),
// depart(), peer_gone(), report(): any. There are two locks, both with priority inheritance: state_mutex_ (a step, a
// dispatch by hand_in(), or a report) and that of the PeerInbox. Other threads allocate and free under neither.
//
// Memory: all that a task needs in its life is allocated before it is admitted: on the thread that asks
// (AdmissionCandidate), and in AdmittedTasks::admit(). If there is no memory, the new task gets NO_MEMORY. After that
// nothing about the task allocates. There is one exception: the moves of a lost core's tasks are written down first,
// which takes memory. If there is none for AdmissionControl::patience, these tasks end.
//
// The folder orb/dispatch/manager decides about tasks and dispatches their jobs. It owns the other parts of the mode
// with admission.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "orb/base/agent.h"
#include "orb/base/thread_safety.h"
#include "orb/dispatch/admission/admission_queue.h"
#include "orb/dispatch/best_effort/best_effort_executor.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/cores/core_pool.h"
#include "orb/dispatch/cores/housekeeper.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/core_watch.h"
#include "orb/dispatch/manager/manager_driver.h"
#include "orb/dispatch/manager/peer_inbox.h"
#include "orb/dispatch/manager/priority_hints.h"
#include "orb/dispatch/manager/work_cycle.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/records/counter_publisher.h"
#include "orb/dispatch/records/departures.h"
#include "orb/dispatch/refusal_log.h"
#include "orb/dispatch/telemetry/recorder.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/wait/wait.h"

namespace corelane::dispatch {

class ManagerAgent final : public Agent {
 public:
  // Below does the part of the work that runs below all tasks.
  class Below final : public Agent {
   public:
    explicit Below(ManagerAgent& manager, CoreId core) : manager_(manager), core_(core), home_(core) {}
    bool step(Time now) noexcept override;
    Time wake_at() const noexcept { return wake_at_; }
    os::Parker& parker() noexcept { return parker_; }

   private:
    friend class ManagerAgent;
    void note(Time wake_at, CoreId home) noexcept { wake_at_ = wake_at, home_ = home; }
    void bind_again() noexcept { core_ = no_core; }

    ManagerAgent& manager_;
    os::Parker parker_;
    // Owner: its thread.
    Time wake_at_ = never;
    CoreId core_;  // where the thread is bound
    CoreId home_;  // where the manager's thread is
  };

  ManagerAgent(const ExecutiveOptions& options, const std::vector<CoreLease>& leases, CoreProvider& provider,
               ThreadMaker& maker, BestEffortExecutor& best_effort, const Clock& clock = {});

  bool step(Time now) noexcept override;
  // Returns when there is something to do without a wake-up.
  Time wake_at() const noexcept;
  os::Parker& parker() noexcept { return parker_; }
  Below& below() noexcept { return below_; }
  Housekeeper& housekeeper() noexcept { return housekeeper_; }
  // Thread: the housekeeper's.
  bool misses_core() const noexcept { return core_watch_.misses_core(); }
  std::span<const std::unique_ptr<CorePool>> pools() const noexcept;
  Recorder& recorder() noexcept { return recorder_; }

  // Sets the receiver of the tasks' events. Call it before the first step. `events` must outlive the agent's threads.
  void tell_events_to(TaskEvents& events) noexcept;

  // Takes a job of an admitted task, or the first job of a new task. Any thread.
  Pushed submit(JobPtr& job) noexcept;
  // Does the same, but the calling thread dispatches the job of an admitted task itself if it can do so at once. Does
  // not block.
  Pushed hand_in(JobPtr& job) noexcept;
  void admit(AdmissionRequest request, std::unique_ptr<AdmissionHandler> handler);
  void depart(TaskId task, PeerId owner) noexcept;
  void peer_gone(PeerId peer) noexcept;
  // Ends the task for the operator, and tells its client so. False: the task does not exist, or leaves already.
  bool end(TaskId task) noexcept;
  void attach(TaskId task, PeerId owner, std::shared_ptr<JobSource> source) noexcept;
  void note_refused_job() noexcept { counters_.note_refused_job(); }
  ExecutiveReport report() const;

  // Tells waiting new tasks, ends threads, and gives promises back. Call it after the last step(), also of below().
  void shut_down(Time now) noexcept;

 private:
  void ask_for_task(JobPtr job) noexcept;
  Pushed enqueue(JobPtr& job) noexcept;
  bool dispatch_at_once(JobPtr& job) noexcept;
  bool take_turn() noexcept;
  void wake_for_candidate(Time now) noexcept;
  bool step_below(Time now) noexcept;

  // Constant after construction.
  const ExecutiveOptions options_;
  const std::vector<CoreLease> leases_;
  const Clock clock_;
  BestEffortExecutor& best_effort_;

  // Shared.
  os::Parker parker_;
  NoteInbox inbox_;
  RequestQueue queue_;
  PriorityHints hints_;
  Recorder recorder_;
  RefusalLog refusals_;
  CounterPublisher counters_;
  Housekeeper housekeeper_;
  CoreWatch core_watch_;
  Below below_;
  Departures departures_;
  AdmissionQueue admissions_;
  PeerInbox peers_;

  mutable os::PiMutex state_mutex_;
  ManagerDriver driver_ CORELANE_GUARDED_BY(state_mutex_);
  WorkCycle cycle_ CORELANE_GUARDED_BY(state_mutex_);  // WorkCycle::has_analysis_time() is any thread's
};

}  // namespace corelane::dispatch
