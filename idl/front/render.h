// render() writes diagnostics as text for people, and for tools that read "file:line:column: error: message".
#pragma once

#include <string>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"

namespace corelane::idl {

struct RenderOptions {
  bool colour = false;  // terminal escape sequences
};

// Renders all diagnostics in the order of the text. Each has the message and the line, with a caret under its column
// and tildes under the other bytes of the span. The notes follow. A fault without a place starts with "corelane-idl:".
std::string render(const Diagnostics& diagnostics, const SourceMap& sources, const RenderOptions& options = {});

}  // namespace corelane::idl
