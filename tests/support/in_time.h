// Calls whose own time-out a busy machine may let pass.
#pragma once

#include "orb/corba/orb.h"

namespace corelane::testing {

// What `call` returns, which is made again when it came too late. Bound: a machine that is in time once.
template <typename Call>
auto in_time(const Call& call) {
  for (;;) try {
      return call();
    } catch (const CORBA::TIMEOUT&) {
    }
}

}  // namespace corelane::testing
