#include "services/corelane/reproductions/timer_costs.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <optional>
#include <utility>

#include "orb/base/thread_safety.h"
#include "orb/eval/report/table.h"
#include "orb/os/clock.h"
#include "orb/os/fd.h"
#include "orb/os/lock.h"
#include "orb/os/pi_mutex.h"
#include "orb/os/thread.h"
#include "orb/sched/schedulers/firm_timers.h"
#include "services/corelane/reproductions/core_work.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr Duration timer_period = 1ms;
constexpr int work_priority = 10, interrupt_priority = 20;  // SCHED_FIFO
constexpr std::size_t rounds = 5;                           // each setup runs once in each

struct TimerCostSetup {
  std::size_t timers;
  Duration overshoot;
};
constexpr TimerCostSetup timer_setups[] = {{1, 0us},    {1, 50us}, {1, 500us}, {10, 0us},  {10, 50us},
                                           {10, 500us}, {50, 0us}, {50, 50us}, {50, 500us}};

constexpr std::string_view timer_cost_columns[] = {"% overhead",  "interrupts/s", "% soft",
                                                   "late p50 us", "late p99 us",  "check every us"};
constexpr std::string_view timer_cost_rows[] = {
    "1 timer, overshoot 0 us",   "1 timer, overshoot 50 us",   "1 timer, overshoot 500 us",
    "10 timers, overshoot 0 us", "10 timers, overshoot 50 us", "10 timers, overshoot 500 us",
    "50 timers, overshoot 0 us", "50 timers, overshoot 50 us", "50 timers, overshoot 500 us"};
static_assert(std::size(timer_setups) == std::size(timer_cost_rows));

// TimerBank has periodic firm timers and their hard timer, which is one of the kernel's.
//
// Threads: the working one and that of the hard timer, on one core.
class TimerBank {
 public:
  // Raises std::system_error if there is no descriptor left.
  TimerBank(const TimerCostSetup& setup, Duration length, Time begin)
      : hard_(os::made(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), "timerfd_create")),
        timers_(setup.timers, setup.overshoot) {
    late_.reserve(static_cast<std::size_t>(length / timer_period + 2) * setup.timers);
    const os::LockGuard lock(mutex_);
    for (std::size_t i = 0; i < setup.timers; ++i)  // spread over a period
      timers_.add(TimerId{i},
                  begin + timer_period * static_cast<std::int64_t>(i) / static_cast<std::int64_t>(setup.timers));
    arm();
  }

  void check_softly() noexcept {
    const os::LockGuard lock(mutex_);
    soft_ += fire();
  }
  // Waits until the hard timer expires, and fires what is due.
  void wait_and_check() noexcept {
    std::uint64_t expiries = 0;
    if (::read(hard_.get(), &expiries, sizeof expiries) < 0) return;
    const os::LockGuard lock(mutex_);
    ++interrupts_;
    fire();
  }
  // Ends a wait.
  void expire_at_once() noexcept {
    const os::LockGuard lock(mutex_);
    arm(Time{1ns});
  }

  std::uint64_t interrupts() const noexcept {
    const os::LockGuard lock(mutex_);
    return interrupts_;
  }
  std::uint64_t soft() const noexcept {
    const os::LockGuard lock(mutex_);
    return soft_;
  }
  std::vector<Duration> late() const {
    const os::LockGuard lock(mutex_);
    return late_;
  }

 private:
  // Fires what is due, and sets each fired timer again. Returns the number of fired timers. Bound: all timers.
  std::uint64_t fire() noexcept CORELANE_REQUIRES(mutex_) {
    const Time now = os::now();
    const std::span<const sched::FirmTimer> expired = timers_.soft_check(now);
    for (const sched::FirmTimer& timer : expired) {
      if (late_.size() < late_.capacity()) late_.push_back(now - timer.at);
      timers_.add(timer.id, timer.at + timer_period * ((now - timer.at) / timer_period + 1));
    }
    if (!expired.empty()) arm();
    return expired.size();
  }

  void arm() noexcept CORELANE_REQUIRES(mutex_) { arm(timers_.next_hard()); }
  void arm(Time at) noexcept CORELANE_REQUIRES(mutex_) {
    const itimerspec when{.it_interval = {}, .it_value = os::to_timespec(at)};
    ::timerfd_settime(hard_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  }

  const os::Fd hard_;
  mutable os::PiMutex mutex_;
  sched::FirmTimers timers_ CORELANE_GUARDED_BY(mutex_);
  std::vector<Duration> late_ CORELANE_GUARDED_BY(mutex_){};
  std::uint64_t interrupts_ CORELANE_GUARDED_BY(mutex_) = 0;
  std::uint64_t soft_ CORELANE_GUARDED_BY(mutex_) = 0;
};

void let_others_run() { os::sleep_until(os::now() + time_for_others); }

// Returns how many pieces a thread of the core works in `length`; none if there is no thread. `check` is called after
// each piece.
template <typename Check>
std::optional<std::uint64_t> pieces_in(const ExperimentRun& run, Check&& check) {
  std::uint64_t pieces = 0;
  auto worker = os::start_thread({.name = "work", .core = run.core, .fifo_priority = work_priority}, [&]() noexcept {
    for (const Time end = os::now() + run.length; os::now() < end; ++pieces) {
      work_a_piece();
      check();
    }
  });
  if (!worker) return std::nullopt;
  worker->join();
  return pieces;
}

// What the runs of one setup gave.
struct TimerCost {
  std::vector<double> overheads{};  // by round, in percent
  std::uint64_t interrupts = 0, soft = 0, pieces = 0;
  std::vector<Duration> late{};
};

// Returns false if there is no thread.
bool run_timers(const TimerCostSetup& setup, const ExperimentRun& run, std::uint64_t undisturbed, TimerCost& cost) {
  TimerBank bank(setup, run.length, os::now() + timer_period);
  std::atomic<bool> is_over{false};
  auto interrupts =
      os::start_thread({.name = "hard-timer", .core = run.core, .fifo_priority = interrupt_priority}, [&]() noexcept {
        while (!is_over.load(std::memory_order_relaxed)) bank.wait_and_check();  // relaxed: it only ends the thread
      });
  if (!interrupts) return false;
  const auto pieces = pieces_in(run, [&]() noexcept { bank.check_softly(); });
  cost.interrupts += bank.interrupts();
  is_over.store(true, std::memory_order_relaxed);  // relaxed: see above
  bank.expire_at_once();
  interrupts->join();
  if (!pieces) return false;
  cost.overheads.push_back(100 - 100 * static_cast<double>(*pieces) / static_cast<double>(undisturbed));
  cost.soft += bank.soft();
  cost.pieces += *pieces;
  const std::vector<Duration> late = bank.late();
  cost.late.insert(cost.late.end(), late.begin(), late.end());
  return true;
}

std::string microseconds_at(const std::vector<Duration>& sorted, std::size_t percent) {
  if (sorted.empty()) return "-";
  const Duration quantile = sorted[(sorted.size() - 1) * percent / 100];
  return eval::fixed(std::chrono::duration<double, std::micro>(quantile).count(), 1);
}

std::vector<std::string> row_of(TimerCost cost, Duration length) {
  std::ranges::sort(cost.overheads);
  std::ranges::sort(cost.late);
  const double seconds = std::chrono::duration<double>(length).count() * static_cast<double>(cost.overheads.size());
  const auto fired = static_cast<double>(std::max<std::size_t>(cost.late.size(), 1));
  return {eval::fixed(cost.overheads[cost.overheads.size() / 2], 2),
          eval::fixed(static_cast<double>(cost.interrupts) / seconds, 0),
          eval::fixed(100 * static_cast<double>(cost.soft) / fired, 1),
          microseconds_at(cost.late, 50),
          microseconds_at(cost.late, 99),
          eval::fixed(1e6 * seconds / static_cast<double>(std::max<std::uint64_t>(cost.pieces, 1)), 1)};
}

// The rounds are interleaved, so that a disturbance of the host does not hit one setup alone.
Expected<ExperimentValues, std::string> run_timer_costs(const ExperimentRun& run) {
  const std::string no_thread = no_thread_for(run.core);
  std::vector<TimerCost> costs(std::size(timer_setups));
  for (std::size_t round = 0; round < rounds; ++round) {
    let_others_run();
    const auto undisturbed = pieces_in(run, []() noexcept {});
    if (!undisturbed) return no_thread;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (stops(run)) return ExperimentValues{};
      let_others_run();
      if (!run_timers(timer_setups[i], run, std::max<std::uint64_t>(*undisturbed, 1), costs[i])) return no_thread;
    }
  }
  ExperimentValues values;
  for (TimerCost& cost : costs) values.push_back(row_of(std::move(cost), run.length));
  return values;
}

// The rows have three overshoots for each number of timers.
bool firm_timers_cost_less(const ExperimentValues& values) {
  for (std::size_t hard = 0; hard < values.size(); hard += 3)
    if (!(number_at(values, hard + 1, 0) < number_at(values, hard, 0))) return false;
  return true;
}

}  // namespace

constinit const Experiment timer_costs{.name = "timer-costs",
                                       .title = "Timers with a period of 1 ms beside a thread that computes",
                                       .time = ExperimentTime::really,
                                       .length = 200ms,
                                       .columns = timer_cost_columns,
                                       .rows = timer_cost_rows,
                                       .claim = "timers with an overshoot cost less than hard timers",
                                       .holds = firm_timers_cost_less,
                                       .run = run_timer_costs};

}  // namespace corelane::tool::reproductions
