// TypeReader turns the types that a specification writes into types of the model.
//
// Threads: one owner.
//
// The folder idl/sema/type_readers adds structures, unions, enumerations, bitsets and their members to the model. The
// folder idl/sema/analyzer has the readers of modules, interfaces and values, and combines all readers.
#pragma once

#include <cstdint>
#include <optional>

#include "idl/ast/ast.h"
#include "idl/sema/definitions/analysis.h"
#include "idl/sema/definitions/open_aggregates.h"
#include "idl/sema/type_readers/definition_reader.h"

namespace corelane::idl {

class TypeReader {
 public:
  TypeReader(Analysis& analysis, OpenAggregates& aggregates, DefinitionReader& definitions)
      : analysis_(analysis), aggregates_(aggregates), definitions_(definitions) {}

  // Returns the type that `spec` describes; none (reported) if it is no type. Only the element of a sequence or map may
  // be incomplete.
  TypeId read(const ast::TypeSpec& spec, bool in_container = false);

  // Returns the type of a member with those annotations. The type must be complete, except in sequences and maps. A
  // struct or union may also be incomplete if `@external` stores it outside the object.
  TypeId read_member(const ast::TypeSpec& spec, const Annotations& notes);

  // Returns the type of a declarator: an array of `element`, or `element`. None (reported) if it is too large or nested
  // too deeply.
  TypeId read_declarator(TypeId element, const ast::Declarator& declarator);

  // Evaluates a bound or a length. It is 1 to 2^32 - 1, since it is sent as an unsigned long.
  std::optional<std::uint64_t> read_length(const ast::Expression& expression);

  // Warns about a type without a name. A named type can be used elsewhere, and in C++.
  void check_named(const ast::TypeSpec& spec);

 private:
  TypeId string_type(const ast::StringOf& text);
  TypeId container_type(Type made, const ast::TypeSpec& element, const ast::ExpressionPtr& bound);
  TypeId map_type(const ast::MapOf& map);
  TypeId fixed_type(const ast::FixedOf& fixed, const Span& at);
  TypeId named_type(const ast::ScopedName& name, bool in_container);
  TypeId inline_type(const ast::InlineDefinition& source);
  void report_incomplete(const Symbol& symbol, const Span& at);
  bool report_optional(const ast::TypeSpec& spec);

  Analysis& analysis_;
  OpenAggregates& aggregates_;
  DefinitionReader& definitions_;
};

}  // namespace corelane::idl
