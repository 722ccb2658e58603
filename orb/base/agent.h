// Agent is an object that owns state and does its work in steps of bounded length. A test calls step() by hand; a
// thread calls it in a loop.
#pragma once

#include "orb/base/time.h"

namespace corelane {

class Agent {
 public:
  virtual ~Agent() = default;

  // Does what is due at `now`, in bounded time. Returns false if nothing is left to do before a wake-up or before the
  // time that the agent reports. Owning thread only.
  virtual bool step(Time now) noexcept = 0;
};

}  // namespace corelane
