// Preprocessed is the text that the preprocessor makes of a file and all that it includes, with a map to the sources.
// Threads: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "idl/ast/source.h"

namespace corelane::idl {

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

}  // namespace corelane::idl
