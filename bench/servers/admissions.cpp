#include "bench/servers/admissions.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "bench/servers/responses.h"
#include "bench/servers/units.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/rt/stall_watch.h"
#include "orb/rt/work.h"

namespace servers {
namespace admissions {
namespace {

using namespace corelane;
using namespace std::chrono_literals;

constexpr Duration interval = 20ms;
const Contract contract = make_contract(interval, 8ms, {}, 1ms);
constexpr Duration demand = 6ms;  // of a job; below the budget, because time that the host takes counts, too
const Contract resident = make_contract(100ms, 100us);
constexpr int residents = 40;  // they send nothing; with them each analysis covers many tasks
const Contract unfit = make_contract(10ms, 9ms);
constexpr int client_level = 50;  // above the manager, on the same core
constexpr std::size_t gap_room = 1 << 18;
constexpr int most_asked = 256;  // requests for admission at once

struct Run {
  Time release, end;
};

class Request final : public dispatch::Job {
 public:
  Request(TaskId of, rt::GapLog& gaps, std::vector<Run>& runs) : gaps_(gaps), runs_(runs) { task = of; }

  void send(dispatch::Executive& executive) {
    // PAIR request.busy: acquire here <- release in recycle().
    if (busy_.exchange(true, std::memory_order_acquire)) return;  // still under way
    dispatch::JobPtr job(this);
    arrived = os::now();
    if (!executive.submit(job)) job.reset();
  }
  void run(const dispatch::JobContext& context) noexcept override {
    rt::work(demand, &gaps_);
    if (runs_.size() < runs_.capacity()) runs_.push_back({context.release, os::now()});
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  // PAIR request.busy: release here -> acquire in send().
  void recycle() noexcept override { busy_.store(false, std::memory_order_release); }

 private:
  rt::GapLog& gaps_;
  std::vector<Run>& runs_;  // of one task, so written by one thread at a time
  std::atomic<bool> busy_{false};
};

// Counts the requests for admission. Outlives the executive.
class Counts {
 public:
  // relaxed: counters that publish nothing
  void comes() noexcept { waiting_.fetch_add(1, std::memory_order_relaxed); }
  void goes() noexcept { waiting_.fetch_sub(1, std::memory_order_relaxed); }                   // relaxed: as above
  void is_refused() noexcept { refused_.fetch_add(1, std::memory_order_relaxed); }             // relaxed: as above
  int waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }            // relaxed: as above
  std::uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }  // relaxed: as above

 private:
  std::atomic<int> waiting_{0};
  std::atomic<std::uint64_t> refused_{0};
};

class Counting final : public dispatch::AdmissionHandler {
 public:
  explicit Counting(Counts& counts) : counts_(counts) { counts_.comes(); }
  ~Counting() override { counts_.goes(); }
  void admitted(const dispatch::Admission&) noexcept override {}
  void refused(const sched::Refusal&) noexcept override { counts_.is_refused(); }
  void failed(Error) noexcept override {}

 private:
  Counts& counts_;
};

void flood(dispatch::Executive& executive, Counts& counts, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (counts.waiting() < most_asked)
      executive.admit({.contract = unfit, .owner = {}, .label = "unfit"}, std::make_unique<Counting>(counts));
    else
      std::this_thread::yield();
  }
}

TaskId admit(dispatch::Executive& executive, const Contract& wanted) {
  const auto admitted = executive.admit_and_wait({.contract = wanted, .owner = {}, .label = "task"});
  if (!admitted) throw std::runtime_error(dispatch::text_of(admitted.error()));
  return admitted->task;
}

std::unique_ptr<dispatch::Executive> start(CoreId core, dispatch::CoreProvider& provider) {
  dispatch::ExecutiveOptions options;
  options.lease = {.cores = {core}, .siblings = true};
  auto started = dispatch::Executive::start(options, provider);
  if (!started) throw std::runtime_error("the executive does not start");
  return std::move(*started);
}

void call(dispatch::Executive& executive, Request& request, CoreId core, Duration length) {
  auto client = os::start_thread({.name = "client", .core = core, .fifo_priority = client_level}, [&]() noexcept {
    const Time end = os::now() + length;
    for (Time due = os::now() + interval; due < end; due += interval) {
      os::sleep_until(due);
      request.send(executive);
    }
  });
  if (!client) throw std::runtime_error("no thread for the client");
}

void print_spread(const Spread& spread) { std::printf(" %7.0f %7.0f %7.0f", spread.p50, spread.p99, spread.max); }

void print_row(CoreId core, bool flooded, Duration length) {
  dispatch::UnguardedCores provider(*os::Topology::detect());
  rt::GapLog gaps(gap_room);
  const rt::StallWatch watch({core}, gaps, client_level);
  Counts counts;
  std::vector<Run> runs;
  runs.reserve(static_cast<std::size_t>(length / interval) + 16);
  const auto executive = start(core, provider);
  for (int i = 0; i < residents; ++i) admit(*executive, resident);
  const TaskId task = admit(*executive, contract);
  Request request(task, gaps, runs);
  {
    std::jthread admissions;
    if (flooded) admissions = std::jthread([&](const std::stop_token& stop) { flood(*executive, counts, stop); });
    call(*executive, request, core, length);
  }
  const std::uint64_t refused = counts.refused();
  const dispatch::ExecutiveReport report = executive->snapshot();
  executive->stop();
  std::vector<Duration> raw, attributed;
  for (const Run& run : runs) {
    raw.push_back(run.end - run.release);
    attributed.push_back(raw.back() - gaps.external_time(core, run.release, run.end));
  }
  const Duration longest = attributed.empty() ? Duration{} : *std::max_element(attributed.begin(), attributed.end());
  for (const auto& each : report.tasks) {
    if (each.task != task) continue;
    std::printf("  %-5s %6zu %6lu", flooded ? "yes" : "no", runs.size(), static_cast<unsigned long>(each.misses));
    print_spread(Spread(raw));
    print_spread(Spread(attributed));
    std::printf(" %7.0f %-8s %10.0f\n", microseconds(each.bound), verdict(runs.size(), longest, each.bound),
                static_cast<double>(refused) / (microseconds(length) / 1e6));
  }
  std::fflush(stdout);
}

}  // namespace
}  // namespace admissions

void print_admissions(corelane::CoreId core, corelane::Duration length) {
  corelane::rt::calibrate();
  std::printf(
      "\nnew tasks that do not fit, %d at once, %.0f s each: a task of 6 ms (budget 8) each 20 ms on the manager's "
      "core; times in us\n  %-5s %6s %6s %7s %7s %7s %7s %7s %7s %7s %-8s %10s\n",
      admissions::most_asked, microseconds(length) / 1e6, "flood", "jobs", "misses", "p50", "p99", "max", "lessgap",
      "p99", "max", "bound", "", "refused/s");
  for (const bool flooded : {false, true}) admissions::print_row(core, flooded, length);
}

}  // namespace servers
