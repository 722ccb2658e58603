#include "orb/eval/generate/requests.h"

#include <cstddef>

namespace corelane::eval {
namespace {

sched::Share share_of(Fraction fraction) { return fraction.millionths * (sched::whole_share / unity.millionths); }

}  // namespace

UtilizationRequest utilization_request_of(const Generator& generator) {
  return {.tasks = static_cast<std::size_t>(generator.tasks),
          .total = share_of(generator.utilization),
          .least = share_of(generator.utilization_min),
          .most = share_of(generator.utilization_max)};
}

PeriodRequest period_request_of(const Generator& generator) {
  return {.least = generator.period_min,
          .most = generator.period_max,
          .step = generator.period_step,
          .list = generator.period_list};
}

}  // namespace corelane::eval
