// DefinitionParser parses definitions of any kind. Rules use it for definitions inside their own, such as the contents
// of a module.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <memory>

#include "idl/ast/ast.h"
#include "idl/front/token.h"

namespace corelane::idl {

using DefinitionPtr = std::unique_ptr<ast::Definition>;

// The bodies that a definition can be in, as bits.
enum BodyKind : std::uint8_t { in_module = 1, in_interface = 2, in_value = 4, in_annotation = 8 };

class DefinitionParser {
 public:
  virtual ~DefinitionParser() = default;

  // Parses definitions up to the '}' of the body or the end of the file.
  virtual void definitions(ast::Definitions& into, BodyKind kind) = 0;

  // Parses a struct, union or enum after its keyword, without the ';'.
  virtual DefinitionPtr construct(const Token& keyword) = 0;
};

}  // namespace corelane::idl
