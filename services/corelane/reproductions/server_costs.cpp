#include "services/corelane/reproductions/server_costs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
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

// The numbers of servers. They share the same part of the core.
constexpr int server_numbers[] = {4, 8, 12, 16, 20, 24};
constexpr int reserved_percent = 60;
constexpr Duration period_of_servers = 10ms;
constexpr int lowest_server_level = 20;  // SCHED_FIFO; each server has a level of its own

constexpr std::string_view count_columns[] = {"% overhead", "% served", "budget ends/s"};
constexpr std::string_view count_rows[] = {"4 servers",  "8 servers",  "12 servers",
                                           "16 servers", "20 servers", "24 servers"};
static_assert(std::size(server_numbers) == std::size(count_rows));

// RestThread takes what all others leave of a core, at the lowest SCHED_FIFO level.
class RestThread {
 public:
  explicit RestThread(CoreId core) {
    auto thread = os::start_thread({.name = "rest", .core = core, .fifo_priority = 1}, [this] {
      while (!is_over_.load(std::memory_order_relaxed)) continue;  // relaxed: it only ends the thread
    });
    if (thread) thread_ = std::move(*thread);
  }
  ~RestThread() {
    is_over_.store(true, std::memory_order_relaxed);  // relaxed: see above
  }

  Duration cpu_time() const { return thread_.cpu_time(); }

 private:
  std::atomic<bool> is_over_{false};
  os::Thread thread_{};  // the last member: the thread uses the one above
};

VirtualProcessors servers_for_count(int count, Time begin) {
  VirtualProcessors all;
  const sched::Reservation each{.budget = period_of_servers * reserved_percent / (100 * count),
                                .period = period_of_servers};
  for (int i = 0; i < count; ++i)
    all.push_back(std::make_unique<VirtualProcessor>(sched::SporadicServer(each, begin), lowest_server_level + i,
                                                     std::vector<Burst>{{0ns, whole_burst}}));
  return all;
}

// What all threads of a run have used until now.
struct CoreUse {
  Time at{};
  Duration threads{};  // with the rest
  Duration served{};   // of the budgets
  std::uint64_t ends = 0;
};

CoreUse use_now(const VirtualProcessors& all, const RestThread& rest) {
  CoreUse use{.at = os::now(), .threads = rest.cpu_time()};
  for (const auto& processor : all) {
    use.threads += processor->cpu_time();
    use.served += processor->used();
    use.ends += processor->server().status().exhausted;
  }
  return use;
}

// Returns "", or why it cannot run here.
std::string add_count_row(int count, const ExperimentRun& run, ExperimentValues& values) {
  const Time begin = begin_of_run();
  const VirtualProcessors all = servers_for_count(count, begin);
  CoreUse before, after;
  std::string fault = run_together(all, run.core, begin, [&] {
    const RestThread rest(run.core);
    os::sleep_until(begin);
    before = use_now(all, rest);
    os::sleep_until(begin + run.length);
    after = use_now(all, rest);
  });
  if (!fault.empty()) return fault;
  const auto whole = static_cast<double>((after.at - before.at).count());
  const auto percent = [&](Duration used) { return 100 * static_cast<double>(used.count()) / whole; };
  values.push_back({eval::fixed(100 - percent(after.threads - before.threads), 2),
                    eval::fixed(percent(after.served - before.served), 2),
                    eval::fixed(1e9 * static_cast<double>(after.ends - before.ends) / whole, 0)});
  return {};
}

Expected<ExperimentValues, std::string> run_server_counts(const ExperimentRun& run) {
  ExperimentValues values;
  for (const int count : server_numbers) {
    if (stops(run)) break;
    if (std::string fault = add_count_row(count, run, values); !fault.empty()) return fault;
  }
  return values;
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
                                        .run = run_server_costs};

constinit const Experiment server_counts{.name = "server-counts",
                                         .title = "Servers that share 60 % of a core of this host",
                                         .time = ExperimentTime::really,
                                         .length = 2s,
                                         .columns = count_columns,
                                         .rows = count_rows,
                                         .run = run_server_counts};

}  // namespace corelane::tool::reproductions
