#include <algorithm>

#include "orb/sched/task_order.h"
#include "orb/sched/ticks.h"

namespace corelane::sched {
namespace {

// Returns whether a / b > c / d, for positive values.
bool is_greater(Duration a, Duration b, Duration c, Duration d) noexcept {
  return Wide{a.count()} * d.count() > Wide{c.count()} * b.count();
}

Duration density_period(const Contract& contract) noexcept { return std::min(contract.deadline, contract.period); }

constexpr TaskOrder arrival{
    .name = "arrival",
    .help = "as the tasks come",
    .before = [](const Contract&, const Contract&) noexcept { return false; },
};

constexpr TaskOrder decreasing_utilization{
    .name = "decreasing-utilization",
    .help = "the greatest budget divided by the period first",
    .usable_in = outside_servers,
    .before = [](const Contract& a,
                 const Contract& b) noexcept { return is_greater(a.budget, a.period, b.budget, b.period); },
};

constexpr TaskOrder decreasing_density{
    .name = "decreasing-density",
    .help = "the greatest budget divided by the smaller of deadline and period first",
    .usable_in = outside_servers,
    .before =
        [](const Contract& a, const Contract& b) noexcept {
          return is_greater(a.budget, density_period(a), b.budget, density_period(b));
        },
};

constexpr TaskOrder increasing_period{
    .name = "increasing-period",
    .help = "the shortest period first",
    .usable_in = outside_servers,
    .before = [](const Contract& a, const Contract& b) noexcept { return a.period < b.period; },
};

}  // namespace

Registry<TaskOrder> task_orders() noexcept {
  static constexpr const TaskOrder* all[] = {&arrival, &decreasing_utilization, &decreasing_density,
                                             &increasing_period};
  return all;
}

}  // namespace corelane::sched
