// Preprocessor: runs Boost.Wave over the main file and all that it includes, and hands on one text with a map back to
// the sources. The library stays behind this header; it reads files through the SourceLoader only.
//
// Threads: one at a time (the library keeps global state).
// Invariants: work is bounded by PreprocessorLimits, whatever the text says; every fault of the library becomes a
// diagnostic; #line and line markers are ignored, so that places are always those of
// real files.
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
  std::size_t inclusions = 4096;            // files opened in all, repeated ones counted each time
  std::size_t bytes = 64u << 20;            // of all inclusions together
  std::size_t expansions = 100'000;         // macros expanded
  std::size_t expanded_tokens = 1'000'000;  // tokens that expansions made
  std::size_t expansion_depth = 200;
};

struct PreprocessorOptions {
  std::vector<std::string> defines;    // "NAME" or "NAME=text"
  std::vector<std::string> undefines;  // applied after the defines
  PreprocessorLimits limits;
};

// What is wrong with the macros of the command line; nothing when they can be used.
std::optional<std::string> fault_of(const PreprocessorOptions& options);

// The text after preprocessing. Tokens that touch in their source touch in it; others are apart. A #pragma is a line of
// its own that starts with '#'.
struct Preprocessed {
  struct Segment {
    std::uint32_t offset;  // in text; up to the next segment the columns of the source run along
    SourceId source;
    std::uint32_t line;
    std::uint32_t column;
  };

  std::string text;
  std::vector<Segment> segments;  // ascending offsets

  // The span of `length` bytes of the text at `offset`.
  Span span(const SourceMap& sources, std::size_t offset, std::size_t length) const;
};

// Faults go to `diagnostics`; after an error the result is not to be used. The main file becomes source 0.
Preprocessed preprocess(SourceMap& sources, SourceLoader& loader, const std::string& main_path,
                        const PreprocessorOptions& options, Diagnostics& diagnostics);

}  // namespace corelane::idl
