// render: diagnostics as text for people and for tools that read "file:line:column: error: message".
#pragma once

#include <string>

#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"

namespace corelane::idl {

struct RenderOptions {
  bool colour = false;  // escape sequences of terminals
};

// All diagnostics in the order of the text: the message, the line, a caret under its column and a tilde under each
// further byte of the span; then the notes. A fault without a place starts with "corelane-idl:".
std::string render(const Diagnostics& diagnostics, const SourceMap& sources, const RenderOptions& options = {});

}  // namespace corelane::idl
