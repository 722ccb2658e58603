// Constructs of IDL that this compiler does not support: components, ports and template modules.
//
// Threads: none.
#pragma once

#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

bool at_unsupported_definition(const TokenCursor& cursor);

// Reports the definition, and skips it and its ';'.
void skip_unsupported_definition(ParserState& state);

// Skips the tokens up to the ';' that ends the construct, over any braces in it.
void skip_construct(ParserState& state);

}  // namespace corelane::idl
