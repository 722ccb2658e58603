// Constants: evaluates constant expressions. Section: OMG IDL 4.2, 7.4.1.4.3.
//
// Integers are computed exactly, but each step must fit in 64 bits, signed or unsigned. Both operands of an operator
// must have the same type: an integer is neither a floating-point number nor a character.
//
// The folder idl/sema/constants evaluates constant expressions.
#pragma once

#include <optional>
#include <string>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/model/model.h"
#include "idl/sema/names/names.h"
#include "idl/sema/types/types.h"

namespace corelane::idl {

class Constants {
 public:
  Constants(const Model& model, const TypeTable& types, Names& names, Diagnostics& diagnostics)
      : model_(model), types_(types), names_(names), diagnostics_(diagnostics) {}

  // Returns the value as one of `type`; nothing (reported) if it cannot be one.
  std::optional<Value> evaluate(const ast::Expression& expression, TypeId type);

  // Returns the value in its natural type: int64_t if it fits, else uint64_t; double for any floating-point number.
  std::optional<Value> evaluate(const ast::Expression& expression);

  // Converts a value that was found without a type to `type`. Returns nothing (reported) if that is not possible.
  std::optional<Value> convert(const Value& value, TypeId type, const Span& at);

  // Reports a type that no constant can have. Returns whether a constant can have the type.
  bool check_type(TypeId type, const Span& at);

  // Returns the constant if its name is the whole expression; else none.
  DefId named_constant(const ast::Expression& expression);

 private:
  const Model& model_;
  const TypeTable& types_;
  Names& names_;
  Diagnostics& diagnostics_;
};

}  // namespace corelane::idl
