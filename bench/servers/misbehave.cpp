#include "bench/servers/misbehave.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/servers/judgement.h"
#include "bench/servers/responses.h"
#include "bench/servers/units.h"
#include "bench/support/machine.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/rt/stall_watch.h"
#include "orb/rt/work.h"

namespace servers {
namespace {

using namespace corelane;
using namespace std::chrono_literals;

enum class Fault { none, overruns, floods, blocks };
constexpr const char* fault_names[] = {"none", "overruns 10x", "floods 100x", "blocks"};
constexpr const char* policy_names[] = {"report", "demote", "cancel"};

constexpr Duration tick = 200us;       // of the client; a hundredth of the rogue's period
constexpr Duration brake_period = 1s;  // kernel.sched_rt_period_us, and that of the kernel's fair server
constexpr Duration nap = 5ms;          // of a rogue task that blocks
constexpr int client_level = 50;       // above the manager, on the same core
constexpr std::size_t flood_jobs = 8;  // jobs that a flooding rogue task has at once
constexpr std::size_t gap_room = 1 << 18;

Contract contract_of(Duration period, Duration budget, OverrunPolicy policy = OverrunPolicy::report) {
  Contract contract = make_contract(period, budget, {}, 1ms);
  contract.on_overrun = policy;
  return contract;
}

// On a core scheduled by priorities, two are more urgent than the rogue task, and one is less.
const std::array others = {contract_of(5ms, 500us), contract_of(10ms, 1ms), contract_of(40ms, 8ms)};
constexpr Duration rogue_period = 20ms, rogue_budget = 4ms;
const Contract resident = contract_of(100ms, 70ms);  // fills the manager's core, so others go elsewhere; sends nothing

// Returns what a job computes when its task keeps its contract. The rest of the budget covers the time that the host
// takes from a job while its thread's clock goes on. On a core scheduled by deadlines, an overrun would use the time of
// the task's next job.
constexpr Duration demand_of(Duration budget) { return budget * 6 / 10; }

// A request that is sent repeatedly. Its client and its task use it in turns.
class Request final : public dispatch::Job {
 public:
  Request(TaskId of, Duration budget, Fault fault, rt::GapLog& gaps, std::vector<Run>& runs)
      : budget_(budget), fault_(fault), gaps_(gaps), runs_(runs) {
    task = of;
  }

  // Returns false if it is still under way.
  bool send(dispatch::Executive& executive) {
    // PAIR request.busy: acquire here <- release in recycle().
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    dispatch::JobPtr job(this);
    arrived = sent_ = os::now();
    if (const auto taken = executive.submit(job); !taken) job.reset();
    return true;
  }

  void run(const dispatch::JobContext& context) noexcept override {
    const Time begin = os::now();
    rt::work(fault_ == Fault::overruns ? 10 * budget_ : demand_of(budget_) / 2, &gaps_);
    if (fault_ == Fault::blocks) os::sleep_until(os::now() + nap);
    if (fault_ != Fault::overruns) rt::work(demand_of(budget_) / 2, &gaps_);
    if (runs_.size() < runs_.capacity()) runs_.push_back({context.job, sent_, context.release, begin, os::now()});
  }
  // Call both on the client's thread, or after that thread has ended.
  // PAIR request.busy: acquire here <- release in recycle().
  bool on_its_way() const noexcept { return busy_.load(std::memory_order_acquire); }
  Time sent() const noexcept { return sent_; }

  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  // PAIR request.busy: release here -> acquire in send().
  void recycle() noexcept override { busy_.store(false, std::memory_order_release); }

 private:
  const Duration budget_;
  const Fault fault_;
  rt::GapLog& gaps_;
  std::vector<Run>& runs_;  // of the task, so written by one thread at a time
  Time sent_{};
  std::atomic<bool> busy_{false};
};

// One task and the client that sends its requests.
struct Caller {
  TaskId task;
  Duration period, every;
  Time due{};
  std::vector<Run> runs;
  std::deque<Request> requests;

  Caller(dispatch::Executive& executive, const Contract& contract, Fault fault, Duration length, rt::GapLog& gaps)
      : period(contract.period), every(fault == Fault::floods ? tick : contract.period) {
    const auto admitted = executive.admit_and_wait({.contract = contract, .owner = {}, .label = "task"});
    if (!admitted) throw std::runtime_error(dispatch::text_of(admitted.error()));
    task = admitted->task;
    runs.reserve(static_cast<std::size_t>(length / contract.period) * 2 + 16);
    for (std::size_t i = 0; i < (fault == Fault::floods ? flood_jobs : 1); ++i)
      requests.emplace_back(task, contract.budget, fault, gaps, runs);
  }
  // Returns the requests that are still under way, with the response so far. They came at most one period early.
  std::vector<Run> unfinished(Time now) const {
    std::vector<Run> found;
    for (const Request& request : requests)
      if (request.on_its_way() && now > request.sent() + period)
        found.push_back({JobId{}, request.sent(), request.sent() + period, now, now});
    return found;
  }
  void call(dispatch::Executive& executive, Time now) {
    if (now < due) return;
    due = now + every - tick / 2;  // for the first tick that is not before the release
    for (Request& request : requests)
      if (request.send(executive)) return;
  }
};

struct Case {
  sched::CoreOrder order;
  Fault fault;
  OverrunPolicy policy;
};

std::unique_ptr<dispatch::Executive> start(const std::vector<CoreId>& cores, const Case& what,
                                           dispatch::CoreProvider& provider) {
  dispatch::ExecutiveOptions options;
  options.lease = {.cores = cores, .siblings = true};
  options.charge_overruns = what.policy == OverrunPolicy::report;
  if (what.order == sched::CoreOrder::deadline) options.deadline_cores = {cores.back()};
  auto started = dispatch::Executive::start(options, provider);
  if (!started) throw std::runtime_error("the executive does not start");
  return std::move(*started);
}

// Runs the clients on the manager's core, so that only the tasks use the other one.
void play(dispatch::Executive& executive, std::deque<Caller>& callers, CoreId core, Duration length) {
  auto client = os::start_thread({.name = "client", .core = core, .fifo_priority = client_level}, [&]() noexcept {
    const Time end = os::now() + length;
    for (Time due = os::now() + tick; due < end; due += tick) {
      os::sleep_until(due);
      for (Caller& caller : callers) caller.call(executive, os::now());
    }
  });
  if (!client) throw std::runtime_error("no thread for the client");
}

const dispatch::TaskReport& report_of(const dispatch::ExecutiveReport& report, TaskId task) {
  for (const auto& each : report.tasks)
    if (each.task == task) return each;
  throw std::runtime_error("a task is gone");
}

// Waits until the handler has received the overruns that are in the report, for at most a second.
void hear_of(const Overruns& overruns, const dispatch::ExecutiveReport& report) {
  std::size_t reported = 0;
  for (const auto& task : report.tasks) reported += task.overruns;
  for (int i = 0; i < 100 && overruns.count() < reported; ++i) os::sleep_until(os::now() + 10ms);
}

// Prints the number of jobs and of those left out, the longest response as measured and less the machine's time, and
// the bound.
void print_response(std::vector<Run> runs, const std::vector<Run>& unfinished, const dispatch::TaskReport& report,
                    const Overruns& overruns, const MachineTime& machine) {
  for (const Run& run : unfinished)  // they may have ended meanwhile
    if (std::ranges::find(runs, run.sent, &Run::sent) == runs.end()) runs.push_back(run);
  const Judgement judged = judge(runs, report.contract.budget, overruns, machine);
  const bool braked = judged.attributed > report.bound && judged.unbraked <= report.bound;
  std::printf("  %5zu %4zu %6.0f %6.0f %6.0f %-8s", judged.jobs, judged.left_out, microseconds(judged.longest),
              microseconds(judged.attributed), microseconds(report.bound),
              braked ? "BRAKED" : verdict(judged.jobs, judged.attributed, report.bound));
}

void print_case(const Case& what, const std::vector<CoreId>& cores, Duration length) {
  os::sleep_until(os::now() + brake_period);  // the kernel's brake of the previous case is over then
  dispatch::UnguardedCores provider(*os::Topology::detect());
  rt::GapLog gaps(gap_room);
  const rt::StallWatch watch(cores, gaps, client_level);
  Overruns overruns;
  std::deque<Caller> callers;  // they outlive the executive
  const auto executive = start(cores, what, provider);
  executive->on_event(dispatch::TaskEventKind::overrun,
                      [&](const dispatch::TaskEvent& event) { overruns.note(event.job, event.used); });
  if (!executive->admit_and_wait({.contract = resident, .owner = {}, .label = "resident"}))
    throw std::runtime_error("the resident task was refused");
  callers.emplace_back(*executive, contract_of(rogue_period, rogue_budget, what.policy), what.fault, length, gaps);
  for (const Contract& contract : others) callers.emplace_back(*executive, contract, Fault::none, length, gaps);
  play(*executive, callers, cores.front(), length);
  std::vector<std::vector<Run>> unfinished;
  for (const Caller& caller : callers) unfinished.push_back(caller.unfinished(os::now()));
  const dispatch::ExecutiveReport report = executive->snapshot();
  hear_of(overruns, report);
  executive->stop();
  const MachineTime machine(gaps, cores.back(), cores.front());
  const auto& rogue = report_of(report, callers.front().task);
  std::printf("  %-9s %-13s %-7s %5lu %5lu %6lu", what.order == sched::CoreOrder::deadline ? "deadlines" : "priority",
              fault_names[static_cast<int>(what.fault)], policy_names[static_cast<int>(what.policy)],
              static_cast<unsigned long>(rogue.jobs), static_cast<unsigned long>(rogue.overruns),
              static_cast<unsigned long>(rogue.refused + report.queue_full));
  for (std::size_t i = 1; i < callers.size(); ++i) {
    const auto& judged = report_of(report, callers[i].task);
    if (judged.core != cores.back()) throw std::runtime_error("a task is on the manager's core");
    print_response(callers[i].runs, unfinished[i], judged, overruns, machine);
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

void print_misbehaviour(Duration length) {
  auto cores = bench_support::usable_cores();
  if (cores.size() < 2) return (void)std::printf("\nmisbehaviour: left out, it needs two cores\n");
  cores.resize(2);
  rt::calibrate();
  std::printf(
      "\nmisbehaviour, %.0f s each: a task of 4 ms each 20 ms beside three of 0.5, 1 and 8 ms each 5, 10 and 40 ms; "
      "of each of the\nthree jobs, and those left out since the machine's time made them exceed their budgets; of the "
      "others longest response, the\nsame less the machine's time, bound; us. `report` with pool.charge_overruns = on. "
      "BRAKED: beyond the bound by what the\nkernel gave to ordinary threads, where real-time ones wanted "
      "nearly all of the core\n  %-9s %-13s %-7s %5s %5s %6s\n",
      microseconds(length) / 1e6, "order", "misbehaves", "policy", "jobs", "over", "refused");
  for (const auto order : {sched::CoreOrder::priority, sched::CoreOrder::deadline}) {
    print_case({order, Fault::none, OverrunPolicy::report}, cores, length);
    for (const Fault fault : {Fault::overruns, Fault::floods, Fault::blocks})
      for (const auto policy : {OverrunPolicy::report, OverrunPolicy::demote, OverrunPolicy::cancel})
        print_case({order, fault, policy}, cores, length);
  }
}

}  // namespace servers
