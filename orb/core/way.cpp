#include "orb/core/way.h"

#include "orb/core/connection_cache.h"
#include "orb/core/orb_state.h"
#include "orb/core/settings.h"
#include "orb/os/clock.h"

namespace corelane::core {

std::string way_of(const Reference& reference) {
  const Address* const address = reference.address();
  if (address == nullptr) return "calls within this process";
  auto& state = reference.orb()->state();
  const auto connection = state.connect(*address, os::now());
  return connection ? way_text((*connection)->peer(), *address, state.settings.channels)
                    : "the connection is gone again";
}

}  // namespace corelane::core
