// Makes the requests to the generators that a scenario contains.
// Threads: pure functions. Allocates.
#pragma once

#include "orb/eval/generate/periods.h"
#include "orb/eval/generate/utilizations.h"
#include "orb/eval/scenario.h"

namespace corelane::eval {

UtilizationRequest utilization_request_of(const Generator& generator);
PeriodRequest period_request_of(const Generator& generator);

}  // namespace corelane::eval
