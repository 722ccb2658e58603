// DefinitionReader reads definitions of any kind. Readers of one kind use it for definitions inside their own, such as
// the contents of a module.
//
// Threads: none.
#pragma once

#include "idl/ast/ast.h"

namespace corelane::idl {

class DefinitionReader {
 public:
  virtual ~DefinitionReader() = default;

  // Reads a definition in the current scope, and adds it to the model.
  virtual void read(const ast::Definition& definition) = 0;

  void read_all(const ast::Definitions& definitions) {
    for (const auto& definition : definitions) read(*definition);
  }
};

}  // namespace corelane::idl
