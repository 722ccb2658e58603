#include "services/corelane/reproductions/replenishment.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "orb/eval/report/table.h"
#include "orb/os/clock.h"
#include "orb/sim/simulator.h"
#include "services/corelane/reproductions/simulated_core.h"
#include "services/corelane/reproductions/virtual_processors.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t window_from = 51, window_to = 101;
constexpr std::int64_t endless_units = 1'000'000;

struct WorkAt {
  std::int64_t at, units;
};

struct ExampleServer {
  std::int64_t budget, period, start;
  std::vector<WorkAt> work;
};

// The more urgent one first.
std::array<ExampleServer, 2> example() {
  return {ExampleServer{10, 40, 1, {{1, endless_units}}}, ExampleServer{20, 50, 0, {{0, 18}, {40, 18}, {90, 20}}}};
}

// PosixServer is a sporadic server by the rule of POSIX, stepped unit by unit. What one activation uses returns a
// period after the activation began, although a part of it was replenished later than that.
class PosixServer {
 public:
  explicit PosixServer(const ExampleServer& server) : server_(server), left_(server.budget) {}

  void begin_unit(std::int64_t now) {
    for (const WorkAt& work : server_.work) waiting_ += work.at == now ? work.units : 0;
    for (const WorkAt& due : returns_) left_ += due.at == now ? due.units : 0;
    if (!can_run() || active_) return;
    active_ = true;
    activation_ = now;
    used_ = 0;
  }
  bool can_run() const { return waiting_ > 0 && left_ > 0; }
  void run_unit() {
    --waiting_, --left_, ++used_;
    if (can_run()) return;
    active_ = false;
    returns_.push_back({activation_ + server_.period, used_});
  }

 private:
  ExampleServer server_;
  std::int64_t left_, waiting_ = 0, activation_ = 0, used_ = 0;
  bool active_ = false;
  std::vector<WorkAt> returns_{};
};

std::vector<Burst> bursts_of(const ExampleServer& server, Duration unit) {
  std::vector<Burst> bursts;
  for (const WorkAt& work : server.work)
    bursts.push_back({work.at * unit, work.units == endless_units ? whole_burst : work.units * unit});
  return bursts;
}

constexpr std::string_view window_columns[] = {"units in [51, 101)"};
constexpr std::string_view rule_rows[] = {"POSIX' rule", "corrected rule"};
constexpr std::string_view corrected_rows[] = {"corrected rule"};

Expected<ExperimentValues, std::string> run_replenishment(const ExperimentRun&) {
  return ExperimentValues{{std::to_string(units_by_posix_rule(window_from, window_to))},
                          {std::to_string(units_by_corrected_rule(window_from, window_to))}};
}

// The length of the run is that of the 101 units.
Expected<ExperimentValues, std::string> run_replenishment_here(const ExperimentRun& run) {
  const Duration unit = run.length / window_to;
  const Time begin = begin_of_run();
  VirtualProcessors both;
  int native = 41;
  for (const ExampleServer& server : example())
    both.push_back(std::make_unique<VirtualProcessor>(
        sched::SporadicServer({server.budget * unit, server.period * unit}, begin + server.start * unit), native--,
        bursts_of(server, unit)));
  Duration used{};
  std::string fault = run_together(both, run.core, begin, [&] {
    os::sleep_until(begin + window_from * unit);
    const Duration before = both[1]->used();
    os::sleep_until(begin + window_to * unit);
    used = both[1]->used() - before;
  });
  if (!fault.empty()) return fault;
  return ExperimentValues{{eval::fixed(static_cast<double>(used.count()) / static_cast<double>(unit.count()), 2)}};
}

bool posix_rule_is_premature(const ExperimentValues& values) {
  return number_at(values, 0, 0) == 27 && number_at(values, 1, 0) < number_at(values, 0, 0);
}

// By the corrected rule it gets 22 in virtual time. This host may add or take one unit.
bool is_near_corrected_rule(const ExperimentValues& values) { return std::abs(number_at(values, 0, 0) - 22) <= 1; }

}  // namespace

std::int64_t units_by_posix_rule(std::int64_t from, std::int64_t to) {
  std::vector<PosixServer> servers;
  for (const ExampleServer& server : example()) servers.emplace_back(server);
  std::int64_t units = 0;
  for (std::int64_t now = 0; now < to; ++now) {
    for (PosixServer& server : servers) server.begin_unit(now);
    const auto running = std::ranges::find_if(servers, &PosixServer::can_run);
    if (running == servers.end()) continue;
    running->run_unit();
    units += now >= from && running == servers.begin() + 1 ? 1 : 0;
  }
  return units;
}

std::int64_t units_by_corrected_rule(std::int64_t from, std::int64_t to) {
  sim::Simulator simulator(one_simulated_core());
  std::size_t lower = 0;
  Priority priority{2};
  for (const ExampleServer& server : example()) {
    const Time start{server.start * 1ms};
    lower = simulator.add_server(
        {simulated_core, sched::SporadicServer({server.budget * 1ms, server.period * 1ms}, start), priority});
    for (const WorkAt& work : server.work)
      simulator.add_work({.server = lower, .first = Time{work.at * 1ms}, .demand = work.units * 1ms});
    --priority.value;
  }
  simulator.run(Time{from * 1ms});
  const Duration before = simulator.served(lower);
  simulator.run(Time{to * 1ms});
  return (simulator.served(lower) - before) / 1ms;
}

constinit const Experiment replenishment{.name = "replenishment",
                                         .title = "What VCPU1 (20, 50) gets below VCPU0 (10, 40), in virtual time",
                                         .time = ExperimentTime::virtually,
                                         .length = {},
                                         .columns = window_columns,
                                         .rows = rule_rows,
                                         .claim = "VCPU1 gets 27 by POSIX' rule, and less by the corrected one",
                                         .holds = posix_rule_is_premature,
                                         .run = run_replenishment};

constinit const Experiment replenishment_real{.name = "replenishment-real",
                                              .title = "What VCPU1 (20, 50) gets below VCPU0 (10, 40), on this host",
                                              .time = ExperimentTime::really,
                                              .length = 505ms,  // units of 5 ms
                                              .columns = window_columns,
                                              .rows = corrected_rows,
                                              .claim = "by the corrected rule VCPU1 gets less than 27",
                                              .holds = is_near_corrected_rule,
                                              .run = run_replenishment_here};

}  // namespace corelane::tool::reproductions
