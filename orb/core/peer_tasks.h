// PeerTasks: the tasks that one connection has admitted, and the admissions that it waits for. It says what each task
// is for: one operation of one object. A task is used by nobody else and for nothing else, so an id that a peer guessed
// is worth nothing.
//
// Threads: any; one priority-inheriting mutex. Invariant: an admission that nobody waits for any more (cancelled,
// connection gone) ends with settle() == false, and its task is to depart.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "orb/base/bytes.h"
#include "orb/base/contract.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/core/skeleton.h"
#include "orb/os/pi_mutex.h"
#include "orb/sched/arrival_meter.h"

namespace corelane::core {

class PeerTasks {
 public:
  enum class Ticket : std::uint64_t {};
  struct Entry {
    Ticket ticket{};
    TaskId task = no_task;  // none yet: pending
    const Upcall* upcall = nullptr;
    std::uint32_t request_id = 0;
    bool used = false;
    sched::ArrivalMeter arrivals{};
    std::vector<std::byte> object_key;
  };

  // Before the executive is asked. Nothing when `capacity` tasks and admissions are there already. Allocates.
  std::optional<Ticket> open(std::uint32_t request_id, Bytes object_key, const Upcall& upcall, std::size_t capacity);
  // The executive said no.
  void close(Ticket ticket) noexcept;
  // The executive said yes, with this contract. False: nobody waits for the answer any more.
  bool settle(Ticket ticket, TaskId task, const Contract& contract) noexcept;

  // The client gave up the request: its admission is called off. The task when there is one already whose client has
  // not used it, so cannot know of it.
  std::optional<TaskId> cancel(std::uint32_t request_id) noexcept;
  // The task has departed. False: it was none of these.
  bool forget(TaskId task) noexcept;
  // The connection is gone: what it had.
  std::vector<Entry> clear() noexcept;

  bool empty() noexcept;
  // Whether the task was admitted here, and is not forgotten. Bound: as use().
  bool has(TaskId task) noexcept;
  enum class Use : std::uint8_t {
    forbidden,  // the task is not for this operation of this object
    early,      // it may run, and comes sooner than the contract foresees
    foreseen,
  };
  // Whether a job of `task` that came at `at` may run this operation of this object. Bound: `capacity` of open().
  Use use(TaskId task, Bytes object_key, const Upcall& upcall, Time at) noexcept;

 private:
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::vector<Entry> entries_;
  std::uint64_t tickets_ = 0;
};

}  // namespace corelane::core
