// Two cores of this host for tests of measurements between cores.
#pragma once

#include <cstdio>
#include <optional>
#include <utility>

#include "orb/base/ids.h"
#include "orb/os/machine/topology.h"

namespace corelane::testing {

// Returns the first two cores that this process may use. Prints why the test is skipped if there is only one.
inline std::optional<std::pair<CoreId, CoreId>> two_cores() {
  const auto topology = os::Topology::detect();
  if (topology && topology->cores().size() > 1) return std::pair(topology->cores()[0].core, topology->cores()[1].core);
  std::puts("SKIPPED: this process may use one core only");
  return std::nullopt;
}

}  // namespace corelane::testing
