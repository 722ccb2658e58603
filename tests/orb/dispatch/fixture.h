// Machine is a simulated server for tests. Its clock stands still until a test moves it, the test steps its threads,
// and its cores do not exist.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "orb/base/minor.h"
#include "orb/dispatch/best_effort/best_effort_executor.h"
#include "orb/dispatch/job_source.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/dispatch/manager/manager_agent.h"
#include "orb/os/log.h"

namespace corelane::dispatch::test {

inline Time virtual_now{};
inline Duration virtual_tick{};  // each look at the clock moves it by this much
inline Duration virtual_cpu{};
inline Duration virtual_delay{};    // how long the thread was ready but not running
inline bool virtual_sleep = false;  // whether the thread in question sleeps
inline constexpr Clock virtual_clock{.now = []() noexcept { return virtual_now += virtual_tick; },
                                     .cpu_time = []() noexcept { return virtual_cpu; },
                                     .cpu_time_of = [](os::CpuClock) noexcept { return virtual_cpu; },
                                     .run_delay = []() noexcept { return std::optional(virtual_delay); },
                                     .is_asleep = [](pid_t) noexcept { return virtual_sleep; }};

// Makes a contract with T, C and no jitter, so that a job is early if it arrives before its period is over.
inline Contract plain(Duration period, Duration budget, Duration deadline = {}) {
  return make_contract(period, budget, deadline == Duration{} ? period : deadline, Duration{});
}

// Records what became of a job. Outlives the job.
struct Fate {
  int runs = 0, refusals = 0, failures = 0, recycled = 0;
  JobContext context{};
  sched::Refusal refusal{};
  Error error{};
  Time started{};
  bool over() const { return runs + refusals + failures == 1 && recycled == 1; }
};

class TestJob final : public Job {
 public:
  TestJob(std::shared_ptr<Fate> fate, Duration cost) : fate_(std::move(fate)), cost_(cost) {}
  void run(const JobContext& context) noexcept override {
    fate_->context = context;
    fate_->started = virtual_now;
    virtual_now += cost_;
    virtual_cpu += cost_;
    ++fate_->runs;
  }
  void refuse(const sched::Refusal& refusal) noexcept override { fate_->refusal = refusal, ++fate_->refusals; }
  void fail(Error error) noexcept override { fate_->error = error, ++fate_->failures; }
  void recycle() noexcept override {
    ++fate_->recycled;
    delete this;
  }

 private:
  std::shared_ptr<Fate> fate_;
  Duration cost_;
};

// A job whose body the test writes.
class ScriptedJob final : public Job {
 public:
  explicit ScriptedJob(std::function<void(ScriptedJob&)> body) : body_(std::move(body)) {}
  void run(const JobContext&) noexcept override { body_(*this); }
  void time_out() noexcept override { ++time_outs; }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override { delete this; }
  int time_outs = 0;

 private:
  std::function<void(ScriptedJob&)> body_;
};

// A connection that its client has just bound.
class BoundSource : public JobSource {
 public:
  PeerId connection() const noexcept override { return PeerId{1}; }
  bool comes_back() const noexcept override { return false; }
};

struct Answer {
  std::optional<Admission> admission;
  std::optional<sched::Refusal> refusal;
  std::optional<Error> error;
  int calls = 0;
};

class TestHandler final : public AdmissionHandler {
 public:
  explicit TestHandler(std::shared_ptr<Answer> answer) : answer_(std::move(answer)) {}
  void admitted(const Admission& admission) noexcept override { answer_->admission = admission, ++answer_->calls; }
  void refused(const sched::Refusal& refusal) noexcept override { answer_->refusal = refusal, ++answer_->calls; }
  void failed(Error error) noexcept override { answer_->error = error, ++answer_->calls; }

 private:
  std::shared_ptr<Answer> answer_;
};

// Threads that never run: the test steps their workers.
class NoThreads final : public ThreadMaker {
 public:
  struct Made {
    std::string name;
    WorkerPtr worker;
    ThreadPlacement placement;
    bool ended = false;
    int rebound = 0;
    bool refuses_shares = false;  // refuses SCHED_DEADLINE shares, as the kernel may
    std::function<void()> on_place{};
  };
  Expected<std::unique_ptr<WorkerThread>> start(const std::string& name, const WorkerPtr& worker) override {
    if (failure) return *failure;
    auto made = std::make_shared<Made>(Made{name, worker, worker->placer().placement()});
    std::unique_ptr<WorkerThread> handle = std::make_unique<Handle>(made);
    threads.push_back(std::move(made));
    return handle;
  }

  std::unique_ptr<WorkerThread> take(const std::string& name, const WorkerPtr& worker) noexcept override {
    if (spares == 0) return nullptr;
    try {
      auto thread = std::move(*start(name, worker));
      --spares;
      return thread;
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  std::vector<std::shared_ptr<Made>> threads;
  std::optional<Error> failure;
  int spares = 0;  // threads that exist already

 private:
  class Handle final : public WorkerThread {
   public:
    explicit Handle(std::shared_ptr<Made> made) : made_(std::move(made)) {}
    ~Handle() override { made_->ended = true; }
    bool place(ThreadPlacement placement) noexcept override {
      if (made_->on_place) made_->on_place();
      if (placement.share == os::DeadlineShare{} || !made_->refuses_shares) return made_->placement = placement, true;
      made_->placement = {.core = placement.core, .native = placement.native};
      return false;
    }
    bool real_time() const noexcept override { return true; }
    void rebind() noexcept override { ++made_->rebound; }

   private:
    std::shared_ptr<Made> made_;
  };
};

// A provider whose answers the test chooses.
class FakeProvider final : public CoreProvider {
 public:
  Expected<std::vector<CoreLease>> lease(const LeaseRequest&) override { return leases; }
  Expected<std::span<const Promise>> begin() noexcept override {
    ++begun;
    if (busy) return Error{.kind = ErrorKind::transient, .minor = minor::ledger_busy};
    return std::span<const Promise>{others};
  }
  Expected<void> end(std::span<const Promise> promised) noexcept override {
    if (broken) return Error{.kind = ErrorKind::persist_store};
    if (conflicts > 0) return --conflicts, Error{.kind = ErrorKind::transient, .minor = minor::ledger_busy};
    mine.assign(promised.begin(), promised.end());
    return {};
  }
  Expected<void> claim(std::span<const Promise> promised) noexcept override {
    ++claims;
    return end(promised);
  }
  void abandon() noexcept override {}
  bool alone() const noexcept override { return !others_promise && others.empty(); }
  void withdraw() noexcept override { mine.clear(); }
  void maintain() noexcept override { ++maintained; }
  bool is_revoked(CoreId core) const noexcept override {
    return std::find(revoked.begin(), revoked.end(), core) != revoked.end();
  }

  std::vector<CoreLease> leases;
  std::vector<Promise> others, mine;
  std::vector<CoreId> revoked;
  bool busy = false, broken = false, others_promise = false;
  int maintained = 0, begun = 0, conflicts = 0, claims = 0;
};

inline ExecutiveOptions bare_options() {
  ExecutiveOptions options;
  options.platform = {};
  options.queue_capacity = 64;
  options.max_tasks = 128;
  return options;
}
// Returns the same options with pool.charge_overruns.
inline ExecutiveOptions charging(bool charges) {
  ExecutiveOptions options = bare_options();
  options.charge_overruns = charges;
  return options;
}

class Machine {
 public:
  // `provider`: used instead of the fake one. It must outlive this object.
  explicit Machine(int cores = 1, const ExecutiveOptions& options = bare_options(), CoreProvider* provider = nullptr)
      : provider_(with_cores(cores)),
        best_effort(options.queue_capacity, BestEffortServers(options, provider_.leases, virtual_clock)),
        manager(options, provider_.leases, provider ? *provider : provider_, threads, best_effort, virtual_clock) {
    provider_.mine.reserve(1000);
    virtual_now = Time{} + std::chrono::seconds{1};
    virtual_cpu = virtual_delay = virtual_tick = {};
    virtual_sleep = false;
  }
  ~Machine() { manager.shut_down(virtual_now); }

  // Steps everything except the tasks' threads until nothing is left to do.
  void decide() {
    for (bool busy = true; busy;) {
      busy = manager.step(virtual_now);
      busy |= manager.below().step(virtual_now);
      busy |= manager.housekeeper().step(virtual_now);
    }
  }
  // Steps everything until nothing is left to do. A running job moves the clock by its cost.
  void settle() {
    for (bool busy = true; busy;) {
      decide();
      busy = false;
      for (auto& thread : std::vector(threads.threads)) busy |= thread->worker->step(virtual_now);
    }
  }
  void advance(Duration by) {
    virtual_now += by;
    settle();
  }

  std::shared_ptr<Answer> ask(const Contract& contract, PeerId owner = {}, const std::string& label = "task") {
    auto answer = std::make_shared<Answer>();
    manager.admit({.contract = contract, .owner = owner, .label = label}, std::make_unique<TestHandler>(answer));
    return answer;
  }
  TaskId admit(const Contract& contract, PeerId owner = {}) {
    const auto answer = ask(contract, owner);
    decide();
    REQUIRE(answer->admission);
    return answer->admission->task;
  }
  sched::Refusal refused(const Contract& contract) {
    const auto answer = ask(contract);
    decide();
    REQUIRE(answer->refusal);
    return *answer->refusal;
  }

  std::shared_ptr<Fate> send(TaskId task, Duration cost = {}, PeerId peer = {}) {
    return send_by(&ManagerAgent::submit, task, cost, peer);
  }
  // Hands in a job, as a reader does.
  std::shared_ptr<Fate> hand_in(TaskId task) { return send_by(&ManagerAgent::hand_in, task, {}, {}); }
  std::shared_ptr<Fate> send_new(const Contract& contract, PeerId peer = {}) {
    auto fate = std::make_shared<Fate>();
    JobPtr job(new TestJob(fate, {}));
    job->contract = contract;
    job->owner = peer;
    job->label = "first call";
    job->arrived = virtual_now;
    pushed = manager.submit(job);
    return fate;
  }
  TaskReport report(TaskId task) {
    for (const TaskReport& report : manager.report().tasks)
      if (report.task == task) return report;
    FAIL("no report of task " << task.value);
    return {};
  }

 private:
  std::shared_ptr<Fate> send_by(Pushed (ManagerAgent::*door)(JobPtr&) noexcept, TaskId task, Duration cost,
                                PeerId peer) {
    auto fate = std::make_shared<Fate>();
    JobPtr job(new TestJob(fate, cost));
    job->task = task;
    job->owner = peer;
    job->arrived = virtual_now;
    pushed = (manager.*door)(job);
    return fate;
  }
  static FakeProvider with_cores(int cores) {
    FakeProvider provider;
    for (int i = 0; i < cores; ++i)
      provider.leases.push_back({.core = CoreId{static_cast<std::int16_t>(i)}, .physical_core = i});
    return provider;
  }
  FakeProvider provider_;

 public:
  FakeProvider& provider() { return provider_; }
  NoThreads threads;
  BestEffortExecutor best_effort;
  ManagerAgent manager;
  Pushed pushed = Pushed::done;
};

}  // namespace corelane::dispatch::test
