// Conversion converts the value of an expression to the wanted type. Section: OMG IDL 4.2, 7.4.1.4.3.
#pragma once

#include <optional>
#include <string>

#include "idl/ast/diagnostics.h"
#include "idl/model/model.h"
#include "idl/sema/constants/operand.h"
#include "idl/sema/types/types.h"

namespace corelane::idl {

class Conversion {
 public:
  Conversion(const Model& model, const TypeTable& types, Diagnostics& diagnostics, TypeId wanted)
      : model_(model), types_(types), diagnostics_(diagnostics), wanted_(wanted) {}

  // Returns nothing (reported) if the value cannot be converted. Accepts literals of a related type, with a warning.
  std::optional<Value> convert(const Operand& operand, const Span& at);

 private:
  std::optional<Value> to_integer(const Operand& operand, const Range& range, const Span& at);
  std::optional<Value> to_float(const Operand& operand, TypeKind kind, const Span& at);
  std::optional<Value> to_enumerator(const Operand& operand, const Span& at);
  std::optional<Value> to_fixed(const Operand& operand, const Span& at);
  std::optional<Value> to_wide_character(const Operand& operand, const Span& at);
  std::optional<Value> to_wide_string(const Operand& operand, const Span& at);
  template <typename T>
  std::optional<Value> as(const Operand& operand, const Span& at);
  template <typename Text>
  std::optional<Value> to_string(const Operand& operand, const Span& at);
  void warn_converted(const Operand& operand, const Span& at);
  std::optional<Value> mismatch(const Operand& operand, const Span& at);
  std::string mismatch_text(const Operand& operand) const;

  const Model& model_;
  const TypeTable& types_;
  Diagnostics& diagnostics_;
  const TypeId wanted_;
};

}  // namespace corelane::idl
