#include "orb/core/objects/object_dispatch.h"

#include <new>
#include <utility>
#include <vector>

#include "orb/base/errors.h"
#include "orb/base/minor.h"
#include "orb/core/contracts/contract_backlog.h"
#include "orb/core/contracts/contracts_file.h"
#include "orb/core/contracts/refused_contracts.h"
#include "orb/os/clock.h"
#include "orb/os/lock.h"
#include "orb/os/log.h"

namespace corelane::core {
// SharedTaskHandler stores the manager's answer in the slot, and gives it to the job that caused the request.
class SharedTaskHandler final : public dispatch::AdmissionHandler {
 public:
  SharedTaskHandler(std::shared_ptr<ActiveObject> object, std::size_t index)
      : object_(std::move(object)), index_(index) {}
  ~SharedTaskHandler() override {
    if (job_) job_->fail(errors::no_memory);  // the executive was never asked
  }
  void add(dispatch::JobPtr job) noexcept { job_ = std::move(job); }

  void admitted(const dispatch::Admission& admission) noexcept override {
    settle({.phase = SharedTask::Phase::admitted, .task = admission.task});
  }
  void refused(const sched::Refusal& refusal) noexcept override {
    settle({.phase = SharedTask::Phase::refused, .error = sched::error_of(refusal), .refusal = refusal});
  }
  void failed(Error error) noexcept override { settle({.phase = SharedTask::Phase::refused, .error = error}); }

 private:
  void settle(const SharedTask& outcome) noexcept { object_->settle(index_, outcome, std::move(job_)); }

  const std::shared_ptr<ActiveObject> object_;
  const std::size_t index_;
  dispatch::JobPtr job_;
};

ActiveObject::ActiveObject(std::shared_ptr<PoaManagerState> manager_state, std::shared_ptr<void> servant,
                           const Skeleton& skeleton, void* self, OperationContracts contracts)
    : manager_state_(std::move(manager_state)),
      skeleton_(skeleton),
      self_(self),
      contracts_(std::move(contracts)),
      tasks_(contracts_.empty() ? nullptr : std::make_unique<Slot[]>(contracts_.size())),
      servant_(std::move(servant)) {
  for (std::size_t i = 0; i < contracts_.size(); ++i)
    if (contracts_[i]) tasks_[i].arrivals = sched::ArrivalMeter(*contracts_[i]);
}

// The caller holds the object's mutex.
void ActiveObject::Slot::set(const SharedTask& next) noexcept {
  state = next;
  answered = os::now();
  if (next.phase == SharedTask::Phase::admitted)
    admitted.store(next.task, std::memory_order_relaxed);  // relaxed: published by `answer`
  // PAIR shared_task: release here -> acquire in published().
  answer.store(next.phase, std::memory_order_release);
  answer.notify_all();
}

void ActiveObject::admit_shared_tasks(const std::shared_ptr<dispatch::Executive>& executive, bool wait) {
  if (!tasks_) return;
  {
    const os::LockGuard lock(mutex_);
    if (deactivated_) return;
    executive_ = executive;
    for (std::size_t i = 0; i < contracts_.size(); ++i)
      if (contracts_[i]) tasks_[i].set({.phase = SharedTask::Phase::pending});
  }
  for (std::size_t i = 0; i < contracts_.size(); ++i)
    if (contracts_[i]) ask(i, nullptr);
  if (!wait) return;
  for (std::size_t i = 0; i < contracts_.size(); ++i)  // bound: the executive answers each
    while (tasks_[i].published() == SharedTask::Phase::pending)
      // PAIR shared_task: acquire here <- release in Slot::set().
      tasks_[i].answer.wait(SharedTask::Phase::pending, std::memory_order_acquire);
  tell_refusals();
}

SharedTask ActiveObject::copy_of(const Slot& slot) {
  const os::LockGuard lock(mutex_);
  return slot.state;
}

namespace {

std::string text_of(const SharedTask& refused, const Contract& contract) {
  if (!refused.refusal) return std::string(minor::text(refused.error));
  auto said = refused.refusal->code == sched::RefusalCode::backlog ? backlog_fault_of(contract) : std::nullopt;
  return said ? *said : sched::text_of(*refused.refusal);
}

}  // namespace

void ActiveObject::tell_refusals() {
  for (std::size_t i = 0; i < contracts_.size(); ++i) {
    if (tasks_[i].published() != SharedTask::Phase::refused) continue;
    const SharedTask found = copy_of(tasks_[i]);
    const bool takes_none = found.refusal && found.refusal->takes_none;
    const bool may_pass =
        !takes_none && (found.error.kind == ErrorKind::no_resources || found.error.kind == ErrorKind::transient);
    const std::string label = label_of(skeleton_, skeleton_.upcalls[i]);
    std::string line = label + " is not admitted and its calls are refused" +
                       (may_pass ? " until there is room: " : ": ") + text_of(found, *contracts_[i]);
    for (const std::string& due : refused_contracts().note(label, std::move(line), os::now())) os::log::warn(due);
  }
}

// Requests the task of a pending slot. The mutex is not held, because the executive may answer at once.
void ActiveObject::ask(std::size_t index, dispatch::JobPtr job) noexcept {
  SharedTask outcome{.phase = SharedTask::Phase::refused,
                     .error = {ErrorKind::transient, Completion::no, minor::out_of_memory}};
  const auto executive = executive_.lock();
  if (!executive) {
    outcome.error = errors::shutting_down;
    return settle(index, outcome, std::move(job));
  }
  try {
    std::string label = label_of(skeleton_, skeleton_.upcalls[index]);
    auto handler = std::make_unique<SharedTaskHandler>(shared_from_this(), index);
    handler->add(std::exchange(job, nullptr));
    return executive->admit({.contract = *contracts_[index], .owner = {}, .label = std::move(label)},
                            std::move(handler));
  } catch (const std::bad_alloc&) {
    settle(index, outcome, std::move(job));
  }
}

void ActiveObject::settle(std::size_t index, const SharedTask& outcome, dispatch::JobPtr job) noexcept {
  SharedTask result = outcome;
  bool deactivated = false;
  {
    const os::LockGuard lock(mutex_);
    deactivated = deactivated_;
    if (deactivated)
      result = {.phase = SharedTask::Phase::refused,
                .error = {ErrorKind::object_not_exist, Completion::no, minor::no_such_object}};
    tasks_[index].set(result);
  }
  if (deactivated && outcome.phase == SharedTask::Phase::admitted) depart(outcome.task);
  tell(result, std::move(job));
}

void ActiveObject::tell(const SharedTask& outcome, dispatch::JobPtr job) noexcept {
  if (!job) return;
  if (outcome.phase == SharedTask::Phase::pending)
    return job->fail({ErrorKind::transient, Completion::no, minor::admission_pending});
  const auto executive = executive_.lock();
  if (!executive) return job->fail(errors::shutting_down);
  if (outcome.phase == SharedTask::Phase::refused) {
    executive->note_refused_job();
    return outcome.refusal ? job->refuse(*outcome.refusal) : job->fail(outcome.error);
  }
  job->task = outcome.task;
  job->arrived = os::now();  // its contract begins now
  if (const auto taken = executive->submit(job); !taken) job->fail(taken.error());
}

// If the executive has stopped, the task has departed already.
void ActiveObject::depart(TaskId task) noexcept {
  if (const auto executive = executive_.lock()) executive->depart(task);
}

std::size_t ActiveObject::index_of(const Upcall& upcall) const noexcept {
  return static_cast<std::size_t>(&upcall - skeleton_.upcalls.data());
}

// For a refused slot. The caller holds the object's mutex.
bool ActiveObject::may_have_changed(const Slot& slot, Time now) noexcept {
  const ErrorKind why = slot.state.error.kind;
  return why == ErrorKind::transient || (why == ErrorKind::no_resources && now - slot.answered >= ask_again_after);
}

[[gnu::hot]] SharedTask ActiveObject::shared_task(const Upcall& upcall) {
  if (!tasks_) return {};
  Slot& slot = tasks_[index_of(upcall)];
  const SharedTask::Phase phase = slot.published();
  if (phase == SharedTask::Phase::none) return {};
  if (phase == SharedTask::Phase::admitted)
    return {.phase = phase, .task = slot.admitted.load(std::memory_order_relaxed)};  // relaxed: after published()
  const os::LockGuard lock(mutex_);
  SharedTask found = slot.state;
  found.may_have_changed =
      found.phase == SharedTask::Phase::refused && !deactivated_ && may_have_changed(slot, os::now());
  return found;
}

void ActiveObject::ask_again(const Upcall& upcall, dispatch::JobPtr job) noexcept {
  const std::size_t index = index_of(upcall);
  Slot& slot = tasks_[index];
  SharedTask found;
  bool asks = false;
  {
    const os::LockGuard lock(mutex_);
    found = slot.state;
    asks = found.phase == SharedTask::Phase::refused && !deactivated_ && may_have_changed(slot, os::now());
    if (asks) slot.set({.phase = SharedTask::Phase::pending});
  }
  asks ? ask(index, std::move(job)) : tell(found, std::move(job));
}

namespace {

bool says_that_task_left(sched::RefusalCode why) noexcept {
  using sched::RefusalCode;
  return why == RefusalCode::ended || why == RefusalCode::core_lost || why == RefusalCode::unused ||
         why == RefusalCode::unknown_task;
}

}  // namespace

void ActiveObject::note_refusal(const Upcall& upcall, TaskId task, const sched::Refusal& refusal) noexcept {
  if (!tasks_ || task == no_task || !says_that_task_left(refusal.code)) return;
  Slot& slot = tasks_[index_of(upcall)];
  const os::LockGuard lock(mutex_);
  if (deactivated_ || slot.state.phase != SharedTask::Phase::admitted || slot.state.task != task) return;
  slot.set(
      {.phase = SharedTask::Phase::refused, .error = {ErrorKind::transient, Completion::no, minor::admission_pending}});
}

bool ActiveObject::shares(TaskId task, const Upcall& upcall) const noexcept {
  if (!tasks_) return false;
  const Slot& slot = tasks_[index_of(upcall)];
  return slot.published() == SharedTask::Phase::admitted &&
         slot.admitted.load(std::memory_order_relaxed) == task;  // relaxed: after published()
}

void ActiveObject::deactivate() noexcept {
  (void)presence_.begin_set(Passage::inactive);
  EntryCounter::order_entries();
  end_deactivation();
}

void ActiveObject::deactivate_all(std::span<const std::shared_ptr<ActiveObject>> objects) noexcept {
  if (objects.empty()) return;
  for (const auto& object : objects) (void)object->presence_.begin_set(Passage::inactive);
  EntryCounter::order_entries();
  for (const auto& object : objects) object->end_deactivation();
}

void ActiveObject::end_deactivation() noexcept {
  (void)presence_.end_set();
  {
    const os::LockGuard lock(mutex_);
    if (std::exchange(deactivated_, true)) return;  // another thread was first and does the rest
  }
  // Tasks admitted by now depart here; tasks admitted later depart in settle().
  if (tasks_)
    for (std::size_t i = 0; i < contracts_.size(); ++i)
      if (tasks_[i].published() == SharedTask::Phase::admitted)
        depart(tasks_[i].admitted.load(std::memory_order_relaxed));  // relaxed: after published()
  release_if_empty();
}

// Called when a thread has left by its slots and one of the rules is not `active`.
void ActiveObject::leave() noexcept {
  manager_state_->entry_counter().note_departure();
  presence_.note_departure();
  release_if_empty();
}

// Releases the servant when the last thread leaves an object that is not active, even if that thread was refused.
// Before end_deactivation() the slots do not yet show all threads inside; it calls this again.
void ActiveObject::release_if_empty() noexcept {
  if (active()) return;
  std::shared_ptr<void> servant;  // destroyed after the lock: its destructor is the user's code
  const os::LockGuard lock(mutex_);
  if (deactivated_ && presence_.empty()) servant.swap(servant_);
}

std::shared_ptr<void> ActiveObject::servant() {
  const os::LockGuard lock(mutex_);
  return servant_;
}

const Upcall* ActiveObject::find_anew(std::string_view operation, std::size_t at) noexcept {
  const Upcall* const upcall = skeleton_.find(operation);
  if (upcall != nullptr) recent_[at].store(upcall, std::memory_order_relaxed);  // relaxed: it points to a constant
  return upcall;
}

UpcallGuard::Outcome UpcallGuard::enter_by_count(ActiveObject& object) noexcept {
  switch (object.manager_state_->entry_counter().enter()) {
    case Passage::active:
      break;
    case Passage::holding:
      return Outcome::held;
    case Passage::discarding:
      return Outcome::discarded;
    case Passage::inactive:
      return Outcome::manager_inactive;
  }
  if (object.presence_.enter() == Passage::active) return Outcome::inside;
  object.release_if_empty();
  object.manager_state_->entry_counter().leave();
  return Outcome::object_inactive;
}

void UpcallGuard::leave_count(ActiveObject& object) noexcept {
  if (object.presence_.leave()) object.release_if_empty();
  object.manager_state_->entry_counter().leave();
}

Error UpcallGuard::error_of(Outcome outcome) noexcept {
  if (outcome == Outcome::object_inactive) return {ErrorKind::object_not_exist, Completion::no, minor::no_such_object};
  return {outcome == Outcome::manager_inactive ? ErrorKind::obj_adapter : ErrorKind::transient, Completion::no,
          minor::adapter_inactive};
}

}  // namespace corelane::core
