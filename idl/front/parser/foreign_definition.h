// Definitions of other languages that people write in IDL by habit: class, namespace, service, message and others.
//
// Threads: none.
#pragma once

#include <string>

#include "idl/front/parser/definition_parser.h"
#include "idl/front/parser/parser_state.h"

namespace corelane::idl {

// Returns what to write in place of the definition that begins here, as a message; "" if none of another language
// begins here. In the body of an interface, such a word may also be a type of the user's.
std::string foreign_definition_at(const TokenCursor& cursor, BodyKind kind);

}  // namespace corelane::idl
