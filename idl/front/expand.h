// expand: the preprocessed tokens as IDL text again, for people (-E) and for other compilers (--strip-annotations).
#pragma once

#include <string>
#include <vector>

#include "idl/ast/source.h"
#include "idl/front/token.h"

namespace corelane::idl {

struct ExpandOptions {
  bool strip_annotations = false;  // also leaves out annotation declarations and files that are part of the compiler
};

// Tokens keep their lines and columns; `# line "file" flag` marks say where each file begins and goes on, so that the
// reader can tell included definitions from those of the main file.
std::string expand(const std::vector<Token>& tokens, const SourceMap& sources, const ExpandOptions& options);

}  // namespace corelane::idl
