#include "idl/front/preprocessed.h"

#include <algorithm>

namespace corelane::idl {

Span Preprocessed::span(const SourceMap& sources, std::size_t offset, std::size_t length) const {
  const auto after = std::upper_bound(segments.begin(), segments.end(), offset,
                                      [](std::size_t at, const Segment& segment) { return at < segment.offset; });
  if (after == segments.begin()) return {};
  const Segment& segment = *(after - 1);
  if (segment.source == SourceId::none) return {};
  const auto column = segment.column + static_cast<std::uint32_t>(offset - segment.offset);
  return sources.span(segment.source, segment.line, column, length);
}

}  // namespace corelane::idl
