// parse: tokens to the syntax tree. Recursive descent with recovery at the end of each declaration, so that one run
// finds several errors. Section: OMG IDL 4.2, clause 7.4.
#pragma once

#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/front/token.h"

namespace corelane::idl {

struct Parsed {
  ast::Specification specification;
  bool complete = true;  // false after a syntax error: declarations are missing, so checking names makes no sense
};

// `tokens` ends with one of kind `end`. What is IDL but not supported yet is an error that leaves the result complete.
Parsed parse(const std::vector<Token>& tokens, Diagnostics& diagnostics);

}  // namespace corelane::idl
