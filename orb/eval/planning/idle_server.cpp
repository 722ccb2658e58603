#include "orb/eval/planning/idle_server.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <variant>

#include "orb/dispatch/core_provider.h"
#include "orb/dispatch/manager_options.h"

namespace corelane::eval {
namespace {

constexpr Time now{};  // nothing waits for a time

// A plan to move tasks may fail halfway. A server then asks its Manager again every millisecond, for three seconds.
constexpr int most_reorganizations = 3000;

std::vector<dispatch::CoreLease> leases_of(std::span<const CoreId> cores) {
  std::vector<dispatch::CoreLease> leases;
  for (const CoreId core : cores) leases.push_back({.core = core, .physical_core = core.value});
  return leases;
}

}  // namespace

IdleServer::IdleServer(const dispatch::ExecutiveOptions& options, std::span<const CoreId> cores)
    : charge_(options, leases_of(cores)), manager_(dispatch::manager_options(options, leases_of(cores))) {
  for (const CoreId core : cores)
    if (const auto loads = dispatch::own_loads(options, core); !loads.empty()) manager_.set_interference(core, loads);
}

Expected<TaskId, sched::Refusal> IdleServer::admit(const std::string& label, const Contract& contract) {
  Contract charged = contract;
  auto refusal = charge_.add_to(charged, label);
  if (!refusal) {
    Answer answer = ask(label, charged);
    refresh_bounds();
    if (answer.task != no_task) return answer.task;
    refusal = answer.refusal;
    if (refusal->code == sched::RefusalCode::not_schedulable && !refusal->nearest.found())
      charge_.propose(*refusal, manager_.nearest(charged), charged, label);
  }
  if (refusal->loser == no_task) refusal->jitter = contract.jitter;
  charge_.note_slowdown(*refusal, charged, label);
  return *refusal;
}

TaskId IdleServer::try_admit(const std::string& label, const Contract& contract) {
  Contract charged = contract;
  if (const auto refusal = charge_.add_to(charged, label))
    answer_ = {.refusal = *refusal};
  else
    ask(label, charged);
  if (answer_.refusal.loser == no_task) answer_.refusal.jitter = contract.jitter;
  return answer_.task;
}

void IdleServer::leave(TaskId task) {
  tell(sched::Departed{now, task});
  refresh_bounds();
}

void IdleServer::lose(CoreId core) {
  tell(sched::CoreLost{now, core});
  raise_all_bounds();
  refresh_bounds();
}

// No decision depends on bounds.
void IdleServer::refresh_bounds() {
  while (!manager_.refresh_bounds(std::numeric_limits<int>::max())) continue;  // bound: the cores
}

// `charged`: the contract to which BudgetCharge::add_to() has added the charge.
IdleServer::Answer IdleServer::ask(const std::string& label, const Contract& charged) {
  for (int attempt = 0; attempt < most_reorganizations; ++attempt) {
    asking_ = {.label = label, .contract = charged};
    answer_ = {};
    tell(sched::Proposed{.at = now, .request = JobId{++requests_}, .peer = {}, .contract = charged});
    if (answer_.task != no_task || answer_.refusal.code != sched::RefusalCode::reorganizing) break;
  }
  return answer_;
}

// Tells the Manager the fact, and then everything that follows from its commands.
void IdleServer::tell(const sched::Fact& fact) {
  facts_.push_back(fact);
  while (!facts_.empty()) {
    const auto commands = manager_.decide(facts_.front());
    facts_.pop_front();
    for (const sched::Command& command : commands) std::visit([this](const auto& c) { carry_out(c); }, command);
  }
}

void IdleServer::carry_out(const sched::Admit& admit) {
  answer_.task = admit.task;
  asking_.bound = admit.response;
  records_[admit.task.value] = std::exchange(asking_, {});
  by_core_[admit.core].push_back(admit.task);
  moved_ ? raise_all_bounds() : raise_bounds(admit.core);
}

void IdleServer::carry_out(const sched::Refuse& refuse) {
  answer_.refusal = refuse.reason;
  complete(answer_.refusal);
}

void IdleServer::carry_out(const sched::Vacate& vacate) {
  facts_.push_back(sched::Vacated{.at = now, .task = vacate.task, .core = vacate.core});
}

void IdleServer::carry_out(const sched::Move&) { moved_ = true; }

void IdleServer::carry_out(const sched::Dismiss& dismiss) {
  records_.erase(dismiss.task.value);
  std::erase(by_core_[dismiss.core], dismiss.task);
  facts_.push_back(sched::Vacated{.at = now, .task = dismiss.task, .core = dismiss.core});
}

void IdleServer::carry_out(const sched::Evict& evict) { records_.erase(evict.task.value); }

// A new task makes others of its core slower. A server reports the largest bound of a task's life.
void IdleServer::raise_bounds(CoreId core) {
  for (const TaskId task : by_core_[core]) {
    const auto record = records_.find(task.value);
    const auto view = manager_.find(task);
    if (view && record != records_.end()) record->second.bound = std::max(record->second.bound, view->response);
  }
}

// Call it after tasks have moved.
void IdleServer::raise_all_bounds() {
  list_tasks();
  for (const auto& [core, tasks] : by_core_) raise_bounds(core);
}

void IdleServer::list_tasks() {
  by_core_.clear();
  for (const sched::TaskView& task : manager_.tasks()) by_core_[task.core].push_back(task.id);
  moved_ = false;
}

// Adds what the Manager does not know, as a server does.
void IdleServer::complete(sched::Refusal& refusal) const {
  if (const auto view = manager_.find(refusal.closest)) {
    refusal.tasks = view->admitted;
    refusal.platform = view->platform;
  }
  const auto loser = records_.find(refusal.loser.value);
  if (loser == records_.end()) return;
  const Record& record = loser->second;
  sched::name_loser(refusal, record.label, record.contract.jitter);
  charge_.note_loser_slowdown(refusal, record.contract, record.label);
}

}  // namespace corelane::eval
