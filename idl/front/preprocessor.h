// Preprocessor runs Boost.Wave on the main file and everything that it includes. The result is one text, with a map
// back to the sources. This header hides the library, which gets files only through the SourceLoader.
//
// Threads: one at a time (the library keeps global state).
// Invariants:
// - PreprocessorLimits bounds the work for any text.
// - Every fault of the library becomes a diagnostic.
// - #line and line markers are ignored, so places always refer to real files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/front/source_loader.h"

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

// Returns what is wrong with the macros of the command line; nothing if they are valid.
std::optional<std::string> fault_of(const PreprocessorOptions& options);

// The text after preprocessing. Tokens without a gap in the source have none here; others have one. A #pragma is a line
// of its own that starts with '#'.
struct Preprocessed {
  struct Segment {
    std::uint32_t offset;  // in `text`; until the next segment, columns advance as in the source
    SourceId source;
    std::uint32_t line;
    std::uint32_t column;
  };

  std::string text;
  std::vector<Segment> segments;  // ascending offsets

  // Returns the span of `length` bytes of the text at `offset`.
  Span span(const SourceMap& sources, std::size_t offset, std::size_t length) const;
};

// Reports faults to `diagnostics`. After an error the result must not be used. The main file becomes source 0.
Preprocessed preprocess(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                        const PreprocessorOptions& options, Diagnostics& diagnostics);

}  // namespace corelane::idl
