// Finds the known name that a user probably meant, for messages about unknown names.
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::core {

// Returns the Levenshtein distance. Cost: the product of the two lengths, so both texts must be short.
std::size_t distance(std::string_view a, std::string_view b);

// Returns the nearest of `known`, which must not be empty.
const std::string& nearest(std::string_view name, const std::vector<std::string>& known);

// Returns "; <before> <the nearest of known>" if that name was probably meant: at most one wrong letter in three, but
// one is always allowed. Otherwise returns "".
std::string meant(std::string_view name, const std::vector<std::string>& known, std::string_view before);

// Returns "a, b and c".
std::string listed(const std::vector<std::string>& names);

}  // namespace corelane::core
