#include "services/corelane/reproductions/reservations.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "orb/eval/report/table.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/sim/simulator.h"
#include "services/corelane/reproductions/simulated_core.h"
#include "services/corelane/reproductions/virtual_processors.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t reserved_count = std::size(published_reservations);
constexpr std::size_t load_threads = 4;  // on this host

constexpr std::string_view period_columns[] = {"share %", "least us", "p1 us", "median us", "p99 us", "most us"};
constexpr std::string_view period_rows[] = {"20 % of 512 us, alone", "40 % of 8192 us, alone",
                                            "20 % of 512 us, under load", "40 % of 8192 us, under load"};

// Returns a row for each reservation: its share, and how much it used in a period.
void append_rows(const PeriodUse& use, ExperimentValues& values) {
  for (std::size_t i = 0; i < reserved_count; ++i) {
    std::vector<Duration> sorted = use[i];
    if (sorted.empty()) {  // the run was shorter than a period
      values.emplace_back(std::size(period_columns), "-");
      continue;
    }
    std::ranges::sort(sorted);
    const Duration sum = std::accumulate(sorted.begin(), sorted.end(), Duration{});
    const Duration total = published_reservations[i].period * static_cast<std::int64_t>(sorted.size());
    std::vector<std::string>& row = values.emplace_back();
    row.push_back(eval::fixed(100.0 * static_cast<double>(sum.count()) / static_cast<double>(total.count()), 2));
    for (const std::size_t percent : {0U, 1U, 50U, 99U, 100U}) {
      const Duration quantile = sorted[(sorted.size() - 1) * percent / 100];
      row.push_back(eval::fixed(std::chrono::duration<double, std::micro>(quantile).count(), 1));
    }
  }
}

Expected<ExperimentValues, std::string> run_reservations(const ExperimentRun& run) {
  ExperimentValues values;
  for (const bool has_load : {false, true}) append_rows(use_in_virtual_time(has_load, run.length), values);
  return values;
}

// Returns whether each share differs by at most `points` percentage points from what was reserved.
bool shares_within(const ExperimentValues& values, double points) {
  for (std::size_t row = 0; row < values.size(); ++row) {
    const sched::Reservation& reserved = published_reservations[row % reserved_count];
    const double percent =
        100.0 * static_cast<double>(reserved.budget.count()) / static_cast<double>(reserved.period.count());
    if (!(std::abs(number_at(values, row, 0) - percent) <= points)) return false;
  }
  return true;
}

// LoadThreads compute under SCHED_OTHER while the object lives.
class LoadThreads {
 public:
  LoadThreads(std::size_t count, CoreId core) {
    for (std::size_t i = 0; i < count; ++i) {
      auto thread = os::start_thread({.name = "load", .core = core}, [this] {
        while (!is_over_.load(std::memory_order_relaxed)) continue;  // relaxed: it only ends the thread
      });
      if (thread) threads_.push_back(std::move(*thread));
    }
  }
  ~LoadThreads() {
    is_over_.store(true, std::memory_order_relaxed);  // relaxed: see above
  }

 private:
  std::atomic<bool> is_over_{false};
  std::vector<os::Thread> threads_{};  // the last member: the threads use the one above
};

// Reads at the end of each period what each reservation used in it.
void sample_periods(const VirtualProcessors& processors, const ExperimentRun& run, Time begin, PeriodUse& use) {
  std::array<Time, reserved_count> ends{};
  std::array<Duration, reserved_count> before{};
  for (std::size_t i = 0; i < reserved_count; ++i) ends[i] = begin + published_reservations[i].period;
  for (;;) {  // bound: the periods of the run
    const auto next = static_cast<std::size_t>(std::ranges::min_element(ends) - ends.begin());
    if (ends[next] > begin + run.length) return;
    os::sleep_until(ends[next]);
    const Duration used = processors[next]->used();
    use[next].push_back(used - std::exchange(before[next], used));
    ends[next] += published_reservations[next].period;
  }
}

// Returns "", or why it cannot run here.
std::string use_here(bool has_load, const ExperimentRun& run, PeriodUse& use) {
  const Time begin = begin_of_run();
  VirtualProcessors processors;
  int native = 42;
  for (const sched::Reservation& reservation : published_reservations)
    processors.push_back(std::make_unique<VirtualProcessor>(sched::SporadicServer(reservation, begin), native--,
                                                            std::vector<Burst>{{0ns, whole_burst}}));
  for (std::vector<Duration>& one : use) one.reserve(static_cast<std::size_t>(run.length / 512us) + 1);
  const LoadThreads load(has_load ? load_threads : 0, run.core);
  return run_together(processors, run.core, begin, [&] { sample_periods(processors, run, begin, use); });
}

Expected<ExperimentValues, std::string> run_reservations_here(const ExperimentRun& run) {
  ExperimentValues values;
  for (const bool has_load : {false, true}) {
    if (stops(run)) break;
    PeriodUse use(reserved_count);
    if (std::string fault = use_here(has_load, run, use); !fault.empty()) return fault;
    append_rows(use, values);
  }
  return values;
}

}  // namespace

PeriodUse use_in_virtual_time(bool has_load, Duration length) {
  sim::Simulator simulator(one_simulated_core());
  simulator.use_deadlines(simulated_core);
  for (const sched::Reservation& reservation : published_reservations) {
    const std::size_t server =
        simulator.add_server({simulated_core, sched::ConstantBandwidthServer(reservation, sched::Exhausted::waits)});
    simulator.add_work({.server = server, .demand = 2 * length});
  }
  if (has_load) {
    const std::size_t load = simulator.add_server({simulated_core, sched::ConstantBandwidthServer({4ms, 10ms})});
    simulator.add_work({.server = load, .demand = 2 * length});
  }
  PeriodUse use(reserved_count);
  std::array<Duration, reserved_count> before{};
  const Duration step = published_reservations[0].period;  // it divides the other period
  for (Time now{step}; now <= Time{length}; now += step) {
    simulator.run(now);
    for (std::size_t i = 0; i < reserved_count; ++i) {
      if (now.time_since_epoch() % published_reservations[i].period != Duration::zero()) continue;
      const Duration used = simulator.served(i);
      use[i].push_back(used - std::exchange(before[i], used));
    }
  }
  return use;
}

constinit const Experiment reservations{
    .name = "reservations",
    .title = "Two reservations in virtual time: what each used in its periods",
    .time = ExperimentTime::virtually,
    .length = 1s,
    .columns = period_columns,
    .rows = period_rows,
    .claim = "each reservation gets its share, alone and under load",
    .holds = [](const ExperimentValues& values) { return shares_within(values, 0.005); },
    .run = run_reservations};

constinit const Experiment reservations_real{
    .name = "reservations-real",
    .title = "Two reservations on this host: what each used in its periods",
    .time = ExperimentTime::really,
    .length = 4s,
    .columns = period_columns,
    .rows = period_rows,
    .claim = "each reservation gets its share, alone and under load",
    .holds = [](const ExperimentValues& values) { return shares_within(values, 0.5); },
    .run = run_reservations_here};

}  // namespace corelane::tool::reproductions
