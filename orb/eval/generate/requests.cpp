#include "orb/eval/generate/requests.h"

#include <cstddef>
#include <vector>

namespace corelane::eval {
namespace {

sched::Share share_of(Fraction fraction) { return fraction.millionths * (sched::whole_share / unity.millionths); }

std::vector<sched::Share> shares_of(const std::vector<Fraction>& fractions) {
  std::vector<sched::Share> shares;
  for (const Fraction fraction : fractions) shares.push_back(share_of(fraction));
  return shares;
}

}  // namespace

UtilizationRequest utilization_request_of(const Generator& generator) {
  return {.tasks = static_cast<std::size_t>(generator.tasks),
          .total = share_of(generator.utilization),
          .least = share_of(generator.utilization_min),
          .most = share_of(generator.utilization_max),
          .least_each = shares_of(generator.utilization_min_each),
          .most_each = shares_of(generator.utilization_max_each),
          .balance = share_of(generator.balance)};
}

PeriodRequest period_request_of(const Generator& generator) {
  return {.least = generator.period_min,
          .most = generator.period_max,
          .step = generator.period_step,
          .list = generator.period_list};
}

}  // namespace corelane::eval
