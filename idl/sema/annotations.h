// AnnotationChecker: annotations of the tree to those of the model. Declared ones are checked against their
// declaration; standard ones are kept as written; unknown ones are kept with a warning. Section: OMG
// IDL 4.2, 7.4.15, 8.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/constants.h"
#include "idl/sema/names.h"

namespace corelane::idl {

class AnnotationChecker {
 public:
  AnnotationChecker(Names& names, Constants& constants, TypeTable& types, Diagnostics& diagnostics)
      : names_(names), constants_(constants), types_(types), diagnostics_(diagnostics) {}

  // The annotations of anything but an operation: @rt::task is refused.
  std::vector<Annotation> check(const ast::Annotations& annotations);

  // Those of an operation, and its contract where @rt::task gives one.
  std::vector<Annotation> check_operation(const ast::Annotations& annotations, std::optional<TaskContract>& contract);

 private:
  std::vector<Annotation> check_all(const ast::Annotations& annotations);
  Annotation check_one(const ast::Annotation& annotation);
  void check_declared(const ast::Annotation& annotation, const ast::AnnotationDeclaration& declaration,
                      Annotation& out);
  void keep_undeclared(const ast::Annotation& annotation, Annotation& out);
  void report_unknown(const ast::Annotation& annotation);
  TypeId parameter_type(const ast::TypeSpec& type);
  std::optional<TaskContract> contract_of(const Annotation& checked, const ast::Annotation& written);

  Names& names_;
  Constants& constants_;
  TypeTable& types_;
  Diagnostics& diagnostics_;
};

Place place_of(const Span& span);

}  // namespace corelane::idl
