#include "services/corelane/real_run/overheads/decision_pool.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/os/threads/deferral.h"

namespace corelane::tool {
namespace {

using dispatch::CoreProvider;
using dispatch::Executive;
using dispatch::ExecutiveOptions;
using dispatch::ExecutiveReport;
using dispatch::HostLedger;
using dispatch::Job;
using dispatch::JobContext;
using dispatch::JobPtr;
using dispatch::Promise;
using dispatch::UnguardedCores;

// Lives on the driver's stack: the driver waits until recycle() was called.
class StampedJob final : public Job {
 public:
  explicit StampedJob(os::Parker& driver) : driver_(driver) {}
  void run(const JobContext& context) noexcept override {
    stamps_.ended = os::now();
    stamps_.ran = true;
    stamps_.core = context.core;
    stamps_.admitted = arrived;
    stamps_.placed = context.release;
    task_ = context.task;
  }
  void refuse(const sched::Refusal&) noexcept override { stamps_.ended = os::now(); }
  void fail(Error) noexcept override { failed_ = true; }
  void recycle() noexcept override {
    os::Parker& driver = driver_;  // the job is gone as soon as the driver sees it done
    // PAIR scenario.done: release here -> acquire in wait(). Publishes the stamps.
    done_.store(true, std::memory_order_release);
    driver.unpark();
  }

  DecisionStamps wait(TaskId& into) {
    // PAIR scenario.done: acquire here <- release in recycle(). Bound: the job, and one unpark() left over from an
    // earlier job.
    while (!done_.load(std::memory_order_acquire)) driver_.park(never);
    if (failed_) throw std::runtime_error("a request failed");
    into = task_;
    return stamps_;
  }

 private:
  os::Parker& driver_;
  DecisionStamps stamps_;
  TaskId task_ = no_task;
  bool failed_ = false;
  std::atomic<bool> done_{false};
};

DecisionStamps submit_and_wait(Executive& executive, StampedCores& cores, StampedJob& job, TaskId& task) {
  cores.arm();
  const Time submitted = job.arrived = os::now();
  JobPtr handle(&job);
  if (const auto taken = executive.submit(handle); !taken) throw std::runtime_error("the queue refused a request");
  DecisionStamps stamps = job.wait(task);
  stamps.submitted = submitted;
  stamps.begun = cores.begun();
  stamps.decided = cores.ended();
  return stamps;
}

ExecutiveOptions options_for(const std::vector<CoreId>& cores) {
  ExecutiveOptions options;
  options.lease = {.cores = cores, .siblings = true};
  return options;
}

std::unique_ptr<CoreProvider> provider_for(const os::Topology& topology, const std::string& ledger) {
  if (ledger.empty()) return std::make_unique<UnguardedCores>(topology);
  auto opened = HostLedger::open(topology, ledger);
  if (!opened) throw std::runtime_error("no ledger can be made in " + ledger);
  return std::move(*opened);
}

}  // namespace

StampedCores::StampedCores(const os::Topology& topology, const std::string& ledger)
    : cores_(provider_for(topology, ledger)) {}

Expected<std::span<const Promise>> StampedCores::begin() noexcept {
  // relaxed: see begun_
  if (begun_.load(std::memory_order_relaxed) == never) begun_.store(os::now(), std::memory_order_relaxed);
  return cores_->begin();
}

Expected<void> StampedCores::end(std::span<const Promise> mine) noexcept {
  auto result = cores_->end(mine);
  // relaxed: see begun_
  if (ended_.load(std::memory_order_relaxed) == never) ended_.store(os::now(), std::memory_order_relaxed);
  return result;
}

void StampedCores::arm() noexcept {
  // relaxed: see begun_
  begun_.store(never, std::memory_order_relaxed);
  ended_.store(never, std::memory_order_relaxed);
}

DecisionPool::DecisionPool(const std::vector<CoreId>& cores, const std::string& ledger)
    : cores_(*os::Topology::detect(), ledger), managers_core_(cores.at(0)), other_core_(cores.at(1)) {
  auto started = Executive::start(options_for(cores), cores_);
  if (!started) throw std::runtime_error("the executive does not start");
  executive_ = std::move(*started);
}

TaskId DecisionPool::admit(const Contract& contract, CoreId expected) {
  const auto admission = executive_->admit_and_wait({.contract = contract, .owner = {}, .label = "resident"});
  if (!admission) throw std::runtime_error("a resident task was refused: " + dispatch::text_of(admission.error()));
  if (admission->core != expected) throw std::runtime_error("a resident task is not where the scenario needs it");
  tasks_.push_back(admission->task);
  return admission->task;
}

void DecisionPool::depart(TaskId task) {
  std::erase(tasks_, task);
  executive_->depart(task);
  wait_for_tasks(tasks_.size());
}

void DecisionPool::clear() {
  for (const TaskId task : tasks_) executive_->depart(task);
  tasks_.clear();
  wait_for_tasks(0);
}

// Waits until there are so many tasks, and all spare threads. Bound: a task leaves when its core is idle, and all cores
// are idle here.
void DecisionPool::wait_for_tasks(std::size_t count) {
  for (;;) {
    const ExecutiveReport report = executive_->snapshot();
    const auto here =
        std::count_if(report.tasks.begin(), report.tasks.end(), [](const auto& task) { return !task.gone; });
    if (static_cast<std::size_t>(here) == count && report.spare_threads >= ExecutiveOptions{}.spare_threads) return;
    std::this_thread::sleep_for(std::chrono::microseconds{50});
  }
}

DecisionStamps DecisionPool::call(const Contract& contract, TaskId& task) {
  wait_for_tasks(tasks_.size());
  StampedJob job(driver_);
  job.contract = contract;
  job.label = "candidate";
  const DecisionStamps stamps = submit_and_wait(*executive_, cores_, job, task);
  if (task != no_task) tasks_.push_back(task);
  return stamps;
}

DecisionStamps DecisionPool::call(TaskId task) {
  StampedJob job(driver_);
  job.task = task;
  return submit_and_wait(*executive_, cores_, job, task);
}

void DecisionPool::start_followers() {
  ExecutiveOptions options;
  options.mode = dispatch::DispatchMode::leader_followers;
  options.follower_cores = {other_core_};
  auto started = Executive::start(options, cores_);
  if (!started) throw std::runtime_error("the executive of leader-followers does not start");
  followers_ = std::move(*started);
  const Contract contract = make_contract(std::chrono::milliseconds{1}, std::chrono::microseconds{20});
  const auto admission = followers_->admit_and_wait({.contract = contract, .owner = {}, .label = "resident"});
  if (!admission) throw std::runtime_error("the task of leader-followers was refused");
  followers_task_ = admission->task;
}

DecisionStamps DecisionPool::call_as_leader() {
  if (!followers_) start_followers();
  StampedJob job(driver_);
  job.task = followers_task_;
  const Time submitted = job.arrived = os::now();
  JobPtr handle(&job);
  {
    const os::Deferral leads;  // runs the job at its end, as on the pool's threads
    if (const auto taken = followers_->submit(handle); !taken) throw std::runtime_error("a request was not taken");
  }
  TaskId task = no_task;
  DecisionStamps stamps = job.wait(task);
  stamps.submitted = submitted;
  stamps.begun = never;
  if (!os::bind_this_thread(managers_core_)) throw std::runtime_error("the driver does not get back to its core");
  return stamps;
}

std::vector<CoreId> DecisionPool::places(const std::vector<TaskId>& tasks) const {
  std::vector<CoreId> result;
  for (const auto& report : executive_->snapshot().tasks)
    if (std::find(tasks.begin(), tasks.end(), report.task) != tasks.end()) result.push_back(report.core);
  return result;
}

}  // namespace corelane::tool
