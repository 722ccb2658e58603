// Calls whose own time-out a busy machine may let pass.
#pragma once

#include "orb/corba/orb.h"

namespace corelane::testing {

// What `call` returns, which is made again when it came too late, so it must be idempotent: the server may have run it
// all the same. Bound: 500 attempts, then the exception is the caller's.
template <typename Call>
auto in_time(const Call& call) {
  for (int left = 499;; --left) try {
      return call();
    } catch (const CORBA::TIMEOUT&) {
      if (left == 0) throw;
    }
}

}  // namespace corelane::testing
