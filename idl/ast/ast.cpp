#include "idl/ast/ast.h"

namespace corelane::idl::ast {

std::string to_string(const ScopedName& name) {
  std::string text;
  for (const Identifier& part : name.parts) {
    if (name.absolute || !text.empty()) text += "::";
    text += part.text;
  }
  return text;
}

}  // namespace corelane::idl::ast
