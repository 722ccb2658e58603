#include "services/corelane/host_card/measure_host.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "orb/os/machine/topology.h"
#include "orb/os/privileges.h"
#include "orb/rt/work.h"
#include "services/corelane/host_card/balancer.h"
#include "services/corelane/host_card/clock_exchange.h"
#include "services/corelane/host_card/hops.h"
#include "services/corelane/host_card/migrations.h"
#include "services/corelane/host_card/wake_ups.h"

namespace corelane::tool {
namespace {

using eval::HostCost;

// How many samples are taken of each cost.
struct Effort {
  int messages, hops, yields, moves, wake_ups;
  Duration balancing;  // of each row; zero: none
};
constexpr Effort quick_effort{
    .messages = 2000, .hops = 500, .yields = 2000, .moves = 200, .wake_ups = 250, .balancing = {}};
constexpr Effort long_effort{.messages = 20'000,
                             .hops = 10'000,
                             .yields = 50'000,
                             .moves = 2000,
                             .wake_ups = 10'000,
                             .balancing = std::chrono::seconds{30}};

// The numbers of tasks and their utilization in percent, as the source has them.
constexpr std::pair<int, int> balanced_sets[] = {{10, 60}, {30, 60}, {10, 100}, {30, 100}};

std::string utc_text() {
  const time_t now = ::time(nullptr);
  tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  return std::string(text, ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts));
}

class HostMeter {
 public:
  HostMeter(const MeasureHostOptions& options, std::vector<CoreId> cores)
      : options_(options), effort_(options.thorough ? long_effort : quick_effort), cores_(std::move(cores)) {}

  eval::HostCard measure() {
    card_.key = eval::key_of_this_host();
    card_.measured_at = utc_text();
    card_.thorough = options_.thorough;
    card_.real_time = os::privileges().fifo;
    if (!card_.real_time)
      leave_out("SCHED_FIFO",
                "this user may not use it, so other programs are in all times; corelane doctor --for tasks "
                "says how to get it");
    measure_clocks();
    measure_migrations();
    measure_hops();
    measure_wakes();
    measure_balancing();
    return std::move(card_);
  }

 private:
  CoreId measured_core() const { return cores_.back(); }  // the first one often serves interrupts
  bool has_two_cores() const { return cores_.size() > 1; }

  void leave_out(const std::string& what, const std::string& why) { card_.omissions.push_back({what, why}); }

  void leave_out(HostCost cost, const std::string& why) {
    const auto names = eval::host_costs();
    leave_out(std::string(std::ranges::find(names, cost, &eval::HostCostName::cost)->text), why);
  }

  void add(HostCost cost, const CostSamples& samples) {
    if (samples)
      card_.costs.emplace(cost, eval::summary_of(*samples));
    else
      leave_out(cost, samples.error().why);
  }

  // Also measures the hops to a polling thread: a message is one. All pairs of cores share their samples.
  void measure_clocks() {
    if (!has_two_cores()) return leave_out("offsets of clocks", "this process may use one core only");
    options_.progress("offsets of clocks");
    std::vector<Duration> hops;
    const std::size_t firsts = options_.thorough ? cores_.size() : 1;
    for (std::size_t one = 0; one < firsts; ++one)
      for (std::size_t other = one + 1; other < cores_.size(); ++other) {
        const auto exchanges = exchange_clocks(cores_[one], cores_[other], effort_.messages);
        if (!exchanges) return leave_out("offsets of clocks", exchanges.error().why);
        card_.clock_offsets.push_back(clock_offset_of(cores_[one], cores_[other], *exchanges));
        const auto pair_hops = polling_hops_of(*exchanges);
        hops.insert(hops.end(), pair_hops.begin(), pair_hops.end());
      }
    add(HostCost::hop_polling, hops);
  }

  void measure_migrations() {
    if (!has_two_cores()) return leave_out("migrations", "this process may use one core only");
    options_.progress("migrations");
    const CoreId one = cores_.front(), other = cores_.back();
    const CoreId managing = cores_.size() > 2 ? cores_[1] : other;
    add(HostCost::migrate_itself, migrate_itself(one, other, effort_.moves));
    add(HostCost::migrate_running, migrate_running(one, other, managing, effort_.moves));
    add(HostCost::migrate_sleeping, migrate_sleeping(one, other, managing, effort_.moves));
  }

  void measure_hops() {
    options_.progress("hops and context switches");
    add(HostCost::hop_same_core, hop(measured_core(), measured_core(), effort_.hops));
    add(HostCost::context_switch, switch_context(measured_core(), effort_.yields));
    if (has_two_cores()) add(HostCost::hop_other_core, hop(cores_.front(), measured_core(), effort_.hops));
  }

  void measure_wakes() {
    for (const eval::WakeLoadName& load : eval::wake_loads())
      for (const bool real_time : {true, false}) measure_wakes(load, real_time);
    const bool is_split = std::ranges::any_of(card_.wake_ups, [](const auto& w) { return w.ready.count > 0; });
    if (!is_split && !card_.wake_ups.empty())
      leave_out("parts of wake-up latency",
                "the kernel does not tell how long a thread is ready (CONFIG_SCHED_INFO, /proc/thread-self/schedstat)");
  }

  void measure_wakes(const eval::WakeLoadName& load, bool real_time) {
    if (real_time && !card_.real_time) return;  // said once, about SCHED_FIFO
    const std::string what = "wake-ups with load " + std::string(load.name);
    options_.progress(what + (real_time ? ", real-time thread" : ", ordinary thread"));
    const auto latency = measure_wake_ups(
        {.core = measured_core(), .load = load.load, .real_time = real_time, .wake_ups = effort_.wake_ups});
    if (latency)
      card_.wake_ups.push_back(*latency);
    else
      leave_out(what, latency.error().why);
  }

  void measure_balancing() {
    constexpr const char* what = "load balancer";
    if (effort_.balancing == Duration::zero()) return leave_out(what, "it takes two minutes; add --long");
    for (const auto& [tasks, percent] : balanced_sets) {
      options_.progress(std::string(what) + ": " + std::to_string(tasks) + " tasks");
      const auto cost =
          measure_balancer({.core = measured_core(), .tasks = tasks, .percent = percent, .watched = effort_.balancing});
      if (!cost) return leave_out(what, cost.error().why);
      card_.balancer.push_back(*cost);
    }
  }

  const MeasureHostOptions& options_;
  const Effort& effort_;
  const std::vector<CoreId> cores_;  // those that this process may use; at least one
  eval::HostCard card_;
};

}  // namespace

eval::HostCard measure_host(const MeasureHostOptions& options) {
  const auto topology = os::Topology::detect();
  if (!topology) {
    eval::HostCard card{.key = eval::key_of_this_host(), .measured_at = utc_text()};
    card.omissions.push_back({"everything", "the cores of this host cannot be read"});
    return card;
  }
  rt::calibrate();
  std::vector<CoreId> cores;
  for (const os::CoreInfo& info : topology->cores()) cores.push_back(info.core);
  return HostMeter(options, std::move(cores)).measure();
}

}  // namespace corelane::tool
