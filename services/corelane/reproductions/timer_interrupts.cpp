#include "services/corelane/reproductions/timer_interrupts.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "orb/eval/report/table.h"
#include "orb/sched/schedulers/firm_timers.h"

namespace corelane::tool::reproductions {
namespace {

using namespace std::chrono_literals;

constexpr Duration published_length = 35ms;
constexpr Duration check_interval = 64us;  // no expiry of the published periods coincides with a check

constexpr std::string_view interrupt_columns[] = {"fired", "interrupts", "soft", "latest us"};
constexpr std::string_view interrupt_rows[] = {"a tick of 1 ms", "one-shot timers", "firm, overshoot 20 us",
                                               "firm, overshoot 50 us", "firm, overshoot 100 us"};

std::vector<std::string> values_of(const TimerCounts& counts) {
  return {std::to_string(counts.fired), std::to_string(counts.interrupts), std::to_string(counts.hits),
          eval::fixed(std::chrono::duration<double, std::micro>(counts.latest).count(), 0)};
}

Expected<ExperimentValues, std::string> run_timer_interrupts(const ExperimentRun&) {
  const TimerSetup one_shot{.periods = {5ms, 7ms}, .length = published_length};
  ExperimentValues values{values_of(count_interrupts({.periods = {1ms}, .length = published_length})),
                          values_of(count_interrupts(one_shot))};
  for (const Duration overshoot : {20us, 50us, 100us}) {
    TimerSetup firm = one_shot;
    firm.overshoot = overshoot;
    firm.between_checks = check_interval;
    values.push_back(values_of(count_interrupts(firm)));
  }
  return values;
}

bool interrupts_as_published(const ExperimentValues& values) {
  return number_at(values, 0, 1) == 35 && number_at(values, 1, 1) == 11;
}

}  // namespace

TimerCounts count_interrupts(const TimerSetup& setup) {
  sched::FirmTimers timers(setup.periods.size(), setup.overshoot);
  const auto set = [&](TimerId id, Time at) {
    if (at <= Time{setup.length}) timers.add(id, at);
  };
  for (std::size_t i = 0; i < setup.periods.size(); ++i) set(TimerId{i}, Time{setup.periods[i]});
  TimerCounts counts;
  Time check = setup.between_checks > Duration::zero() ? Time{setup.between_checks} : never;
  while (timers.size() > 0) {  // bound: the checks and expiries until the end of the run
    const bool is_soft = check <= timers.next_hard();
    const Time now = is_soft ? check : timers.next_hard();
    if (is_soft) check += setup.between_checks;
    const std::span<const sched::FirmTimer> expired = timers.soft_check(now);
    if (is_soft)
      counts.hits += expired.empty() ? 0 : 1;
    else
      ++counts.interrupts;
    for (const sched::FirmTimer& timer : expired) {
      ++counts.fired;
      counts.latest = std::max(counts.latest, now - timer.at);
      set(timer.id, timer.at + setup.periods[timer.id.value]);
    }
  }
  return counts;
}

constinit const Experiment timer_interrupts{.name = "timer-interrupts",
                                            .title = "Interrupts of timers with periods of 5 and 7 ms, in 35 ms",
                                            .time = ExperimentTime::virtually,
                                            .length = {},
                                            .columns = interrupt_columns,
                                            .rows = interrupt_rows,
                                            .claim = "a tick interrupts 35 times, and one-shot timers 11 times",
                                            .holds = interrupts_as_published,
                                            .run = run_timer_interrupts};

}  // namespace corelane::tool::reproductions
