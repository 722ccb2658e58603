// AnnotationChecker converts annotations of the syntax tree to annotations of the model. It checks each one against its
// declaration. The standard annotations are declared in idl/include/corelane/annotations.idl. Unknown annotations are
// kept, with a warning. Section: OMG IDL 4.2, 7.4.15, 8.
//
// The folder idl/sema/annotations checks annotations and what they say of tasks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/ast/diagnostics.h"
#include "idl/ast/source.h"
#include "idl/model/model.h"
#include "idl/sema/constants/constants.h"
#include "idl/sema/names/names.h"

namespace corelane::idl {

// What can follow an annotation, in the order of the words of @applies_to (annotations.cpp).
enum class Target : std::uint8_t {
  module,
  interface,
  value,
  structure,
  union_,
  exception,
  enumeration,
  enumerator,
  bitmask,
  bit,
  bitset,
  bitfield,
  alias,
  constant,
  native,
  member,
  branch,
  discriminator,
  operation,
  attribute,
  parameter,
  factory
};

class AnnotationChecker {
 public:
  AnnotationChecker(const Model& model, Names& names, Constants& constants, Diagnostics& diagnostics)
      : model_(model), names_(names), constants_(constants), diagnostics_(diagnostics) {}

  // Returns the rules of an annotation's declaration. Its parameters have the types `types`, and `notes` are the
  // annotations before it. The annotation's scope must be the current one.
  std::unique_ptr<AnnotationRules> rules(const ast::AnnotationDeclaration& declaration,
                                         const std::vector<TypeId>& types, const ast::Annotations& notes);

  // Checks the annotations of anything but an operation. Refuses @rt::task and @rt::uses.
  Annotations check(const ast::Annotations& annotations, Target target);

  // Checks the annotations of an operation. Sets `contract` if @rt::task and @rt::uses give one.
  Annotations check_operation(const ast::Annotations& annotations, std::optional<TaskContract>& contract);

  // Returns the place of the value of the last annotation with that name.
  static const Span& value_span(const ast::Annotations& annotations, std::string_view name);

 private:
  std::vector<Annotation> check_all(const ast::Annotations& annotations, Target target);
  Annotation check_one(const ast::Annotation& annotation, Target target);
  void check_declared(const ast::Annotation& annotation, const Symbol& symbol, Annotation& out);
  void add_defaults(const ast::Annotation& annotation, const AnnotationRules& rules, Annotation& out);
  const AnnotationRules::Parameter* parameter_for(const ast::AnnotationParameter& written, const AnnotationRules& rules,
                                                  const Annotation& out);
  std::optional<Value> value_of(const ast::Expression& expression, TypeId type, const Scope* choices);
  std::optional<Value> choice(const ast::Expression& expression, const Type& type, const Scope& choices);
  void keep_undeclared(const ast::Annotation& annotation, Annotation& out);
  void report_unknown(const ast::Annotation& annotation);
  std::uint32_t targets(const ast::Annotations& notes);
  std::optional<TaskContract> contract_of(const Annotation& checked, const ast::Annotation& written);
  void add_use(const Annotation& checked, const ast::Annotation& source, TaskContract& contract);
  void report_no_duration(std::string_view parameter, const std::string& text, const Span& span);

  const Model& model_;
  Names& names_;
  Constants& constants_;
  Diagnostics& diagnostics_;
};

Place place_of(const Span& span);

}  // namespace corelane::idl
