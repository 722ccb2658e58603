#include "orb/eval/generate/periods.h"

#include <algorithm>
#include <chrono>

#include "orb/base/contract.h"
#include "orb/base/registry.h"
#include "orb/eval/generate/fixed_log.h"

namespace corelane::eval {
namespace {

using std::chrono::milliseconds;

constexpr PeriodShare automotive_table[] = {
    {milliseconds{1}, 3},    {milliseconds{2}, 2},   {milliseconds{5}, 2},
    {milliseconds{10}, 25},  {milliseconds{20}, 25}, {milliseconds{50}, 3},
    {milliseconds{100}, 20}, {milliseconds{200}, 1}, {milliseconds{1000}, 4},
};

constexpr std::uint64_t automotive_total = [] {
  std::uint64_t sum = 0;
  for (const PeriodShare& share : automotive_table) sum += share.percent;
  return sum;
}();

// The multiples of the step that are within the limits: from first * step to last * step.
struct Multiples {
  std::int64_t first, last;
};

Multiples multiples_of(const PeriodRequest& request) {
  const std::int64_t step = request.step.count();
  return {(request.least.count() + step - 1) / step, request.most.count() / step};
}

std::string fault_of_limits(const PeriodRequest& request) {
  const auto [first, last] = multiples_of(request);
  if (first <= last) return {};
  return "no multiple of period_step = " + to_string(request.step) +
         " is within period_min = " + to_string(request.least) + " and period_max = " + to_string(request.most) +
         "; lower period_step";
}

std::string fault_of_list(const PeriodRequest& request) {
  return request.list.empty() ? "it needs the periods; add period_list, such as [\"1ms\", \"5ms\"]" : "";
}

std::string no_fault(const PeriodRequest&) { return {}; }

Duration uniform_period(Random& random, const PeriodRequest& request) {
  const auto [first, last] = multiples_of(request);
  const auto count = static_cast<std::uint64_t>(last - first) + 1;
  return request.step * (first + static_cast<std::int64_t>(below(random, count)));
}

Duration log_uniform_period(Random& random, const PeriodRequest& request) {
  const auto least = static_cast<std::uint64_t>(request.least.count());
  const auto most = static_cast<std::uint64_t>(request.most.count());
  const FixedLog span = log2_of(most) - log2_of(least);
  const auto below_most = static_cast<FixedLog>(UnsignedWide{span} * fraction(random) >> 64);
  const auto period = static_cast<std::int64_t>(UnsignedWide{most} * two_to_minus(below_most) >> 64);
  const auto [first, last] = multiples_of(request);
  return request.step * std::clamp(period / request.step.count(), first, last);
}

Duration listed_period(Random& random, const PeriodRequest& request) {
  return request.list[below(random, request.list.size())];
}

Duration automotive_period(Random& random, const PeriodRequest&) {
  std::uint64_t left = below(random, automotive_total);
  for (const PeriodShare& share : automotive_table) {
    if (left < share.percent) return share.period;
    left -= share.percent;
  }
  return {};  // not reached: `left` is below the sum of the shares
}

constexpr PeriodDistribution distributions[] = {
    {.name = "log-uniform",
     .help = "the logarithm is uniform from period_min to period_max, so that each order of magnitude is as frequent",
     .fault_of = fault_of_limits,
     .draw = log_uniform_period},
    {.name = "uniform",
     .help = "uniform from period_min to period_max",
     .fault_of = fault_of_limits,
     .draw = uniform_period},
    {.name = "list",
     .help = "each period of period_list is as frequent",
     .fault_of = fault_of_list,
     .draw = listed_period},
    {.name = "automotive",
     .help = "1 ms to 1 s, as frequent as in engine control software (Kramer, Ziegenbein & Hamann 2015)",
     .fault_of = no_fault,
     .draw = automotive_period},
};

}  // namespace

std::span<const PeriodDistribution> period_distributions() noexcept { return distributions; }

const PeriodDistribution* period_distribution(std::string_view name) noexcept {
  return find_named(period_distributions(), name);
}

std::span<const PeriodShare> automotive_periods() noexcept { return automotive_table; }

}  // namespace corelane::eval
