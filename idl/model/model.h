// Model: a checked IDL specification as plain data, flat and resolved. Written by sema, read by back ends: a back end
// never sees the syntax tree and never has to look a name up, sort, or check anything.
//
// Threads: plain values. A finished model is never changed.
// Invariants (sema holds them, back ends rely on them):
//   - every id in a model refers into that same model; `none` appears only where a comment says so;
//   - vectors are in order of declaration, so walking Model::contents and the contents of modules and interfaces emits
//     every name before its first use (a Forward precedes a use that comes before the definition);
//   - every construct of the language is here; a back end that lacks one refuses it with the place that it finds here.
// Section: OMG IDL 4.2, clauses 7.4 and 8; repository ids: CORBA 3.4 part 1, clause 14.7.3.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace corelane::idl {

// Indices into the vectors of a Model.
enum class FileId : std::uint32_t { main = 0, none = 0xffff'ffff };
enum class DefId : std::uint32_t { none = 0xffff'ffff };
enum class TypeId : std::uint32_t { none = 0xffff'ffff };

// Where something stands in the source; lines and columns count from 1, columns in bytes.
struct Place {
  FileId file = FileId::none;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;
};

struct File {
  std::string path;              // as it was opened
  std::string include_path;      // relative to its -I root, with '/': "plant/controller.idl"; outputs mirror it
  std::vector<FileId> includes;  // files it includes directly, each once, in order
  std::vector<std::uint32_t> include_lines = {};  // of the #includes; none where they stand before all definitions
  bool is_main = false;  // the one that is compiled; code is generated only for its definitions
  // False: no C++ stands for it, so nothing is to be #included. It is part of the compiler (corelane/rt.idl), or was
  // included inside definitions, and then what it says belongs to the file of those.
  bool generates_code = true;
};

// Types.

enum class TypeKind : std::uint8_t {
  void_,  // only as the result of an operation
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
  float128,     // long double
  any,          // CORBA::Any
  object,       // Object: any object reference
  value_base,   // ValueBase: any value
  type_code,    // CORBA::TypeCode, whoever declares it
  string,       // bound
  wide_string,  // bound
  fixed,        // digits, scale
  sequence,     // element, bound
  array,        // element, bound: one dimension; long a[2][3] is an array of 2 arrays of 3
  map,          // key, element, bound
  external,     // element: the Structure or Union, or an alias of one, of an `@external` member
  structure,    // definition is a Structure
  union_,       // definition is a Union
  enumeration,  // definition is an Enumeration
  bitmask,      // definition is a Bitmask
  bitset,       // definition is a Bitset
  interface,    // definition is an Interface (also abstract and local ones): an object reference
  value,        // definition is a Valuetype
  value_box,    // definition is a ValueBox
  native,       // definition is a Native
  alias,        // definition is an Alias, element the type that it names
};

// Each type has one entry, anonymous ones too (sequence<long, 4> written twice is one entry), so equal ids mean the
// same IDL type. An alias is an entry of its own.
struct Type {
  TypeKind kind = TypeKind::void_;
  TypeId element = TypeId::none;   // sequence, array, map, external: of what; alias: of what, one step; else none
  TypeId key = TypeId::none;       // map; else none
  TypeId resolved = TypeId::none;  // itself with all aliases taken off (the element of a sequence keeps its own)
  // Of what the comments above name, else none. A Forward only for an interface or valuetype that is never defined.
  DefId definition = DefId::none;
  std::uint64_t bound = 0;   // array: elements, at least 1; string, sequence, map: most elements, 0 = unbounded
  std::uint16_t digits = 0;  // fixed: 1 to 31
  std::uint16_t scale = 0;   // fixed: at most `digits`
};

// Values of constants and annotation parameters.

struct EnumeratorRef {
  DefId enumeration = DefId::none;
  std::uint32_t index = 0;  // into Enumeration::enumerators
  friend bool operator==(const EnumeratorRef&, const EnumeratorRef&) = default;
};

// The number digits * 10^-scale, with its sign: at most 31 digits, no needless zeros ("0" for zero, not negative).
struct Decimal {
  std::string digits;
  std::uint16_t scale = 0;
  bool negative = false;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

// The alternative follows the resolved type: boolean bool; int8..int64 int64_t; octet, uint8..uint64 uint64_t; float
// and double double, long double long double (finite, in range of the type); char char; wchar char32_t; string
// std::string, wstring std::u32string (no NUL inside); fixed Decimal; enum EnumeratorRef; bitmask uint64_t, the bits
// that are set. Where no type is declared (annotations of other tools), it is the literal's own.
using Value = std::variant<bool, std::int64_t, std::uint64_t, double, char, std::string, EnumeratorRef, long double,
                           char32_t, std::u32string, Decimal>;

struct AnnotationParameter {
  std::string name;  // as declared; "value" where an annotation without declaration has one parameter without a name
  Value value;       // in its declared type; a word that stands for a choice (FINAL) is a string
};

struct Annotation {
  std::string name;                             // scoped, without a leading "::": "rt::task", "default"
  std::vector<AnnotationParameter> parameters;  // those written, then those that have a default, as declared
  Place place;
};

// The last annotation of that scoped name, and the value of its parameter; null where there is none.
inline const Annotation* find(const std::vector<Annotation>& annotations, std::string_view name) {
  const Annotation* found = nullptr;
  for (const Annotation& annotation : annotations)
    if (annotation.name == name) found = &annotation;
  return found;
}
inline const Value* find(const Annotation& annotation, std::string_view parameter) {
  for (const AnnotationParameter& candidate : annotation.parameters)
    if (candidate.name == parameter) return &candidate.value;
  return nullptr;
}

// Whether the last annotation of that scoped name, whose parameter `value` is a boolean, says true.
inline bool is_set(const std::vector<Annotation>& annotations, std::string_view name) {
  const Annotation* annotation = find(annotations, name);
  const Value* value = annotation == nullptr ? nullptr : find(*annotation, "value");
  return value != nullptr && *value == Value{true};
}

// The contract of @rt::task: checked (0 < C <= D, 0 <= J < D, 0 <= S <= D - C, T and D <= 1 h) and with its defaults
// filled in (D = T, J = min(T, D) / 10).
enum class OverrunPolicy : std::uint8_t { report = 0, demote = 1, cancel = 2 };

// Of @rt::uses.
struct ResourceUse {
  std::string resource;
  std::chrono::nanoseconds longest{};
};

struct TaskContract {
  std::chrono::nanoseconds period{};
  std::chrono::nanoseconds deadline{};
  std::chrono::nanoseconds budget{};
  std::chrono::nanoseconds jitter{};
  std::chrono::nanoseconds suspension{};
  std::int16_t importance = 0;
  OverrunPolicy on_overrun = OverrunPolicy::report;
  std::vector<ResourceUse> uses;
  Place place;
};

// Definitions.

// One opening of a module. A reopened module is a new definition with the same scoped name and repository id.
struct Module {
  std::vector<DefId> contents;
  bool reopened = false;
};

// Of a struct, exception, union or value. What @optional and @default say stands here, checked, beside the annotations.
struct Member {
  std::string name;
  TypeId type = TypeId::none;
  std::vector<Annotation> annotations;
  Place place;
  bool optional = false;                    // @optional
  std::optional<Value> default_value = {};  // @default, as a value of `type`
};

struct Structure {
  std::vector<Member> members;       // its own, may be empty
  bool recursive = false;            // its own definition names it, in sequences, maps or external members
  DefId base = DefId::none;          // the Structure that it inherits from
  std::vector<DefId> contents = {};  // types defined inside a member's declaration: struct S { enum E { a } e; };
};

struct Exception {
  std::vector<Member> members;
  std::vector<DefId> contents = {};  // as of Structure
};

struct UnionBranch {
  Member member;
  std::vector<Value> labels;  // of the discriminator's type, as written
  bool is_default = false;    // has the label `default`, perhaps beside others
};

struct Union {
  TypeId discriminator = TypeId::none;  // boolean, char, wchar, octet, integer, enumeration or an alias of one
  std::vector<Annotation> discriminator_annotations;
  std::vector<UnionBranch> branches;  // at least one
  // A value of the discriminator without a label of its own: it selects the default branch, or no member where there is
  // none. Absent where labels cover all values. The least such number that is not negative; the first such enumerator.
  std::optional<Value> unlabelled;
  bool recursive = false;
  std::vector<DefId> contents;  // as of Structure; also an enum defined as the discriminator
};

struct Enumerator {
  std::string name;
  std::string scoped_name;
  std::uint32_t value = 0;  // @value, else one more than the one before; over GIOP goes the index, not this
  std::vector<Annotation> annotations;
  Place place;
  std::string repository_id = {};
};

struct Enumeration {
  std::vector<Enumerator> enumerators;  // at least one
  std::uint16_t bit_bound = 32;         // @bit_bound: 1 to 32
  std::uint32_t default_index = 0;      // @default_literal, else the first
};

struct Bit {
  std::string name;
  std::string scoped_name;
  std::uint16_t position = 0;  // @position, else one more than the one before; below bit_bound, each once
  std::vector<Annotation> annotations;
  Place place;
};

struct Bitmask {
  std::vector<Bit> bits;         // at least one
  std::uint16_t bit_bound = 32;  // @bit_bound: 1 to 64
};

struct Bitfield {
  std::string name;            // empty: padding
  TypeId type = TypeId::none;  // as written, else the smallest unsigned type that holds it, boolean for one bit
  std::uint16_t bits = 0;      // 1 to 64, fits the type
  std::uint16_t position = 0;  // of its lowest bit, after those of the bases
  std::vector<Annotation> annotations;
  Place place;
};

struct Bitset {
  DefId base = DefId::none;      // the Bitset that it inherits from
  std::vector<Bitfield> fields;  // its own
  std::uint16_t bits = 0;        // in all, the bases' among them: at most 64
};

struct Alias {
  TypeId aliased = TypeId::none;  // one step; the alias's own type is Definition::type
};

struct Constant {
  TypeId type = TypeId::none;     // may be an alias; `const fixed` has the digits and scale of its value
  Value value;                    // evaluated
  DefId refers_to = DefId::none;  // the constant whose name is the whole expression, where it is one
};

enum class Direction : std::uint8_t { in, out, inout };

struct Parameter {
  std::string name;
  TypeId type = TypeId::none;
  Direction direction = Direction::in;
  std::vector<Annotation> annotations;
  Place place;
};

struct Operation {
  std::string name;              // as it goes over the wire: without an escaping underscore
  TypeId result = TypeId::none;  // kind void_ where nothing is returned
  std::vector<Parameter> parameters;
  bool oneway = false;                   // then: result void, only `in` parameters, raises empty
  std::vector<DefId> raises;             // Exceptions, in order, each once
  std::optional<TaskContract> contract;  // of @rt::task
  std::vector<Annotation> annotations;
  Place place;
  std::vector<std::string> contexts = {};  // context ("a", "b*")
  std::string repository_id = {};
};

struct Attribute {
  std::string name;
  TypeId type = TypeId::none;
  bool readonly = false;
  std::vector<DefId> get_raises;
  std::vector<DefId> set_raises;  // empty when readonly
  std::vector<Annotation> annotations;
  Place place;
  std::string repository_id = {};
};

enum class InterfaceKind : std::uint8_t { unconstrained, abstract, local };

struct Interface {
  std::vector<DefId> bases;           // direct, as written
  std::vector<DefId> ancestors;       // all, each once; an interface comes after its own ancestors
  std::vector<DefId> contents;        // nested types, exceptions and constants
  std::vector<Operation> operations;  // its own; inherited ones stand in the ancestors
  std::vector<Attribute> attributes;  // its own
  InterfaceKind kind = InterfaceKind::unconstrained;
  // Of a reply handler, which no IDL text declares: a back end implies it. The interface whose replies it takes.
  DefId replies_of = DefId::none;
};

struct StateMember {
  Member member;
  bool is_public = false;
};

struct Factory {
  std::string name;
  std::vector<Parameter> parameters;  // all `in`
  std::vector<DefId> raises;
  std::vector<Annotation> annotations;
  Place place;
  std::string repository_id;
};

enum class ValueKind : std::uint8_t { concrete, abstract, custom };

// valuetype V : truncatable B, A supports I { ... }
struct Valuetype {
  ValueKind kind = ValueKind::concrete;
  std::vector<DefId> bases;        // direct Valuetypes, as written; a concrete or custom one is the first
  bool truncatable = false;        // to the first base
  std::vector<DefId> supports;     // direct Interfaces, as written; at most one is not abstract
  std::vector<DefId> ancestors;    // all Valuetypes, each once; one comes after its own ancestors
  std::vector<DefId> contents;     // nested types, exceptions and constants
  std::vector<StateMember> state;  // its own; none where kind is abstract
  std::vector<Factory> factories;  // initialisers
  std::vector<Operation> operations;
  std::vector<Attribute> attributes;
};

// valuetype V T;
struct ValueBox {
  TypeId boxed = TypeId::none;  // no value type
};

// The mapping knows PortableServer::Servant and the like by scoped name; others are the user's to supply.
struct Native {};

// `interface X;`, `struct X;`, `union X;` or `valuetype X;`. Present for each such declaration, also where the
// definition came before.
struct Forward {
  // An Interface, Structure, Union or Valuetype; none for an interface or valuetype that is never defined (a warning).
  DefId target = DefId::none;
  InterfaceKind kind = InterfaceKind::unconstrained;  // of an interface
};

// Values are the indices of Definition::body.
enum class DefinitionKind : std::uint8_t {
  module,
  interface,
  structure,
  enumeration,
  exception,
  alias,
  constant,
  forward,
  union_,
  value,
  value_box,
  native,
  bitmask,
  bitset
};

struct Definition {
  std::string name;           // local, without an escaping underscore: may be a C++ keyword
  std::string scoped_name;    // "Plant::Controller", without a leading "::"
  std::string repository_id;  // "IDL:Plant/Controller:1.0"
  // The Module (this opening), Interface, Valuetype, Structure, Union or Exception around it; none at file level. Types
  // declared inside an annotation are definitions in no contents.
  DefId scope = DefId::none;
  FileId file = FileId::none;
  TypeId type = TypeId::none;  // the type that it makes, a Forward its target's; module, exception, constant: none
  std::vector<Annotation> annotations;
  Place place;  // of the name
  std::variant<Module, Interface, Structure, Enumeration, Exception, Alias, Constant, Forward, Union, Valuetype,
               ValueBox, Native, Bitmask, Bitset>
      body;

  DefinitionKind kind() const noexcept { return static_cast<DefinitionKind>(body.index()); }
};

struct Model {
  std::vector<File> files;  // [0] is the main file
  std::vector<Definition> definitions;
  std::vector<Type> types;
  std::vector<DefId> contents;  // at file level, those of included files among them

  const File& operator[](FileId id) const { return files[static_cast<std::size_t>(id)]; }
  const Definition& operator[](DefId id) const { return definitions[static_cast<std::size_t>(id)]; }
  const Type& operator[](TypeId id) const { return types[static_cast<std::size_t>(id)]; }
  File& operator[](FileId id) { return files[static_cast<std::size_t>(id)]; }
  Definition& operator[](DefId id) { return definitions[static_cast<std::size_t>(id)]; }
  Type& operator[](TypeId id) { return types[static_cast<std::size_t>(id)]; }

  // The type with all aliases taken off.
  const Type& resolved(TypeId id) const { return (*this)[(*this)[id].resolved]; }
  // Whether the definition stands in the file that is compiled.
  bool is_main(DefId id) const { return (*this)[id].file == FileId::main; }
};

}  // namespace corelane::idl
