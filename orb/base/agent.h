// Agent: one owner of state with one bounded duty cycle. A test steps it by hand; a thread steps it in a loop.
#pragma once

#include "orb/base/time.h"

namespace corelane {

class Agent {
 public:
  virtual ~Agent() = default;

  // Does what is due at `now`, boundedly. False: there is nothing left to do before a wake-up, or before the time that
  // the agent tells. Owning thread only.
  virtual bool step(Time now) noexcept = 0;
};

}  // namespace corelane
