// The command line before it is parsed: response files, and what -W says.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "idl/front/render.h"

namespace corelane::idl::tool {

// Why the command line cannot be used.
struct ArgumentFault {
  std::string message;
};

// The arguments with each @FILE replaced by the words of that file: apart by blanks or line ends; quotes keep blanks, a
// backslash the character after it. Files may name further ones, up to a depth.
std::variant<std::vector<std::string>, ArgumentFault> expand_arguments(const std::vector<std::string>& arguments);

// Makes something else of all that is a warning now.
void turn_warnings(Policy policy, Diagnostics& diagnostics);

// Applies the values of -W in order: NAME, no-NAME, error, error=NAME, no-error=NAME. The fault of the first that is
// none.
std::optional<std::string> apply_warnings(const std::vector<std::string>& values, Diagnostics& diagnostics);

}  // namespace corelane::idl::tool
