#include "services/corelane/reproductions/server_costs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "orb/eval/report/table.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"
#include "orb/sched/servers/server_driver.h"
#include "orb/sim/simulator.h"
#include "services/corelane/reproductions/core_work.h"
#include "services/corelane/reproductions/simulated_core.h"
#include "services/corelane/reproductions/virtual_processors.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr int cost_samples = 51;
constexpr int bursts_in_sample = 20'000;

constexpr std::string_view cost_columns[] = {"ns per burst", "% of its burst", "preemptions/s"};
constexpr std::string_view cost_rows[] = {"sporadic server", "I/O server (PIBS)"};

// Returns the time that the server's decisions take for a burst: one when it comes, and one when it ends.
double nanoseconds_per_burst(const sched::Server& server) {
  sched::ServerDriver driver(server, caller_of_flood.priority);
  Time now{};
  std::vector<Duration> samples;
  for (int sample = 0; sample < cost_samples; ++sample) {
    const Time begin = os::now();
    for (int i = 0; i < bursts_in_sample; ++i) {
      const sched::ServerVerdict verdict = driver.step(now, 0ns, caller_of_flood);
      const Duration burst = verdict.runs ? flood_burst : Duration{};
      driver.step(now + burst, burst, std::nullopt);
      now += flood_period;
    }
    samples.push_back(os::now() - begin);
  }
  std::ranges::sort(samples);
  return static_cast<double>(samples[samples.size() / 2].count()) / bursts_in_sample;
}

Expected<ExperimentValues, std::string> run_server_costs(const ExperimentRun& run) {
  ExperimentValues values;
  for (const sched::Server& server : {sporadic_flood_server(), io_flood_server()}) {
    if (stops(run)) break;
    const double cost = nanoseconds_per_burst(server);
    const double seconds = std::chrono::duration<double>(run.length).count();
    const auto preemptions = static_cast<double>(preemptions_in_flood(server, run.length));
    values.push_back({eval::fixed(cost, 1), eval::fixed(100 * cost / static_cast<double>(flood_burst.count()), 2),
                      eval::fixed(preemptions / seconds, 0)});
  }
  return values;
}

bool io_server_costs_less(const ExperimentValues& values) {
  return number_at(values, 1, 0) < number_at(values, 0, 0) && number_at(values, 1, 2) < number_at(values, 0, 2);
}

// The numbers of servers. They share the same part of the core.
constexpr int server_numbers[] = {4, 8, 12, 16, 20, 24};
constexpr int reserved_percent = 60;
constexpr Duration period_of_servers = 10ms;
constexpr int lowest_server_level = 20;    // SCHED_FIFO; each server has a level of its own
constexpr std::size_t count_rounds = 5;    // each number runs once in each
constexpr double least_correlation = 0.9;  // of a line

constexpr std::string_view count_columns[] = {"% overhead", "% served", "budget ends/s"};
constexpr std::string_view count_rows[] = {"4 servers",  "8 servers",  "12 servers",
                                           "16 servers", "20 servers", "24 servers"};
static_assert(std::size(server_numbers) == std::size(count_rows));

// RestThread takes what all others leave of a core, at the lowest SCHED_FIFO level.
class RestThread {
 public:
  explicit RestThread(CoreId core) {
    auto thread = os::start_thread({.name = "rest", .core = core, .fifo_priority = 1}, [this] {
      while (!is_over_.load(std::memory_order_relaxed)) {  // relaxed: it only ends the thread
        work_a_piece();
        pieces_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count alone
      }
    });
    if (thread) thread_ = std::move(*thread);
  }
  ~RestThread() {
    is_over_.store(true, std::memory_order_relaxed);  // relaxed: see above
  }

  bool runs() const { return thread_.joinable(); }
  std::uint64_t pieces() const { return pieces_.load(std::memory_order_relaxed); }  // relaxed: see above

 private:
  std::atomic<bool> is_over_{false};
  std::atomic<std::uint64_t> pieces_{0};
  os::Thread thread_{};  // the last member: the thread uses those above
};

VirtualProcessors servers_for_count(int count, Time begin) {
  VirtualProcessors all;
  for (int i = 0; i < count; ++i) {
    const sched::Reservation each{.budget = period_of_servers * reserved_percent / (100 * count),
                                  .period = period_of_servers};
    all.push_back(std::make_unique<VirtualProcessor>(sched::SporadicServer(each, begin), lowest_server_level + i,
                                                     std::vector<Burst>{{0ns, whole_burst}}));
  }
  return all;
}

// What all threads of a run have done until now.
struct CoreUse {
  Time at{};
  std::uint64_t pieces = 0;  // of all threads
  Duration served{};         // of the budgets
  std::uint64_t ends = 0;
};

CoreUse use_now(const VirtualProcessors& all, const RestThread& rest) {
  CoreUse use{.at = os::now(), .pieces = rest.pieces()};
  for (const auto& processor : all) {
    use.pieces += processor->pieces();
    use.served += processor->used();
    use.ends += processor->server().status().exhausted;
  }
  return use;
}

// What one run gave, for each second.
struct CountRates {
  double pieces = 0, served = 0, ends = 0;
};

// Without servers the rest thread has the core alone. Fails with why it cannot run here.
Expected<CountRates, std::string> run_servers(int count, const ExperimentRun& run) {
  const Time begin = begin_of_run();
  const VirtualProcessors all = servers_for_count(count, begin);
  CoreUse before, after;
  bool has_rest = false;
  std::string fault = run_together(all, run.core, begin, [&] {
    const RestThread rest(run.core);
    has_rest = rest.runs();
    os::sleep_until(begin);
    before = use_now(all, rest);
    os::sleep_until(begin + run.length);
    after = use_now(all, rest);
  });
  if (!fault.empty()) return fault;
  if (!has_rest) return no_thread_for(run.core);
  const double seconds = std::chrono::duration<double>(after.at - before.at).count();
  return CountRates{.pieces = static_cast<double>(after.pieces - before.pieces) / seconds,
                    .served = std::chrono::duration<double>(after.served - before.served).count() / seconds,
                    .ends = static_cast<double>(after.ends - before.ends) / seconds};
}

// What the runs of one number of servers gave, by round.
struct CountCost {
  std::vector<double> overheads{}, served{}, ends{};
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The rounds are interleaved, so that a disturbance of the host does not hit one number of servers alone.
Expected<ExperimentValues, std::string> run_server_counts(const ExperimentRun& run) {
  std::vector<CountCost> costs(std::size(server_numbers));
  for (std::size_t round = 0; round < count_rounds; ++round) {
    const auto undisturbed = run_servers(0, run);
    if (!undisturbed) return undisturbed.error();
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (stops(run)) return ExperimentValues{};
      const auto rates = run_servers(server_numbers[i], run);
      if (!rates) return rates.error();
      costs[i].overheads.push_back(100 - 100 * rates->pieces / std::max(undisturbed->pieces, 1.0));
      costs[i].served.push_back(100 * rates->served);
      costs[i].ends.push_back(rates->ends);
    }
  }
  ExperimentValues values;
  for (const CountCost& cost : costs)
    values.push_back({eval::fixed(median(cost.overheads), 2), eval::fixed(median(cost.served), 2),
                      eval::fixed(median(cost.ends), 0)});
  return values;
}

// Returns the coefficient of correlation between the numbers of servers and the overhead.
double correlation_of_overhead(const ExperimentValues& values) {
  double servers = 0, overheads = 0;
  for (std::size_t row = 0; row < values.size(); ++row)
    servers += server_numbers[row], overheads += number_at(values, row, 0);
  const auto rows = static_cast<double>(values.size());
  double both = 0, of_servers = 0, of_overheads = 0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    const double x = server_numbers[row] - servers / rows, y = number_at(values, row, 0) - overheads / rows;
    both += x * y, of_servers += x * x, of_overheads += y * y;
  }
  return both / std::sqrt(of_servers * of_overheads);
}

bool overhead_grows_linearly(const ExperimentValues& values) {
  return correlation_of_overhead(values) >= least_correlation;
}

}  // namespace

sched::Server sporadic_flood_server() { return sched::SporadicServer({2ms, 10ms}); }

sched::Server io_flood_server() { return sched::IoServer(200'000); }

std::uint64_t preemptions_in_flood(const sched::Server& server, Duration length) {
  sim::Simulator simulator(one_simulated_core());
  const std::size_t flooded = simulator.add_server({simulated_core, server, caller_of_flood.priority});
  const std::size_t low = simulator.add_server({simulated_core, sched::SporadicServer({10ms, 10ms}), Priority{1}});
  simulator.add_work({.server = flooded, .every = flood_period, .demand = flood_burst, .io = caller_of_flood});
  simulator.add_work({.server = low, .demand = 2 * length});
  simulator.run(Time{length});
  return simulator.preemptions();
}

constinit const Experiment server_costs{.name = "server-costs",
                                        .title = "A flood of bursts of 3 us under a server of 20 %",
                                        .time = ExperimentTime::really,
                                        .length = 1s,
                                        .columns = cost_columns,
                                        .rows = cost_rows,
                                        .claim = "in a flood an I/O server costs less than a sporadic server",
                                        .holds = io_server_costs_less,
                                        .run = run_server_costs};

constinit const Experiment server_counts{.name = "server-counts",
                                         .title = "Servers that share 60 % of a core of this host",
                                         .time = ExperimentTime::really,
                                         .length = 300ms,
                                         .columns = count_columns,
                                         .rows = count_rows,
                                         .claim = "the overhead grows linearly with the number of servers",
                                         .holds = overhead_grows_linearly,
                                         .run = run_server_counts};

}  // namespace corelane::tool::reproductions
