// ParserState is what all rules of the grammar share: the position in the tokens, and how deep the rules are nested.
//
// Threads: one owner, used once.
#pragma once

#include <cstddef>
#include <vector>

#include "idl/ast/diagnostics.h"
#include "idl/front/lexer/token_cursor.h"
#include "idl/front/token.h"

namespace corelane::idl {

struct ParserState {
  ParserState(const std::vector<Token>& tokens, Diagnostics& faults) : cursor(tokens, faults), diagnostics(faults) {}

  // Reads one item of a list. A syntax error in it is caught, and parsing continues after the item.
  template <typename Item>
  void recovering(const Item& item);

  TokenCursor cursor;
  Diagnostics& diagnostics;
  bool complete = true;    // false after a syntax error
  bool in_angles = false;  // ">>" closes two brackets and is no shift
  std::size_t module_depth = 0;
  std::size_t type_depth = 0;
  std::size_t expression_depth = 0;
};

template <typename Item>
void ParserState::recovering(const Item& item) {
  const std::size_t depth = cursor.depth();
  const std::size_t modules = module_depth;
  const std::size_t types = type_depth;
  try {
    item();
  } catch (const SyntaxError&) {
    complete = false;
    module_depth = modules;
    type_depth = types;
    expression_depth = 0;
    in_angles = false;
    cursor.recover(depth);
  }
}

}  // namespace corelane::idl
