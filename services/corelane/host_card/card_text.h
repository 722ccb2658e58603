// Shows a host card to people, beside the published figures.
// Threads: pure. Allocates.
#pragma once

#include <string>

#include "orb/eval/host_card/host_card.h"

namespace corelane::tool {

std::string text_of(const eval::HostCard& card);

}  // namespace corelane::tool
