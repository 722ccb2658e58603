// TaskEvents tells the application of jobs that missed their deadline or exceeded their contract.
//
// Threads: post(): any, also real-time ones; it takes a short lock with priority inheritance, and allocates nothing.
// note_refused(): any; it makes two atomic operations, because a client that floods the server causes many calls. The
// handlers run on one thread at a time, that of an internal job (see Job::is_internal), which is no task's thread.
// set(): any thread that is not real-time.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "orb/base/thread_safety.h"
#include "orb/dispatch/internal_job.h"
#include "orb/os/pi_mutex.h"

namespace corelane::dispatch {

enum class TaskEventKind : std::uint8_t {
  miss,       // the job ended after its deadline
  overrun,    // it used more than its budget
  oversleep,  // it suspended itself for longer than its contract says
};

struct TaskEvent {
  TaskEventKind kind{};
  TaskId task{};
  JobId job{};
  CoreId core{};
  Time release{};
  Time deadline{};
  Time finished{};
  Duration used{};         // execution time
  Duration suspended{};    // in declared suspensions
  std::uint64_t lost = 0;  // events of any kind, since the one before, that found no room
};
using TaskEventHandler = std::function<void(const TaskEvent&)>;

// Returns whether the calling thread is in a handler. It must wait neither for requests, which it may have to run
// itself, nor for the threads that run handlers.
bool inside_event_handler() noexcept;

// InternalJobQueue takes internal jobs (Job::is_internal) and runs them later.
class InternalJobQueue {
 public:
  virtual ~InternalJobQueue() = default;
  // Runs the job later, or leaves it with the caller. Any thread; neither blocks nor allocates.
  virtual void take_internal(JobPtr& job) noexcept = 0;
};

class TaskEvents final : private InternalJob {
 public:
  static constexpr std::size_t capacity = 256;  // events that wait for their handler

  // `queue` must not run anything any more when this object is destroyed.
  explicit TaskEvents(InternalJobQueue& queue) noexcept : queue_(queue) {}

  // Replaces the handler of the kind; an empty one removes it. When this returns, no call of the handler before it
  // begins any more. Waits for one that runs, unless called from a handler.
  void set(TaskEventKind kind, TaskEventHandler handler);
  // Counts the event. If the kind has a handler, it is called later, unless `capacity` events wait already.
  void post(const TaskEvent& event) noexcept;
  // Counts a request that came while another one of its task waited, and was refused. No handler is called.
  void note_refused(TaskId of) noexcept;

  // What was posted so far. Any thread.
  struct Count {
    std::uint64_t events = 0;
    TaskId last{};  // the task of the latest one
  };
  struct Tally {
    Count misses, overruns, oversleeps, refusals;
  };
  Tally tally() const noexcept;

 private:
  struct Counter {
    std::atomic<std::uint64_t> number{0};
    std::atomic<TaskId> latest{};
    void add(TaskId of) noexcept;
    Count read() const noexcept;
  };
  static constexpr std::size_t kinds = 3;
  bool push(const TaskEvent& event) noexcept;
  bool pop(TaskEvent& event) noexcept;
  bool waiting() noexcept;
  void ask_for_thread() noexcept;
  void tell(const TaskEvent& event) noexcept;

  void run(const JobContext&) noexcept override;
  void recycle() noexcept override;

  InternalJobQueue& queue_;  // constant

  std::array<Counter, kinds> posted_of_;  // by kind
  Counter refused_;
  std::atomic<std::uint8_t> wanted_{0};  // bit i: kind i has a handler
  bool ran_ = false;                     // owner: the thread that has the job

  os::PiMutex mutex_;
  std::array<TaskEvent, capacity> events_ CORELANE_GUARDED_BY(mutex_);
  std::size_t first_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::size_t count_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::uint64_t lost_ CORELANE_GUARDED_BY(mutex_) = 0;

  std::recursive_mutex calling_;
  std::array<std::shared_ptr<const TaskEventHandler>, kinds> handlers_;  // guarded by calling_
};

}  // namespace corelane::dispatch
