// Converts lists of cores in the kernel's format: "0-3,6".
// Threads: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/ids.h"

namespace corelane::os {

// Takes ascending cores; returns "" for none.
std::string core_list_text(const std::vector<CoreId>& cores);
// Returns the cores in ascending order, without duplicates. Ignores spaces and newlines at the end. Returns nothing if
// the text is no such list or names core 8192 or above.
std::optional<std::vector<CoreId>> parse_core_list(std::string_view text);

}  // namespace corelane::os
