// PlannedJob is a job that a client of a real run is to send.
// Threads: values.
#pragma once

#include "orb/base/time.h"

namespace corelane::tool {

struct PlannedJob {
  Duration release{};  // from the start of the run
  Duration demand{};   // for how long its servant computes, as it would take undisturbed

  friend bool operator==(const PlannedJob&, const PlannedJob&) = default;
};

}  // namespace corelane::tool
