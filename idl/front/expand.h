// expand() writes the preprocessed tokens as IDL text again, for people (-E) and for other compilers
// (--strip-annotations).
#pragma once

#include <string>
#include <vector>

#include "idl/ast/source.h"
#include "idl/front/token.h"

namespace corelane::idl {

struct ExpandOptions {
  bool strip_annotations = false;  // also leaves out annotation declarations and files of the compiler
};

// Tokens keep their lines and columns. Markers `# line "file" flag` say where each file begins and continues. So a
// reader can distinguish included definitions from those of the main file.
std::string expand(const std::vector<Token>& tokens, const SourceMap& sources, const ExpandOptions& options);

}  // namespace corelane::idl
