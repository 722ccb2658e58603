// in_time() repeats calls that may time out on a busy machine.
#pragma once

#include "orb/corba/orb.h"

namespace corelane::testing {

// Returns what `call` returns. Repeats the call if it came too late. So it must be idempotent: the server may have run
// it nevertheless. Bound: 500 attempts, then the caller gets the exception.
template <typename Call>
auto in_time(const Call& call) {
  for (int left = 499;; --left) try {
      return call();
    } catch (const CORBA::TIMEOUT&) {
      if (left == 0) throw;
    }
}

}  // namespace corelane::testing
