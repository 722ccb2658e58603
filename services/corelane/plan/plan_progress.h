// PlanProgressLine says on a stream how far a plan is, if it takes longer than two seconds.
// Threads: one.
#pragma once

#include <cstddef>
#include <iosfwd>

#include "orb/base/time.h"
#include "orb/eval/plan.h"

namespace corelane::tool {

class PlanProgressLine {
 public:
  PlanProgressLine(std::ostream& out, std::size_t sets, Time start) : out_(out), sets_(sets), said_at_(start) {}

  void begin_set() { ++set_; }
  // Writes a line if the last one, or the start, was two seconds ago.
  void say(const eval::PlanProgress& progress, Time now);

 private:
  std::ostream& out_;
  const std::size_t sets_;
  std::size_t set_ = 0;  // from 1
  Time said_at_;
};

}  // namespace corelane::tool
