// RequestTarget: where requests find their objects; the object adapters (orb/poa) implement it. ActiveObject: one
// object as requests see it, remote or local.
//
// Threads: any. find() runs on the reader thread and does not block.
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
#include "orb/base/time.h"
#include "orb/core/entry_slots.h"
#include "orb/core/gate.h"
#include "orb/core/skeleton.h"
#include "orb/core/turnstile.h"
#include "orb/dispatch/executive.h"
#include "orb/sched/arrival_meter.h"

namespace corelane::core {

// How things stand with the task that callers without one of their own share, for one operation with a contract in its
// IDL.
struct SharedTask {
  enum class Phase : std::uint8_t { none, pending, admitted, refused };
  Phase phase = Phase::none;
  TaskId task = no_task;                    // when admitted
  Error error{};                            // when refused: what a caller gets
  std::optional<sched::Refusal> refusal{};  // and why, when the analysis said so
  bool may_have_changed = false;            // when refused: see ActiveObject::ask_again()
};

class ActiveObject : public std::enable_shared_from_this<ActiveObject> {
 public:
  // `servant` keeps alive what `self` points to, until the object is inactive and no request runs in it. `contracts`:
  // of the skeleton's operations, or empty.
  ActiveObject(std::shared_ptr<Gate> gate, std::shared_ptr<void> servant, const Skeleton& skeleton, void* self,
               OperationContracts contracts);

  const Skeleton& skeleton() const noexcept { return skeleton_; }
  void* self() const noexcept { return self_; }
  Gate& gate() const noexcept { return *gate_; }
  bool active() const noexcept { return presence_.passage() == Passage::active; }
  // The operation of that name; null: the interface has none. Faster than the skeleton's for one that was asked for
  // lately.
  const Upcall* find(std::string_view operation) noexcept;
  // The servant that was given to the constructor; null where it has been given free.
  std::shared_ptr<void> servant();
  const OperationContracts& contracts() const noexcept { return contracts_; }

  // Asks for the shared tasks of the operations with a contract, if there are any. `wait`:
  // until all are answered (not inside a servant); refusals are then in the log. Once.
  void admit_shared_tasks(const std::shared_ptr<dispatch::Executive>& executive, bool wait);
  // What a caller without a task of its own meets. A refusal that is TRANSIENT may have changed for the next caller,
  // and one for lack of room when `ask_again_after` has passed: somebody may have left. Any other stands until the
  // object is activated anew. Takes no lock when there is none or it is admitted.
  SharedTask shared_task(const Upcall& upcall);
  // Asks again, for the job of a caller whose refusal may have changed: it gets the new answer, and runs when that is
  // yes. Where another caller was first, the job fails (TRANSIENT admission_pending), or gets what that one was told.
  void ask_again(const Upcall& upcall, dispatch::JobPtr job) noexcept;
  // A job of `task` was refused for `refusal`. If that is the shared task of the operation and it has left, the next
  // caller asks for it anew.
  void note_refusal(const Upcall& upcall, TaskId task, const sched::Refusal& refusal) noexcept;
  // Whether the contract of its admitted shared task foresees a request that came at `at`; counts it then.
  bool foresees(const Upcall& upcall, Time at) noexcept { return tasks_[index_of(upcall)].arrivals.foresees(at); }
  // Whether `task` is the shared one of this operation.
  bool shares(TaskId task, const Upcall& upcall) const noexcept;

  // For good: requests that run finish, new ones get OBJECT_NOT_EXIST, shared tasks depart.
  void deactivate() noexcept;
  // The same of many, with one Turnstile::order_entries() for all.
  static void deactivate_all(std::span<const std::shared_ptr<ActiveObject>> objects) noexcept;
  static constexpr Duration ask_again_after = std::chrono::seconds{1};  // so calls cannot keep the manager deciding
  void wait_until_idle() const noexcept { presence_.wait_until_empty(); }

 private:
  friend class Visit;
  friend class SharedTaskHandler;
  struct Slot {
    // PAIR shared_task: acquire here <- release in Slot::set(). Publishes `admitted`.
    SharedTask::Phase published() const noexcept { return answer.load(std::memory_order_acquire); }
    void set(const SharedTask& next) noexcept;

    std::atomic<SharedTask::Phase> answer{SharedTask::Phase::none};
    std::atomic<TaskId> admitted{no_task};  // the task that was admitted last
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

  const std::shared_ptr<Gate> gate_;
  const Skeleton& skeleton_;
  void* const self_;
  const OperationContracts contracts_;
  const std::unique_ptr<Slot[]> tasks_;  // one for each upcall; null when no operation has a contract
  Turnstile presence_{Passage::active};
  std::array<std::atomic<const Upcall*>, 8> recent_{};  // of the skeleton's upcalls; see find()
  os::PiMutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<void> servant_;
  std::weak_ptr<dispatch::Executive> executive_;  // where shared tasks are; set once
  bool deactivated_ = false;                      // a task that is admitted from now on departs
};

inline const Upcall* ActiveObject::find(std::string_view operation) noexcept {
  if (operation.empty()) return nullptr;
  const auto first = static_cast<unsigned char>(operation.front()), last = static_cast<unsigned char>(operation.back());
  const std::size_t at = (operation.size() * 5 + first * 3u + last) % recent_.size();
  const Upcall* const upcall = recent_[at].load(std::memory_order_relaxed);  // relaxed: what it points to is a constant
  if (upcall != nullptr && upcall->name.size() == operation.size() &&
      // Stub and skeleton of one program mostly share the text of the name.
      (upcall->name.data() == operation.data() || upcall->name == operation))
    return upcall;
  return find_anew(operation, at);
}

// Being inside an object: as long as it lives the gate and the object know of it. Its thread has both in its EntrySlots
// or, where it has none left, counts in both.
class Visit {
 public:
  // The gate holding: Passage::holding and no visit. Other refusals: the error that the caller gets.
  explicit Visit(ActiveObject& object) noexcept : object_(object) {
    if (!enter_by_slots()) enter_by_count();
  }
  ~Visit() {
    if (slots_ != nullptr)
      leave_slots();
    else if (inside_)
      leave_count();
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  explicit operator bool() const noexcept { return inside_; }
  bool holding() const noexcept { return holding_; }
  // Call only when not inside.
  Error error() const noexcept { return error_; }

 private:
  bool enter_by_slots() noexcept {
    EntrySlots* const slots = EntrySlots::mine();
    if (slots == nullptr || !slots->has_room(2)) return false;
    slots->push(object_.gate_->turnstile());
    slots->push(object_.presence_);
    slots_ = slots;
    // seq_cst: for the compiler alone. The barrier of a thread that changes a rule, os::order_threads(), is this
    // thread's, too.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    inside_ = both_active();
    if (!inside_) leave_slots();
    return inside_;
  }
  bool both_active() const noexcept {
    return object_.gate_->turnstile().passage() == Passage::active && object_.active();
  }
  void leave_slots() noexcept {
    slots_->pop();
    slots_->pop();
    slots_ = nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);  // seq_cst: as in enter_by_slots()
    if (!both_active()) object_.leave();
  }
  void enter_by_count() noexcept;
  void leave_count() noexcept;

  ActiveObject& object_;
  EntrySlots* slots_ = nullptr;
  bool inside_ = false;
  bool holding_ = false;
  Error error_{};
};

class RequestTarget {
 public:
  virtual ~RequestTarget() = default;

  // OBJECT_NOT_EXIST: no such object. Does not block, does not allocate.
  virtual Expected<std::shared_ptr<ActiveObject>> find(Bytes object_key) noexcept = 0;
  // The ORB shuts down: requests that wait at a holding gate are turned away.
  virtual void stop_holding() noexcept = 0;
  // The ORB shut down: everything is deactivated. Called once, when no request runs.
  virtual void close() noexcept = 0;
};

}  // namespace corelane::core
