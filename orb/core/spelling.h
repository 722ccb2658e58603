// For messages about names that do not exist: the known one that was probably meant.
// Threads: pure. Allocates.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace corelane::core {

// Levenshtein's distance. Both texts are short.
std::size_t distance(std::string_view a, std::string_view b);

// The nearest of `known`, which is not empty.
const std::string& nearest(std::string_view name, const std::vector<std::string>& known);

// "; <before> <the nearest of known>" where it is so near that it was probably meant, a slip in three letters; else "".
std::string meant(std::string_view name, const std::vector<std::string>& known, std::string_view before);

// "a, b and c".
std::string listed(const std::vector<std::string>& names);

}  // namespace corelane::core
