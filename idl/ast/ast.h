// The syntax tree of an IDL specification: what was written, with spans; nothing is resolved or checked here.
//
// Threads: plain values, each node owned by its parent.
// Invariants: depth is bounded by the parser's limits, so recursion over a tree is safe.
// Section: OMG IDL 4.2, clause 7.4.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "idl/ast/source.h"

namespace corelane::idl::ast {

struct Identifier {
  std::string text;  // without an escaping underscore
  Span span;
};

struct ScopedName {
  bool absolute = false;          // starts with "::"
  std::vector<Identifier> parts;  // at least one
  Span span;
};

// The name as it was written, for messages.
std::string to_string(const ScopedName& name);

// Expressions.

enum class Operator : std::uint8_t {
  plus,
  minus,
  invert,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

struct Unary {
  Operator op;
  ExpressionPtr operand;
};
struct Binary {
  Operator op;
  ExpressionPtr left;
  ExpressionPtr right;
};

struct Expression {
  // A string literal is std::string, a character char, TRUE and FALSE bool; an integer literal is not negative.
  std::variant<bool, std::uint64_t, double, char, std::string, ScopedName, Unary, Binary> node;
  Span span;
  std::uint32_t depth = 1;  // of this subtree
};

// Types.

// In the order of the model's TypeKind.
enum class BasicType : std::uint8_t {
  void_,
  boolean,
  octet,
  character,
  wide_character,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  float128,
  any,
  object,
  value_base,
  type_code,
  string,
  wide_string
};

struct TypeSpec;
struct SequenceOf {
  std::unique_ptr<TypeSpec> element;
};
struct UnusableType {};  // was refused already; sema stays silent about it

struct TypeSpec {
  std::variant<UnusableType, BasicType, ScopedName, SequenceOf> node;
  Span span;
};

// Annotations.

struct AnnotationParameter {
  std::optional<Identifier> name;
  ExpressionPtr value;
};

struct Annotation {
  ScopedName name;
  std::vector<AnnotationParameter> parameters;
  Span span;
};
using Annotations = std::vector<Annotation>;

// Definitions.

struct Definition;
using Definitions = std::vector<std::unique_ptr<Definition>>;

struct Member {
  Annotations annotations;
  TypeSpec type;
  std::vector<Identifier> names;
};

struct Module {
  Definitions body;
};

struct Structure {
  std::vector<Member> members;
};

struct Exception {
  std::vector<Member> members;
};

struct Enumerator {
  Annotations annotations;
  Identifier name;
};
struct Enumeration {
  std::vector<Enumerator> enumerators;
};

struct Typedef {
  TypeSpec type;
  std::vector<Identifier> more;  // names after the first, which is Definition::name
};

struct Constant {
  TypeSpec type;
  ExpressionPtr value;
};

enum class Direction : std::uint8_t { in, out, inout };

struct Parameter {
  Annotations annotations;
  Direction direction = Direction::in;
  Span direction_span;
  TypeSpec type;
  Identifier name;
};

struct Operation {
  std::optional<Span> oneway;
  TypeSpec result;
  std::vector<Parameter> parameters;
  std::vector<ScopedName> raises;
};

struct Attribute {
  bool readonly = false;
  TypeSpec type;
  std::vector<Identifier> more;
  std::vector<ScopedName> get_raises;
  std::vector<ScopedName> set_raises;
};

struct Interface {
  std::vector<ScopedName> bases;
  Definitions body;  // operations and attributes among them
};

struct ForwardInterface {};
struct ForwardStructure {};

struct AnnotationParameterDeclaration {
  TypeSpec type;
  Identifier name;
  ExpressionPtr default_value;  // may be null
};
struct AnnotationDeclaration {
  std::vector<AnnotationParameterDeclaration> parameters;
};

// #pragma prefix, ID or version; `argument` is the string, or the "major.minor" of a version.
struct Pragma {
  enum class Kind : std::uint8_t { prefix, id, version } kind = Kind::prefix;
  ScopedName target;  // of id and version
  std::string argument;
};

// A construct that was refused; its name is declared so that uses of it raise no second error.
struct Unsupported {};

struct Definition {
  Annotations annotations;
  Identifier name;
  Span keyword;  // the first token
  std::variant<Module, Interface, ForwardInterface, Structure, ForwardStructure, Enumeration, Exception, Typedef,
               Constant, Operation, Attribute, AnnotationDeclaration, Pragma, Unsupported>
      node;
};

struct Specification {
  Definitions definitions;
};

}  // namespace corelane::idl::ast
