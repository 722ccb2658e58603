// PreprocessorOptions has the macros of the command line, and the limits of the preprocessor.
// Threads: a value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace corelane::idl {

struct PreprocessorLimits {
  std::size_t include_depth = 64;
  std::size_t inclusions = 4096;            // files opened in all; repeated ones count each time
  std::size_t bytes = 64u << 20;            // of all inclusions together
  std::size_t expansions = 100'000;         // macros expanded
  std::size_t expanded_tokens = 1'000'000;  // tokens that come from expansions
  std::size_t expansion_depth = 200;
};

struct PreprocessorOptions {
  std::vector<std::string> defines;    // "NAME" or "NAME=text"
  std::vector<std::string> undefines;  // applied after the defines
  PreprocessorLimits limits;
};

}  // namespace corelane::idl
