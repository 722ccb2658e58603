// The command line before it is parsed: expands response files and applies -W.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "idl/front/render.h"

namespace corelane::idl::tool {

// Says why the command line cannot be used.
struct ArgumentFault {
  std::string message;
};

// Returns the arguments, with each @FILE replaced by the words of that file. Blanks and line ends separate words.
// Quotes keep blanks, and a backslash keeps the character after it. Files may name further files; the depth is limited.
std::variant<std::vector<std::string>, ArgumentFault> expand_arguments(const std::vector<std::string>& arguments);

// Sets the policy of all kinds that are warnings now.
void turn_warnings(Policy policy, Diagnostics& diagnostics);

// Applies the values of -W in order: NAME, no-NAME, error, error=NAME, no-error=NAME. Returns a fault for the first
// invalid one.
std::optional<std::string> apply_warnings(const std::vector<std::string>& values, Diagnostics& diagnostics);

}  // namespace corelane::idl::tool
