// Lists of cores as the kernel writes them: "0-3,6".
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orb/base/ids.h"

namespace corelane::reserved {

// Ascending input; "" for none.
std::string list_text(const std::vector<CoreId>& cores);
// Ascending, each once; a newline at the end is passed over. Nothing where it is no such list, or names core 8192 or
// above.
std::optional<std::vector<CoreId>> parse_list(std::string_view text);

// Sets as ascending vectors.
std::vector<CoreId> without(const std::vector<CoreId>& from, const std::vector<CoreId>& these);
std::vector<CoreId> common_to(const std::vector<CoreId>& a, const std::vector<CoreId>& b);
std::vector<CoreId> joined(const std::vector<CoreId>& a, const std::vector<CoreId>& b);
bool holds(const std::vector<CoreId>& set, CoreId core);

}  // namespace corelane::reserved
