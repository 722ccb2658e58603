// Lexer: the preprocessed text to tokens. It goes by the text alone, whatever the preprocessor took the pieces for.
#pragma once

#include <vector>

#include "idl/ast/diagnostics.h"
#include "idl/front/preprocessor.h"
#include "idl/front/token.h"

namespace corelane::idl {

// All tokens, the last of kind `end`; views into `preprocessed.text`. Characters and literals that are no IDL are
// reported and left out.
std::vector<Token> tokenize(const Preprocessed& preprocessed, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace corelane::idl
