#include "bench/servers/published.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/servers/units.h"
#include "orb/dispatch/budgets/aperiodic_server.h"
#include "orb/dispatch/cores/budget_thread.h"
#include "orb/os/clock.h"
#include "orb/os/thread.h"

namespace servers {
namespace {

using corelane::CoreId;
using corelane::Duration;
using corelane::Priority;
using corelane::Time;
using corelane::dispatch::AperiodicServer;
using corelane::dispatch::BudgetThread;
using corelane::dispatch::ServedThread;
namespace os = corelane::os;
namespace sched = corelane::sched;
using namespace std::chrono_literals;

constexpr Duration lead = 50ms;        // time until all threads begin
constexpr int alarms = 60;             // SCHED_FIFO level, above the servers
constexpr Duration whole_burst = 0ns;  // a burst that lasts until the run ends

struct Burst {
  Duration at;  // from the beginning
  Duration demand;
};

// A virtual processor: one thread, its server, and its bursts of work.
class Processor final : public ServedThread {
 public:
  Processor(const sched::Server& server, int native, std::optional<sched::IoCaller> caller, std::vector<Burst> bursts)
      : server_(server, native, {}, AperiodicServer::Work::always_runs), caller_(caller), bursts_(std::move(bursts)) {}

  bool start(CoreId core, Time begin) {
    begin_ = begin;
    auto thread = os::start_thread({.name = "vcpu", .core = core}, [this] { run(); });
    if (!thread) return false;
    thread_ = std::move(*thread);
    server_.add(*this);
    server_.grant();
    return true;
  }
  void stop() noexcept {
    over_.store(true, std::memory_order_relaxed);  // relaxed: it only ends the thread
    thread_.join();
  }

  AperiodicServer& server() noexcept { return server_; }
  Duration used() noexcept {
    server_.check();
    return server_.status().used;
  }

  void set_native(int native) noexcept override { (void)thread_.set_priority(native); }
  Duration cpu_time() const noexcept override { return thread_.cpu_time(); }

 private:
  bool over() const noexcept { return over_.load(std::memory_order_relaxed); }  // relaxed: see stop()

  void run() {
    for (const Burst& burst : bursts_) {
      os::sleep_until(begin_ + burst.at);
      server_.work(caller_.value_or(sched::IoCaller{}));
      const Duration end = os::thread_cpu_time() + burst.demand;  // the clock that the server charges
      while (burst.demand == whole_burst ? !over() : os::thread_cpu_time() < end) continue;
      server_.rest();
    }
  }

  AperiodicServer server_;
  const std::optional<sched::IoCaller> caller_;
  const std::vector<Burst> bursts_;
  Time begin_{};
  std::atomic<bool> over_{false};
  os::Thread thread_;
};

using Processors = std::vector<std::unique_ptr<Processor>>;

// Runs them together. Calls `look` on this thread once they run.
template <typename Look>
void run_together(Processors& processors, CoreId core, Time begin, Look&& look) {
  std::vector<AperiodicServer*> watched;
  for (const auto& processor : processors) watched.push_back(&processor->server());
  BudgetThread budgets({}, watched);
  if (!budgets.start({.name = "alarms", .fifo_priority = alarms})) return (void)std::printf("no timers left\n");
  for (const auto& processor : processors)
    if (!processor->start(core, begin)) return (void)std::printf("no thread left, or no such core\n");
  look();
  for (const auto& processor : processors) processor->server().dismiss();
  for (const auto& processor : processors) processor->set_native(0);
  budgets.stop();
  for (const auto& processor : processors) processor->stop();
}

}  // namespace

void print_replenishment(CoreId core, Duration unit) {
  const Time begin = os::now() + lead;
  Processors both;
  both.push_back(std::make_unique<Processor>(sched::SporadicServer({10 * unit, 40 * unit}, begin + unit), 41,
                                             std::nullopt, std::vector<Burst>{{unit, whole_burst}}));
  both.push_back(std::make_unique<Processor>(
      sched::SporadicServer({20 * unit, 50 * unit}, begin), 40, std::nullopt,
      std::vector<Burst>{{0 * unit, 18 * unit}, {40 * unit, 18 * unit}, {90 * unit, 20 * unit}}));
  Duration at_51{}, at_101{};
  run_together(both, core, begin, [&] {
    os::sleep_until(begin + 51 * unit);
    at_51 = both[1]->used();
    os::sleep_until(begin + 101 * unit);
    at_101 = both[1]->used();
  });
  std::printf("\nreplenishment, units of %.1f ms: what VCPU1 (20, 50) got in [51, 101) below VCPU0 (10, 40)\n",
              milliseconds(unit));
  std::printf("  %-28s %6s\n  %-28s %6.2f\n  %-28s %6d\n  %-28s %6d\n", "", "units", "measured",
              static_cast<double>((at_101 - at_51).count()) / static_cast<double>(unit.count()),
              "published, corrected rule", 22, "published, POSIX' rule", 27);
}

void print_io(CoreId core, Duration unit, Duration length) {
  struct Row {
    const char* name;
    int budget, period;
    double alone, beside;  // published shares of the core, in percent
  };
  constexpr Row rows[] = {{"VCPU2 (1, 4)", 1, 4, 25, 25},
                          {"VCPU0 (2, 5)", 2, 5, 40, 40},
                          {"VCPU1 (2, 8)", 2, 8, 25, 25},
                          {"VCPU3 (1, 10)", 1, 10, 10, 0},
                          {"I/O 10 % for VCPU1", 0, 0, 0, 10}};
  double measured[2][5] = {};
  for (const bool with_io : {false, true}) {
    const Time begin = os::now() + lead;
    Processors all;
    int native = 44;
    for (const Row& row : rows)
      if (row.budget > 0)
        all.push_back(std::make_unique<Processor>(sched::SporadicServer({row.budget * unit, row.period * unit}, begin),
                                                  native--, std::nullopt, std::vector<Burst>{{0ns, whole_burst}}));
    if (with_io)
      all.push_back(std::make_unique<Processor>(sched::IoServer(100'000, begin), 42,
                                                sched::IoCaller{8 * unit, Priority{42}},
                                                std::vector<Burst>{{0ns, whole_burst}}));
    run_together(all, core, begin, [&] { os::sleep_until(begin + length); });
    for (std::size_t i = 0; i < all.size(); ++i)
      measured[with_io ? 1 : 0][i] = 100.0 * milliseconds(all[i]->server().status().used) / milliseconds(length);
  }
  std::printf("\nI/O on behalf of VCPU1, units of %.1f ms, %.0f s each: shares of the core in percent\n",
              milliseconds(unit), milliseconds(length) / 1000);
  std::printf("  %-22s %10s %10s %10s %10s\n", "", "alone", "published", "with I/O", "published");
  for (std::size_t i = 0; i < std::size(rows); ++i)
    std::printf("  %-22s %10.1f %10.1f %10.1f %10.1f\n", rows[i].name, measured[0][i], rows[i].alone, measured[1][i],
                rows[i].beside);
}

}  // namespace servers
