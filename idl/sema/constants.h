// Constants: evaluates constant expressions. Section: OMG IDL 4.2, 7.4.1.4.3.
//
// Integers are computed exactly; each step must fit in 64 bits, signed or unsigned. Operands of one operator have one
// type: an integer is no float and no character.
#pragma once

#include <optional>
#include <string>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/model/model.h"
#include "idl/sema/names.h"
#include "idl/sema/types.h"

namespace corelane::idl {

class Constants {
 public:
  Constants(const Model& model, const TypeTable& types, Names& names, Diagnostics& diagnostics)
      : model_(model), types_(types), names_(names), diagnostics_(diagnostics) {}

  // The value as one of `type`; nothing (reported) when it is none.
  std::optional<Value> evaluate(const ast::Expression& expression, TypeId type);

  // The value in the type that it has by itself: int64_t where it fits, else uint64_t; double for any
  // floating-point number.
  std::optional<Value> evaluate(const ast::Expression& expression);

  // A value that was found without a type, as one of `type`; nothing (reported) when it is none.
  std::optional<Value> convert(const Value& value, TypeId type, const Span& at);

  // The constant whose name is the whole expression.
  DefId named_constant(const ast::Expression& expression);

 private:
  const Model& model_;
  const TypeTable& types_;
  Names& names_;
  Diagnostics& diagnostics_;
};

}  // namespace corelane::idl
