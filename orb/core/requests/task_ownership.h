// TaskOwnership holds the tasks that were admitted over one connection, and its pending admissions. It knows the
// operation and the object of each task. Only this connection, and the one bound to the task, can use a task, and only
// for that operation. So guessing the id of a task gains nothing.
//
// Threads: any; one mutex with priority inheritance. Invariant: if an admission is cancelled or its connection closes,
// settle() returns false for it, and its task must depart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/core/skeleton.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/schedulers/arrival_meter.h"

namespace corelane::core {

class TaskOwnership {
 public:
  enum class Ticket : std::uint64_t {};
  struct Entry {
    Ticket ticket{};
    TaskId task = no_task;  // no_task: pending
    const Upcall* upcall = nullptr;
    std::uint32_t request_id = 0;
    bool used = false;
    sched::ArrivalMeter arrivals{};
    std::vector<std::byte> object_key;
  };

  // Adds a pending admission. Call it before asking the executive. Returns nothing if there are `capacity` tasks and
  // admissions already. Allocates.
  std::optional<Ticket> open(std::uint32_t request_id, Bytes object_key, const Upcall& upcall, std::size_t capacity);
  // Removes a pending admission that the executive refused.
  void close(Ticket ticket) noexcept;
  // Completes an admission that the executive granted with this contract. Returns false if the admission was cancelled
  // meanwhile.
  bool settle(Ticket ticket, TaskId task, const Contract& contract) noexcept;

  // Cancels the admission of a request that the client gave up. Returns the task if it was admitted already and the
  // client has not used it: then the client cannot know of it.
  std::optional<TaskId> cancel(std::uint32_t request_id) noexcept;
  // Removes a task that has departed. Returns false if it is not one of these.
  bool forget(TaskId task) noexcept;
  // Removes all entries of a closed connection and returns them.
  std::vector<Entry> clear() noexcept;

  bool empty() noexcept;
  // Returns whether the task was admitted here and not removed. Bound: as use().
  bool has(TaskId task) noexcept;
  enum class Use : std::uint8_t {
    forbidden,  // the task is not for this operation of this object
    early,      // it may run, but comes sooner than the contract foresees
    foreseen,
  };
  // Returns whether a job of `task` that arrived at `at` may run this operation of this object. Bound: `capacity` of
  // open().
  Use use(TaskId task, Bytes object_key, const Upcall& upcall, Time at) noexcept;

 private:
  os::PiMutex mutex_;
  std::vector<Entry> entries_ CORELANE_GUARDED_BY(mutex_);
  std::uint64_t tickets_ CORELANE_GUARDED_BY(mutex_) = 0;
};

}  // namespace corelane::core
