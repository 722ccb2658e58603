// await() waits for an event that nothing signals. CTest's limit bounds the wait. Before that, the test's output says
// which event has not come.
#pragma once

#include <iostream>
#include <string_view>
#include <thread>

#include "orb/os/clock.h"
#include "tests/support/long_enough.h"

namespace corelane::testing {

// Returns once `has_come()` returns true. `event`: describes the event to a reader of the output.
template <typename Condition>
void await(std::string_view event, const Condition& has_come) {
  for (Time next = os::now() + long_enough; !has_come(); std::this_thread::yield()) {
    if (os::now() < next) continue;
    next = never;
    std::cout << "waits for more than a minute until " << event << std::endl;
  }
}

}  // namespace corelane::testing
