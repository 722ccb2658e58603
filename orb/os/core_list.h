// Lists of cores as the kernel writes them, and reads them: "0-3,6".
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/ids.h"

namespace corelane::os {

// Ascending input; "" for none.
std::string core_list_text(const std::vector<CoreId>& cores);
// Ascending, each once; a newline at the end is passed over. Nothing where it is no such list, or names core 8192 or
// above.
std::optional<std::vector<CoreId>> parse_core_list(std::string_view text);

}  // namespace corelane::os
