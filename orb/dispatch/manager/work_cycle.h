// WorkCycle does the work of the manager's two threads in its order. A step of the manager's thread does, in this
// order:
// - reads notes: threads that live, tasks that left their core;
// - takes back cores that returned, and moves the tasks of one lost core;
// - gives a task a connection of its own;
// - dispatches up to `batch` requests;
// - lets one peer or task leave, or else takes in one admission;
// - runs the first slice of a new task's analysis, or decides about the new task.
//
// While full batches of requests arrive, the last item is done only once in `most_skipped` steps. A slice is limited in
// evaluations, not in time. It takes about 20 us on a core with a hundred tasks. While tasks are on a lost core, no
// task is admitted.
//
// A step runs above all tasks. So new tasks get no more time in it than the analysis charges for the platform
// (AnalysisBudget). step_below() runs on a thread below all tasks, and does the rest in slices. That is the work beyond
// this time or beyond a first slice, response bounds, and the search for contracts that would have fitted instead of
// refused ones.
//
// Threads: the holder of the manager's lock, except for has_analysis_time().
#pragma once

#include <atomic>
#include <vector>

#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/dispatch/admission/admission_queue.h"
#include "orb/dispatch/clock.h"
#include "orb/dispatch/job.h"
#include "orb/dispatch/manager/analysis_budget.h"
#include "orb/dispatch/manager/manager_driver.h"
#include "orb/dispatch/manager/peer_inbox.h"
#include "orb/dispatch/queue/inbox.h"
#include "orb/dispatch/queue/request_queue.h"
#include "orb/dispatch/records/departures.h"
#include "orb/sched/task.h"

namespace corelane::dispatch {

class WorkCycle {
 public:
  static constexpr int batch = 32;
  static constexpr int most_skipped = 8;  // full batches in a row, after which new tasks get a slice all the same

  // What other threads fill. The work is taken from there.
  struct Sources {
    NoteInbox& notes;
    RequestQueue& jobs;
    Departures& departures;
    AdmissionQueue& admissions;
    PeerInbox& peers;
  };
  // `driver` and the sources must outlive this object. `platform`: see AnalysisBudget.
  WorkCycle(ManagerDriver& driver, const Sources& sources, const sched::PlatformLoad& platform, const Clock& clock);

  // Returns whether there is more to do at once. Thread: the manager's.
  bool step(Time now) noexcept;
  // Returns when the manager's thread has something to do without a wake-up.
  Time wake_at() const noexcept { return wake_at_; }
  // Returns whether the last step left work for the thread below the tasks.
  bool leaves_rest() const noexcept { return leaves_rest_; }

  // Runs one slice, or makes one decision, so that dispatching waits for no more than that. Returns whether it did
  // anything. Thread: the one below the tasks.
  bool step_below(Time now) noexcept;
  // Returns when that thread has something to do without a wake-up.
  Time below_wakes_at() const noexcept;
  // Returns whether the manager's thread has something to do earlier than its last step has set. It writes down smaller
  // promises, and sends late refusals even if the thread below gets no time.
  bool manager_wakes_earlier() const noexcept;

  // Dispatches the job if no other one has to go first. False: the caller still has the job.
  bool dispatch(JobPtr& job) noexcept;
  // Dispatches queued jobs. False: more may be there.
  bool dispatch_queued() noexcept;

  // Returns whether the manager's thread has time for a new task now. A hint; any thread.
  bool has_analysis_time(Time now) const noexcept {
    return now >= time_back_at_.load(std::memory_order_relaxed);  // relaxed: a hint
  }

 private:
  bool read_notes(Time now) noexcept;
  int dispatch_jobs(Time now) noexcept;
  bool may_analyse(int dispatched) noexcept;
  bool take_lost_peer(Time now) noexcept;
  bool take_departure(Time now) noexcept;
  bool take_attachment() noexcept;
  bool take_admission(Time now) noexcept;
  bool begin_candidate(Time now) noexcept;
  bool has_candidates(Time now) noexcept;
  void end_step(Time now) noexcept;

  // Constant.
  const Clock clock_;
  ManagerDriver& driver_;
  const Sources sources_;

  AnalysisBudget analysis_budget_;
  std::vector<Note> notes_;
  int skipped_ = 0;           // steps in which requests left no time for new tasks
  bool settled_ = false;      // a step found nothing to do, and since then only jobs came
  bool leaves_rest_ = false;  // see leaves_rest()
  Time wake_at_ = never;
  std::atomic<Time> time_back_at_{Time{}};  // until then, analysis_budget_ is used up; any thread reads
};

}  // namespace corelane::dispatch
