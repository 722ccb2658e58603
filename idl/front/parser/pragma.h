// Parses the pragmas that IDL has: #pragma prefix "text", #pragma ID name "text", #pragma version name major.minor.
//
// Threads: none.
#pragma once

#include <optional>

#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

// Returns the directive in a token of kind `pragma`. Returns nothing for a wrong one (reported), and for pragmas of
// other compilers.
std::optional<DefinitionPtr> parse_pragma(const Token& token, ParserState& state);

}  // namespace corelane::idl
