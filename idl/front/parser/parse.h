// parse() converts tokens to the syntax tree. It is a recursive-descent parser. After an error it continues at the end
// of the declaration, so that one run finds several errors. Section: OMG IDL 4.2, clause 7.4.
//
// The folder idl/front/parser makes the syntax tree of the tokens.
#pragma once

#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/front/token.h"

namespace corelane::idl {

struct Parsed {
  ast::Specification specification;
  bool complete = true;  // false after a syntax error: declarations are missing, so names cannot be checked
};

// `tokens` must end with one of kind `end`. A construct of IDL that is not supported is an error, but the result is
// still complete.
Parsed parse(const std::vector<Token>& tokens, Diagnostics& diagnostics);

}  // namespace corelane::idl
