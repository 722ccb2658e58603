// RequestTarget finds the objects of requests; the object adapters (orb/poa) implement it. ActiveObject is one object
// that can be called, remotely or locally.
//
// Threads: any. find() runs on the reader thread and does not block.
//
// The folder orb/core/objects finds the object that a request names, and lets the request into it or makes it wait.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "orb/base/bytes.h"
#include "orb/base/expected.h"
#include "orb/base/thread_safety.h"
#include "orb/base/time.h"
#include "orb/core/objects/entry_counter.h"
#include "orb/core/objects/entry_slots.h"
#include "orb/core/objects/poa_manager_state.h"
#include "orb/core/skeleton.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/schedulers/arrival_meter.h"

namespace corelane::core {

// SharedTask is the state of the task that callers without a task of their own share. There is one for each operation
// with a contract in its IDL.
struct SharedTask {
  enum class Phase : std::uint8_t { none, pending, admitted, refused };
  Phase phase = Phase::none;
  TaskId task = no_task;                    // if admitted
  Error error{};                            // if refused: the error that a caller gets
  std::optional<sched::Refusal> refusal{};  // if the analysis refused it: the reason
  bool may_have_changed = false;            // if refused: see ActiveObject::ask_again()
};

class ActiveObject : public std::enable_shared_from_this<ActiveObject> {
 public:
  // `servant` keeps alive what `self` points to, until the object is inactive and no request runs in it. `contracts`
  // are those of the skeleton's operations, or empty.
  ActiveObject(std::shared_ptr<PoaManagerState> manager_state, std::shared_ptr<void> servant, const Skeleton& skeleton,
               void* self, OperationContracts contracts);

  const Skeleton& skeleton() const noexcept { return skeleton_; }
  void* self() const noexcept { return self_; }
  PoaManagerState& manager_state() const noexcept { return *manager_state_; }
  bool active() const noexcept { return presence_.passage() == Passage::active; }
  // Returns the operation with that name, or null if the interface has none. Faster than the skeleton's find() for
  // operations found recently.
  const Upcall* find(std::string_view operation) noexcept;
  // Returns the servant that was passed to the constructor; null if it was released.
  std::shared_ptr<void> servant();
  const OperationContracts& contracts() const noexcept { return contracts_; }

  // Returns whether an operation has a contract, and so a shared task.
  bool has_shared_tasks() const noexcept { return tasks_ != nullptr; }
  // Requests the shared tasks of the operations with a contract, if there are any. `wait`: blocks until all are
  // answered, and logs the refusals (not inside a servant). Call it once.
  void admit_shared_tasks(const std::shared_ptr<dispatch::Executive>& executive, bool wait);
  // Returns the state for a caller without a task of its own. A TRANSIENT refusal may have changed for the next caller.
  // A refusal for lack of room may have changed after `ask_again_after`, since a task may have left. Any other refusal
  // stays until the object is activated again. Takes no lock if the operation has no shared task, or if it is admitted.
  SharedTask shared_task(const Upcall& upcall);
  // Requests the task again, for the job of a caller whose refusal may have changed. The job runs if the task is
  // admitted; otherwise the caller gets the new refusal. If another caller asked first, the job fails with TRANSIENT
  // admission_pending, or gets the answer to that caller.
  void ask_again(const Upcall& upcall, dispatch::JobPtr job) noexcept;
  // Notes that a job of `task` was refused for `refusal`. If `task` is the shared task of the operation and has left,
  // the next caller requests it again.
  void note_refusal(const Upcall& upcall, TaskId task, const sched::Refusal& refusal) noexcept;
  // Returns whether the contract of the admitted shared task foresees a request that arrived at `at`, and counts it
  // then.
  bool foresees(const Upcall& upcall, Time at) noexcept { return tasks_[index_of(upcall)].arrivals.foresees(at); }
  // Returns whether `task` is the shared task of this operation.
  bool shares(TaskId task, const Upcall& upcall) const noexcept;

  // Deactivates the object permanently. Running requests finish, new ones get OBJECT_NOT_EXIST, and shared tasks
  // depart.
  void deactivate() noexcept;
  // Deactivates many objects, with one EntryCounter::order_entries() for all.
  static void deactivate_all(std::span<const std::shared_ptr<ActiveObject>> objects) noexcept;
  // Limits how often calls make the manager decide.
  static constexpr Duration ask_again_after = std::chrono::seconds{1};
  void wait_until_idle() const noexcept { presence_.wait_until_empty(); }

 private:
  friend class UpcallGuard;
  friend class SharedTaskHandler;
  struct Slot {
    // PAIR shared_task: acquire here <- release in Slot::set(). Publishes `admitted`.
    SharedTask::Phase published() const noexcept { return answer.load(std::memory_order_acquire); }
    void set(const SharedTask& next) noexcept;

    std::atomic<SharedTask::Phase> answer{SharedTask::Phase::none};
    std::atomic<TaskId> admitted{no_task};  // the last task that was admitted
    SharedTask state;                       // guarded by mutex_
    sched::ArrivalMeter arrivals;
    Time answered{};  // guarded by mutex_
  };
  static bool may_have_changed(const Slot& slot, Time now) noexcept;
  SharedTask copy_of(const Slot& slot);
  void tell_refusals();
  std::size_t index_of(const Upcall& upcall) const noexcept;
  void ask(std::size_t index, dispatch::JobPtr job) noexcept;
  void settle(std::size_t index, const SharedTask& outcome, dispatch::JobPtr job) noexcept;
  void tell(const SharedTask& outcome, dispatch::JobPtr job) noexcept;
  void depart(TaskId task) noexcept;
  void end_deactivation() noexcept;
  void leave() noexcept;
  void release_if_empty() noexcept;
  const Upcall* find_anew(std::string_view operation, std::size_t at) noexcept;

  const std::shared_ptr<PoaManagerState> manager_state_;
  const Skeleton& skeleton_;
  void* const self_;
  const OperationContracts contracts_;
  const std::unique_ptr<Slot[]> tasks_;  // one for each upcall; null when no operation has a contract
  EntryCounter presence_{Passage::active};
  std::array<std::atomic<const Upcall*>, 8> recent_{};  // point to the skeleton's upcalls; see find()
  os::PiMutex mutex_;
  std::shared_ptr<void> servant_ CORELANE_GUARDED_BY(mutex_);
  bool deactivated_ CORELANE_GUARDED_BY(mutex_) = false;  // a task that is admitted from now on departs
  std::weak_ptr<dispatch::Executive> executive_;  // has the shared tasks; set once, before the first is requested
};

inline const Upcall* ActiveObject::find(std::string_view operation) noexcept {
  if (operation.empty()) return nullptr;
  const auto first = static_cast<unsigned char>(operation.front()), last = static_cast<unsigned char>(operation.back());
  const std::size_t at = (operation.size() * 5 + first * 3u + last) % recent_.size();
  const Upcall* const upcall = recent_[at].load(std::memory_order_relaxed);  // relaxed: what it points to is a constant
  if (upcall != nullptr && upcall->name.size() == operation.size() &&
      // The stub and the skeleton of one program mostly share the text of the name.
      (upcall->name.data() == operation.data() || upcall->name == operation))
    return upcall;
  return find_anew(operation, at);
}

// UpcallGuard marks the calling thread as inside an object, and inside its POA manager, for as long as it lives. The
// thread's EntrySlots contain both. If no slots are left, it counts in both.
class UpcallGuard {
 public:
  // Tries to enter. If the POA manager holds requests, holding() is true. After any other refusal, error() is what the
  // caller gets.
  explicit UpcallGuard(ActiveObject& object) noexcept
      : object_(object),
        slots_(enter_by_slots(object)),
        outcome_(slots_ != nullptr ? Outcome::inside : enter_by_count(object)) {}
  // Always inlined, so that the compiler keeps the guard in registers.
  [[gnu::always_inline]] ~UpcallGuard() {
    if (slots_ != nullptr)
      leave_slots(*slots_, object_);
    else if (outcome_ == Outcome::inside)
      leave_count(object_);
  }
  UpcallGuard(const UpcallGuard&) = delete;
  UpcallGuard& operator=(const UpcallGuard&) = delete;

  explicit operator bool() const noexcept { return outcome_ == Outcome::inside; }
  bool holding() const noexcept { return outcome_ == Outcome::held; }
  // Call only when not inside.
  Error error() const noexcept { return error_of(outcome_); }

 private:
  enum class Outcome : std::uint8_t { inside, held, discarded, manager_inactive, object_inactive };

  // Returns the slots that contain the object and its POA manager; null: they do not.
  static EntrySlots* enter_by_slots(ActiveObject& object) noexcept {
    EntrySlots* const slots = EntrySlots::mine();
    if (slots == nullptr || !slots->has_room(2)) return nullptr;
    slots->push(object.manager_state_->entry_counter(), object.presence_);
    // seq_cst: orders the compiler only. os::order_threads(), which a thread calls when it changes a rule, is a barrier
    // for this thread, too.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (both_active(object)) return slots;
    leave_slots(*slots, object);
    return nullptr;
  }
  static bool both_active(const ActiveObject& object) noexcept {
    return object.manager_state_->entry_counter().passage() == Passage::active && object.active();
  }
  [[gnu::hot]] static void leave_slots(EntrySlots& slots, ActiveObject& object) noexcept {
    slots.pop_two();
    std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: as in enter_by_slots()
    if (!both_active(object)) object.leave();
  }
  static Outcome enter_by_count(ActiveObject& object) noexcept;
  static void leave_count(ActiveObject& object) noexcept;
  static Error error_of(Outcome outcome) noexcept;

  ActiveObject& object_;
  EntrySlots* const slots_;
  const Outcome outcome_;
};

class RequestTarget {
 public:
  virtual ~RequestTarget() = default;

  // Returns the object, or OBJECT_NOT_EXIST. Does not block, does not allocate.
  virtual Expected<std::shared_ptr<ActiveObject>> find(Bytes object_key) noexcept = 0;
  // Refuses the requests that wait at a holding POA manager, because the ORB shuts down.
  virtual void stop_holding() noexcept = 0;
  // Deactivates all objects after the ORB has shut down. Called once, when no request runs.
  virtual void close() noexcept = 0;
};

}  // namespace corelane::core
