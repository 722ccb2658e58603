// Measures what the kernel's load balancer costs while many threads are bound to one core, as the source did: Zhang,
// Gill, Lu, RTCSA 2009.
// Threads: starts its own, ordinary ones, and waits for them: the load balancer of Linux counts ordinary threads alone.
#pragma once

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/base/time.h"
#include "orb/eval/host_card/host_card.h"
#include "services/corelane/host_card/together.h"

namespace corelane::tool {

struct BalancerRequest {
  CoreId core;
  int tasks = 1;
  int percent = 0;  // of the core, for all tasks together
  Duration watched{};
};

Expected<eval::BalancerCost, NotMeasured> measure_balancer(const BalancerRequest& request);

}  // namespace corelane::tool
