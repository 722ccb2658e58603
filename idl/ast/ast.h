// The syntax tree of an IDL specification: what was written, with spans. Nothing in it is resolved or checked.
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

// Returns the name as it was written, for messages.
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

// A literal in two precisions: if `wide` is finite, `narrow` may still be infinite.
struct Real {
  double narrow;
  long double wide;
};
// For the literal 12.50d the text is "12.50".
struct FixedLiteral {
  std::string text;
};

struct Expression {
  // A string literal is std::string, a character char; wide ones have char32_t. TRUE and FALSE are bool. An integer
  // literal is not negative.
  std::variant<bool, std::uint64_t, Real, char, std::string, ScopedName, Unary, Binary, char32_t, std::u32string,
               FixedLiteral>
      node;
  Span span;
  std::uint32_t depth = 1;  // of this subtree
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

// Types.

// In the same order as the model's TypeKind.
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
  value_base
};

struct Definition;
using Definitions = std::vector<std::unique_ptr<Definition>>;

struct TypeSpec;
using TypeSpecPtr = std::unique_ptr<TypeSpec>;

struct StringOf {
  bool wide = false;
  ExpressionPtr bound;
};
struct SequenceOf {
  TypeSpecPtr element;
  ExpressionPtr bound;  // null: none
};
struct MapOf {
  TypeSpecPtr key;
  TypeSpecPtr element;
  ExpressionPtr bound;  // null: none
};
struct FixedOf {
  ExpressionPtr digits;  // both null in `const fixed`
  ExpressionPtr scale;
};
// A definition in place of a type's name: in struct S { enum E { a } e; }, it is the enum.
struct InlineDefinition {
  Definitions one;  // exactly one
};
struct UnusableType {};  // already refused; sema reports nothing more about it

struct TypeSpec {
  std::variant<UnusableType, BasicType, ScopedName, StringOf, SequenceOf, MapOf, FixedOf, InlineDefinition> node;
  Span span;
  Annotations annotations = {};  // if it is the element of a sequence or map
};

struct Declarator {
  Identifier name;
  std::vector<ExpressionPtr> dimensions;  // if it is an array
  Annotations annotations = {};           // of the elements of an array: `long a @name [3]`
};

// Definitions.

struct Member {
  Annotations annotations;
  TypeSpec type;
  std::vector<Declarator> declarators;
};

struct Module {
  Definitions body;
};

struct Structure {
  std::optional<ScopedName> base;
  std::vector<Member> members;
};

struct Exception {
  std::vector<Member> members;
};

struct Label {
  ExpressionPtr value;  // null: default
  Span span;
};
struct Branch {
  std::vector<Label> labels;
  Annotations annotations;
  TypeSpec type;
  Declarator declarator;
};
struct Union {
  Annotations discriminator_annotations;
  TypeSpec discriminator;
  std::vector<Branch> branches;
};

struct Enumerator {
  Annotations annotations;
  Identifier name;
};
struct Enumeration {
  std::vector<Enumerator> enumerators;
};
struct Bitmask {
  std::vector<Enumerator> bits;
};

struct Bitfield {
  Annotations annotations;
  Span span;
  ExpressionPtr bits;
  std::optional<TypeSpec> type;
  std::vector<Identifier> names;  // empty: padding
};
struct Bitset {
  std::optional<ScopedName> base;
  std::vector<Bitfield> fields;
};

struct Typedef {
  TypeSpec type;
  std::vector<Declarator> declarators;  // the first has Definition::name
};

struct Native {};

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

struct ContextName {
  std::string text;
  Span span;
};

struct Operation {
  std::optional<Span> oneway;
  TypeSpec result;
  std::vector<Parameter> parameters;
  std::vector<ScopedName> raises;
  std::vector<ContextName> contexts;
};

struct Attribute {
  bool readonly = false;
  TypeSpec type;
  std::vector<Identifier> more;
  std::vector<ScopedName> get_raises;
  std::vector<ScopedName> set_raises;
};

enum class InterfaceKind : std::uint8_t { unconstrained, abstract, local };

struct Interface {
  InterfaceKind kind = InterfaceKind::unconstrained;
  std::vector<ScopedName> bases;
  Definitions body;  // includes operations and attributes
};

enum class ValueKind : std::uint8_t { concrete, abstract, custom };

struct Valuetype {
  ValueKind kind = ValueKind::concrete;
  std::optional<Span> truncatable;
  std::vector<ScopedName> bases;
  std::vector<ScopedName> supports;
  Definitions body;  // includes state members, factories, operations and attributes
};
struct ValueBox {
  TypeSpec type;
};
struct State {
  bool is_public = false;
  Member member;
};
struct Factory {
  std::vector<Parameter> parameters;
  std::vector<ScopedName> raises;
};

struct ForwardInterface {
  InterfaceKind kind = InterfaceKind::unconstrained;
};
struct ForwardStructure {};
struct ForwardUnion {};
struct ForwardValue {
  bool abstract = false;
};

struct AnnotationParameterDeclaration {
  TypeSpec type;
  Identifier name;
  ExpressionPtr default_value;  // may be null
};
struct AnnotationDeclaration {
  Definitions body;  // enums, constants and typedefs
  std::vector<AnnotationParameterDeclaration> parameters;
  bool standard = false;  // known without a declaration; the user may still declare the name
};

// #pragma prefix, ID or version, typeprefix, or typeid. `argument` is the string, or the "major.minor" of a version.
struct IdDirective {
  enum class Kind : std::uint8_t {
    pragma_prefix,
    pragma_id,
    pragma_version,
    typeprefix,
    type_id
  } kind = Kind::pragma_prefix;
  ScopedName target;  // not used by #pragma prefix
  std::string argument;
};

// import M; or import "M"; the string is treated as a name.
struct Import {
  ScopedName name;
};

struct Definition {
  Annotations annotations;
  Identifier name;  // of the first declarator; empty in directives
  Span keyword;     // the first token
  std::variant<Module, Interface, ForwardInterface, Structure, ForwardStructure, Union, ForwardUnion, Enumeration,
               Bitmask, Bitset, Exception, Typedef, Native, Constant, Valuetype, ForwardValue, ValueBox, State, Factory,
               Operation, Attribute, AnnotationDeclaration, IdDirective, Import>
      node;
};

struct Specification {
  Definitions definitions;
};

}  // namespace corelane::idl::ast
