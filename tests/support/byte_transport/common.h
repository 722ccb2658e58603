// Helpers for the parts of the suite of tests/support/byte_transport_suite.h.
#pragma once

#include <iostream>
#include <optional>
#include <string>

#include "orb/base/minor.h"
#include "tests/support/stream_harness.h"

namespace corelane::testing {

template <typename Kind>
bool can_run() {
  const std::optional<std::string> missing = Kind::missing();
  if (missing) std::cout << "SKIPPED: " << *missing << "\n";
  return !missing;
}

// Returns each way to wait.
inline os::WaitStrategy any_strategy() {
  using namespace std::chrono_literals;
  return GENERATE(os::WaitStrategy{os::WaitMode::park}, os::WaitStrategy{os::WaitMode::spin},
                  os::WaitStrategy{os::WaitMode::spin_then_park, 50us}, os::WaitStrategy{os::WaitMode::adaptive, 50us});
}

inline constexpr std::size_t beyond_any_socket_buffer = 12 * 1024 * 1024;

}  // namespace corelane::testing
