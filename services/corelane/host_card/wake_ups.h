// Measures how late a thread runs after a timer, and why.
// Threads: each function starts its own and waits for them.
#pragma once

#include "orb/base/expected.h"
#include "orb/base/ids.h"
#include "orb/eval/host_card/host_card.h"
#include "services/corelane/host_card/together.h"

namespace corelane::tool {

struct WakeRequest {
  CoreId core;
  eval::WakeLoad load = eval::WakeLoad::idle;
  bool real_time = true;  // under SCHED_FIFO; otherwise an ordinary thread with the least timer slack
  int wake_ups = 0;       // about one in a millisecond
};

Expected<eval::WakeLatency, NotMeasured> measure_wake_ups(const WakeRequest& request);

}  // namespace corelane::tool
