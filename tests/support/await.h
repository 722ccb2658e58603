// await(): waits for an event that nothing signals. The limit of CTest bounds the wait; the test's output says by then
// what did not come.
#pragma once

#include <iostream>
#include <string_view>
#include <thread>

#include "orb/os/clock.h"
#include "tests/support/long_enough.h"

namespace corelane::testing {

// Returns once `has_come()`. `event`: what a reader of the output is to look for.
template <typename Condition>
void await(std::string_view event, const Condition& has_come) {
  for (Time next = os::now() + long_enough; !has_come(); std::this_thread::yield()) {
    if (os::now() < next) continue;
    next = never;
    std::cout << "waits for more than a minute until " << event << std::endl;
  }
}

}  // namespace corelane::testing
