#include "bench/servers/firm.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <latch>
#include <memory>
#include <vector>

#include "bench/servers/responses.h"
#include "bench/servers/units.h"
#include "orb/dispatch/executive.h"
#include "orb/dispatch/leases/host_ledger.h"
#include "orb/os/clock.h"

namespace servers {
namespace {

using namespace corelane;
using namespace std::chrono_literals;

// Records how late it began, works a little, and is sent again at once, before its next release.
class Eager final : public dispatch::Job {
 public:
  Eager(dispatch::Executive& executive, Duration demand, Time end, std::latch& done)
      : executive_(executive), demand_(demand), end_(end), done_(done) {
    late.reserve(100'000);
  }
  void run(const dispatch::JobContext& context) noexcept override {
    const Time began = os::now();
    if (late.size() < late.capacity()) late.push_back(began - context.release);
    while (os::now() < began + demand_) continue;
  }
  void refuse(const sched::Refusal&) noexcept override {}
  void fail(Error) noexcept override {}
  void recycle() noexcept override {
    dispatch::JobPtr again(this);
    arrived = os::now();
    if (arrived < end_ && executive_.submit(again)) return;
    (void)again.release();
    done_.count_down();
  }

  std::vector<Duration> late;

 private:
  dispatch::Executive& executive_;
  const Duration demand_;
  const Time end_;
  std::latch& done_;
};

void print_row(Duration overshoot, const std::vector<Duration>& late, std::uint64_t by_timer) {
  const Spread spread(late);
  std::printf("  %9.0f %8zu %12lu %9.1f %9.1f %9.1f\n", microseconds(overshoot), late.size(),
              static_cast<unsigned long>(by_timer), spread.p50, spread.p99, spread.max);
}

void run_one(CoreId core, Duration length, Duration overshoot) {
  auto topology = os::Topology::detect();
  if (!topology) return;
  dispatch::UnguardedCores cores(*topology);
  dispatch::ExecutiveOptions options;
  options.lease.cores = {core};
  options.overshoot = overshoot;
  const auto executive = dispatch::Executive::start(options, cores);
  if (!executive) return (void)std::printf("  no such core\n");
  constexpr Duration periods[] = {2ms, 3ms, 5ms};
  std::latch done(std::size(periods));
  std::vector<std::unique_ptr<Eager>> jobs;
  for (const Duration period : periods) {
    const auto admitted =
        (*executive)
            ->admit_and_wait({.contract = make_contract(period, period / 10, {}, 0ms), .owner = {}, .label = "eager"});
    if (!admitted) return (void)std::printf("  an overshoot of so much leaves no room\n");
    jobs.push_back(std::make_unique<Eager>(**executive, period / 20, os::now() + length, done));
    jobs.back()->task = admitted->task;
  }
  for (const auto& job : jobs) job->recycle();
  done.wait();
  std::vector<Duration> late;
  for (const auto& job : jobs) late.insert(late.end(), job->late.begin(), job->late.end());
  const auto report = (*executive)->snapshot();
  (*executive)->stop();
  print_row(overshoot, std::move(late), report.cores.front().timer_releases);
}

}  // namespace

void print_firm(CoreId core, Duration length, Duration overshoot) {
  std::printf(
      "\nfirm timers, %.0f s each: three tasks whose jobs wait for their release; from there to their start, us\n",
      microseconds(length) / 1e6);
  std::printf("  %9s %8s %12s %9s %9s %9s\n", "overshoot", "jobs", "own timer", "p50", "p99", "max");
  for (const Duration late : {0ns, overshoot}) run_one(core, length, late);
}

}  // namespace servers
