#include "services/corelane/reproductions/io_servers.h"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "orb/eval/report/table.h"
#include "orb/os/clock.h"
#include "orb/sim/simulator.h"
#include "services/corelane/reproductions/simulated_core.h"
#include "services/corelane/reproductions/virtual_processors.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr Duration endless_work = std::chrono::hours{1};

// The CD-ROM example. Times are in its units.
struct ExampleProcessor {
  int budget, period;
};
constexpr ExampleProcessor example_processors[] = {{1, 4}, {2, 5}, {2, 8}, {1, 10}};
constexpr int highest_level = 44;  // SCHED_FIFO, of the first one; each other one is a level lower
constexpr int caller_level = 42;   // of the third one
constexpr int caller_period = 8;
constexpr sched::Ppm example_io_share = 100'000;
constexpr Duration real_unit = 5ms;
constexpr double percent_alone[] = {25, 40, 25, 10, 0}, percent_with_io[] = {25, 40, 25, 0, 10};  // as published

constexpr std::string_view behalf_columns[] = {"% alone", "% with I/O"};
constexpr std::string_view behalf_rows[] = {"VCPU2 (1, 4)", "VCPU0 (2, 5)", "VCPU1 (2, 8)", "VCPU3 (1, 10)",
                                            "I/O 10 % for VCPU1"};

// Returns the shares in percent, by row. The I/O server used nothing while the VCPUs were alone.
ExperimentValues shares_of(const std::vector<Duration>& alone, const std::vector<Duration>& with_io, Duration length) {
  const auto percent = [&](Duration used) {
    return eval::fixed(100.0 * static_cast<double>(used.count()) / static_cast<double>(length.count()), 1);
  };
  ExperimentValues values;
  for (std::size_t i = 0; i < with_io.size(); ++i)
    values.push_back({percent(i < alone.size() ? alone[i] : Duration{}), percent(with_io[i])});
  return values;
}

// Returns whether each share differs by at most `points` percentage points from the published one.
bool shares_as_published(const ExperimentValues& values, double points) {
  for (std::size_t row = 0; row < values.size(); ++row)
    if (!(std::abs(number_at(values, row, 0) - percent_alone[row]) <= points &&
          std::abs(number_at(values, row, 1) - percent_with_io[row]) <= points))
      return false;
  return true;
}

Expected<ExperimentValues, std::string> run_on_behalf(const ExperimentRun& run) {
  return shares_of(used_on_behalf(false, run.length), used_on_behalf(true, run.length), run.length);
}

VirtualProcessors processors_here(bool has_io, Time begin) {
  VirtualProcessors all;
  const std::vector<Burst> endless{{0ns, whole_burst}};
  int native = highest_level;
  for (const auto& [budget, period] : example_processors)
    all.push_back(std::make_unique<VirtualProcessor>(
        sched::SporadicServer({budget * real_unit, period * real_unit}, begin), native--, endless));
  if (has_io)
    all.push_back(
        std::make_unique<VirtualProcessor>(sched::IoServer(example_io_share, begin), caller_level, endless,
                                           sched::IoCaller{caller_period * real_unit, Priority{caller_level}}));
  return all;
}

// Returns "", or why it cannot run here.
std::string use_on_behalf(bool has_io, const ExperimentRun& run, std::vector<Duration>& used) {
  const Time begin = begin_of_run();
  const VirtualProcessors all = processors_here(has_io, begin);
  return run_together(all, run.core, begin, [&] {
    os::sleep_until(begin + run.length);
    for (const auto& processor : all) used.push_back(processor->used());
  });
}

Expected<ExperimentValues, std::string> run_on_behalf_here(const ExperimentRun& run) {
  std::vector<Duration> alone, with_io;
  if (std::string fault = use_on_behalf(false, run, alone); !fault.empty()) return fault;
  if (stops(run)) return ExperimentValues{};
  if (std::string fault = use_on_behalf(true, run, with_io); !fault.empty()) return fault;
  return shares_of(alone, with_io, run.length);
}

// The two devices. The flood asks for more than its server may use.
constexpr sched::Ppm device_share = 100'000;  // of each device
constexpr Duration transfer_interval = 1ms, transfer_demand = 50us;
constexpr Duration flood_interval = 100us, flood_demand = 40us;
constexpr sched::IoCaller transfer_caller{.period = 30ms, .priority = Priority{1}};
constexpr sched::IoCaller flood_caller{.period = 10ms, .priority = Priority{2}};

constexpr std::string_view transfer_columns[] = {"transfers/s", "dropped/s", "% of the core for I/O"};
constexpr std::string_view transfer_rows[] = {"no flood", "flood, one server for both", "flood, a server for each"};

Expected<ExperimentValues, std::string> run_io_servers(const ExperimentRun& run) {
  ExperimentValues values;
  const double seconds = std::chrono::duration<double>(run.length).count();
  for (const auto& [has_flood, has_own_server] : {std::pair{false, true}, {true, false}, {true, true}}) {
    const TransferCounts counts =
        count_transfers({.has_flood = has_flood, .has_own_server = has_own_server, .length = run.length});
    values.push_back({eval::fixed(static_cast<double>(counts.transfers) / seconds, 0),
                      eval::fixed(static_cast<double>(counts.dropped) / seconds, 0),
                      eval::fixed(100.0 * std::chrono::duration<double>(counts.io).count() / seconds, 1)});
  }
  return values;
}

bool own_server_keeps_transfers(const ExperimentValues& values) {
  const double alone = number_at(values, 0, 0);
  return number_at(values, 1, 0) < alone / 2 && number_at(values, 2, 0) >= 0.99 * alone;
}

}  // namespace

std::vector<Duration> used_on_behalf(bool has_io, Duration length) {
  sim::Simulator simulator(one_simulated_core());
  int priority = highest_level;
  for (const auto& [budget, period] : example_processors) {
    const std::size_t server = simulator.add_server(
        {simulated_core, sched::SporadicServer({budget * 1ms, period * 1ms}), Priority{priority--}});
    simulator.add_work({.server = server, .demand = endless_work});
  }
  if (has_io) {
    const std::size_t server = simulator.add_server({simulated_core, sched::IoServer(example_io_share)});
    simulator.add_work({.server = server, .demand = endless_work, .io = {caller_period * 1ms, Priority{caller_level}}});
  }
  simulator.run(Time{length});
  std::vector<Duration> used;
  for (std::size_t i = 0; i < std::size(example_processors) + (has_io ? 1 : 0); ++i)
    used.push_back(simulator.served(i));
  return used;
}

TransferCounts count_transfers(const TransferSetup& setup) {
  sim::Simulator simulator(one_simulated_core());
  const sched::Ppm share = setup.has_own_server ? device_share : 2 * device_share;  // the same for both together
  std::vector<std::size_t> servers{simulator.add_server({simulated_core, sched::IoServer(share)})};
  if (setup.has_own_server) servers.push_back(simulator.add_server({simulated_core, sched::IoServer(share)}));
  const std::size_t transfers = simulator.add_work(
      {.server = servers.front(), .every = transfer_interval, .demand = transfer_demand, .io = transfer_caller});
  if (setup.has_flood)
    simulator.add_work({.server = servers.back(), .every = flood_interval, .demand = flood_demand, .io = flood_caller});
  simulator.run(Time{setup.length});
  TransferCounts counts{.transfers = simulator.work(transfers).jobs, .dropped = simulator.work(transfers).dropped};
  for (const std::size_t server : servers) counts.io += simulator.served(server);
  return counts;
}

constinit const Experiment io_on_behalf{
    .name = "io-on-behalf",
    .title = "The CD-ROM example in virtual time: shares of the core",
    .time = ExperimentTime::virtually,
    .length = 4s,
    .columns = behalf_columns,
    .rows = behalf_rows,
    .claim = "I/O on behalf of VCPU1 takes its time from VCPU3 alone",
    .holds = [](const ExperimentValues& values) { return shares_as_published(values, 0); },
    .run = run_on_behalf};

constinit const Experiment io_on_behalf_real{
    .name = "io-on-behalf-real",
    .title = "The CD-ROM example on this host: shares of the core",
    .time = ExperimentTime::really,
    .length = 800ms,  // short of a second: see docs/reproductions.md
    .columns = behalf_columns,
    .rows = behalf_rows,
    .claim = "I/O on behalf of VCPU1 takes its time from VCPU3 alone",
    .holds = [](const ExperimentValues& values) { return shares_as_published(values, 1.5); },
    .run = run_on_behalf_here};

constinit const Experiment io_servers{.name = "io-servers",
                                      .title = "Transfers of a slow device beside a flood for another one",
                                      .time = ExperimentTime::virtually,
                                      .length = 10s,
                                      .columns = transfer_columns,
                                      .rows = transfer_rows,
                                      .claim =
                                          "a flood takes the bandwidth of a device that shares its I/O server, "
                                          "but not of one with a server of its own",
                                      .holds = own_server_keeps_transfers,
                                      .run = run_io_servers};

}  // namespace corelane::tool::reproductions
