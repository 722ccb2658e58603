// Lexer: converts the preprocessed text to tokens. It uses the text only, not the preprocessor's own tokens.
//
// The folder idl/front/lexer makes tokens of the text, and gives the parser its position in them.
#pragma once

#include <vector>

#include "idl/ast/diagnostics.h"
#include "idl/front/preprocessed.h"
#include "idl/front/token.h"

namespace corelane::idl {

// Returns all tokens; the last has kind `end`. They refer to `preprocessed.text`. Characters and literals that are not
// IDL are reported and left out.
std::vector<Token> tokenize(const Preprocessed& preprocessed, const SourceMap& sources, Diagnostics& diagnostics);

}  // namespace corelane::idl
