// Model: a checked IDL specification as plain data, flat and resolved. sema writes it, back ends read it. A back end
// never sees the syntax tree. It never has to look up a name, sort, or check anything.
//
// Threads: plain values. A finished model never changes.
// Invariants (sema ensures them, back ends rely on them):
//   - Every id refers to the same model. `none` appears only where a comment allows it.
//   - Vectors are in order of declaration. So a walk over Model::contents and the contents of modules and
//     interfaces meets every name before its first use. A Forward comes before a use that precedes the definition.
//   - Every construct of the language is in the model. A back end that does not support one refuses it, and reports
//     its place.
// Section: OMG IDL 4.2, clauses 7.4 and 8; repository ids: CORBA 3.4 part 1, clause 14.7.3.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
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

// A place in the source. Lines and columns count from 1, columns in bytes.
struct Place {
  FileId file = FileId::none;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t length = 0;
};

struct File {
  std::string path;  // as it was opened
  // Relative to its -I root, with '/': "plant/controller.idl". Output files use the same path.
  std::string include_path;
  std::vector<FileId> includes;                   // files that it includes directly, each once, in order
  std::vector<std::uint32_t> include_lines = {};  // lines of the #includes; none if they come before all definitions
  bool is_main = false;                           // the file to compile; code is generated only for its definitions
  // False: there is no C++ for this file, so nothing can be #included. Either it is part of the compiler
  // (corelane/rt.idl), or it was included inside definitions. Then its text belongs to the files with these
  // definitions.
  bool generates_code = true;
};

// Types.

enum class TypeKind : std::uint8_t {
  void_,  // only the result of an operation
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
  type_code,    // CORBA::TypeCode, even if an IDL file declares it
  string,       // bound
  wide_string,  // bound
  fixed,        // digits, scale
  sequence,     // element, bound
  array,        // element, bound: one dimension; long a[2][3] is an array of 2 arrays of 3
  map,          // key, element, bound
  external,     // element: a Structure or Union, or an alias of one; type of an `@external` member
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

// Each type has one entry, including anonymous types: sequence<long, 4> written twice is one entry. So equal ids mean
// the same IDL type. An alias has an entry of its own.
struct Type {
  TypeKind kind = TypeKind::void_;
  // sequence, array, map, external: their element; alias: the type it names, one step; else none
  TypeId element = TypeId::none;
  TypeId key = TypeId::none;       // map; else none
  TypeId resolved = TypeId::none;  // the type without aliases (the element of a sequence keeps its own)
  // The definition that the comments of TypeKind name; else none. It is a Forward only for an interface or valuetype
  // that is never defined.
  DefId definition = DefId::none;
  // array: number of elements, at least 1; string, sequence, map: largest number, 0 = unbounded
  std::uint64_t bound = 0;
  std::uint16_t digits = 0;  // fixed: 1 to 31
  std::uint16_t scale = 0;   // fixed: at most `digits`
};

// Values of constants and annotation parameters.

struct EnumeratorRef {
  DefId enumeration = DefId::none;
  std::uint32_t index = 0;  // index in Enumeration::enumerators
  friend bool operator==(const EnumeratorRef&, const EnumeratorRef&) = default;
};

// The number digits * 10^-scale, with its sign. It has at most 31 digits and no unnecessary zeros. Zero is "0", not
// negative.
struct Decimal {
  std::string digits;
  std::uint16_t scale = 0;
  bool negative = false;
  friend bool operator==(const Decimal&, const Decimal&) = default;
};

// The alternative depends on the resolved type:
//   boolean                 bool
//   int8 .. int64           std::int64_t
//   octet, uint8 .. uint64  std::uint64_t
//   float, double           double, finite and in the range of the type
//   long double             long double, finite
//   char, wchar             char, char32_t
//   string, wstring         std::string, std::u32string, without NUL
//   fixed                   Decimal
//   enum                    EnumeratorRef
//   bitmask                 std::uint64_t, the bits that are set
// If no type is declared (annotations of other tools), it is the literal's own type.
using Value = std::variant<bool, std::int64_t, std::uint64_t, double, char, std::string, EnumeratorRef, long double,
                           char32_t, std::u32string, Decimal>;

struct AnnotationParameter {
  // `name` is as declared. An undeclared annotation's only parameter without a name is called "value".
  std::string name;
  Value value;  // of its declared type; a word that names a choice (FINAL) is a string
};

struct Annotation {
  std::string name;                             // scoped name, without a leading "::": "rt::task", "default"
  std::vector<AnnotationParameter> parameters;  // the given ones, then those with defaults, in order of declaration
  Place place;
};

// Annotations are those of one declaration, in the order of the text. Copies share them, because a declaration with
// many names has one copy for each name.
class Annotations {
 public:
  Annotations() = default;
  Annotations(std::vector<Annotation> all)
      : all_(all.empty() ? nullptr : std::make_shared<const std::vector<Annotation>>(std::move(all))) {}

  auto begin() const { return all().begin(); }
  auto end() const { return all().end(); }
  bool empty() const { return all_ == nullptr; }
  std::size_t size() const { return all().size(); }
  const Annotation& operator[](std::size_t i) const { return all()[i]; }

 private:
  const std::vector<Annotation>& all() const {
    static const std::vector<Annotation> none;
    return all_ ? *all_ : none;
  }

  std::shared_ptr<const std::vector<Annotation>> all_;
};

// Return the last annotation with that scoped name, and the value of its parameter; null if there is none.
inline const Annotation* find(const Annotations& annotations, std::string_view name) {
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

// Returns whether the last annotation with that scoped name has a parameter `value` that is true.
inline bool is_set(const Annotations& annotations, std::string_view name) {
  const Annotation* annotation = find(annotations, name);
  const Value* value = annotation == nullptr ? nullptr : find(*annotation, "value");
  return value != nullptr && *value == Value{true};
}

// The contract of @rt::task. It is checked: 0 < C <= D, 0 <= J < D, 0 <= S <= D - C, T and D <= 1 h. Defaults are
// filled in: D = T, J = min(T, D) / 10.
enum class OverrunPolicy : std::uint8_t { report = 0, demote = 1, cancel = 2 };

// The contents of @rt::uses.
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
  std::uint16_t intensity = 0;
  std::vector<ResourceUse> uses;
  Place place;
};

// Definitions.

// One opening of a module. A reopened module is a new definition with the same scoped name and repository id.
struct Module {
  std::vector<DefId> contents;
  bool reopened = false;
};

// A member of a struct, exception, union or value. @optional and @default are also here, in checked form.
struct Member {
  std::string name;
  TypeId type = TypeId::none;
  Annotations annotations;
  Place place;
  bool optional = false;                    // @optional
  std::optional<Value> default_value = {};  // @default, as a value of `type`
};

struct Structure {
  std::vector<Member> members;       // its own; may be empty
  bool recursive = false;            // its definition contains it, in sequences, maps or external members
  DefId base = DefId::none;          // the base Structure
  std::vector<DefId> contents = {};  // types defined inside a member's declaration: struct S { enum E { a } e; };
};

struct Exception {
  std::vector<Member> members;
  std::vector<DefId> contents = {};  // as in Structure
};

struct UnionBranch {
  Member member;
  std::vector<Value> labels;  // with the discriminator's type, as written
  bool is_default = false;    // has the label `default`, perhaps among others
};

struct Union {
  TypeId discriminator = TypeId::none;  // boolean, char, wchar, octet, integer, enumeration or an alias of one
  Annotations discriminator_annotations;
  std::vector<UnionBranch> branches;  // at least one
  // A value of the discriminator that no label names. It selects the default branch, or no member if there is none.
  // Absent if labels cover all values. It is the smallest such number that is not negative, or the first such
  // enumerator.
  std::optional<Value> unlabelled;
  bool recursive = false;
  std::vector<DefId> contents;  // as in Structure; also an enum defined as the discriminator
};

struct Enumerator {
  std::string name;
  std::string scoped_name;
  std::uint32_t value = 0;  // @value, else the previous one plus one; GIOP sends the index, not this
  Annotations annotations;
  Place place;
  std::string repository_id = {};
};

struct Enumeration {
  std::vector<Enumerator> enumerators;  // at least one
  std::uint16_t bit_bound = 32;         // @bit_bound: 1 to 32
  std::uint32_t default_index = 0;      // index of @default_literal, else 0
};

struct Bit {
  std::string name;
  std::string scoped_name;
  std::uint16_t position = 0;  // @position, else the previous one plus one; less than bit_bound, each once
  Annotations annotations;
  Place place;
};

struct Bitmask {
  std::vector<Bit> bits;         // at least one
  std::uint16_t bit_bound = 32;  // @bit_bound: 1 to 64
};

struct Bitfield {
  std::string name;            // empty: padding
  TypeId type = TypeId::none;  // as written, else the smallest unsigned type with enough bits; boolean for one bit
  std::uint16_t bits = 0;      // 1 to 64; fits into the type
  std::uint16_t position = 0;  // of its lowest bit; those of the bases come first
  Annotations annotations;
  Place place;
};

struct Bitset {
  DefId base = DefId::none;      // the base Bitset
  std::vector<Bitfield> fields;  // its own
  std::uint16_t bits = 0;        // in total, including the bases; at most 64
};

struct Alias {
  TypeId aliased = TypeId::none;  // one step; the alias's own type is Definition::type
};

struct Constant {
  TypeId type = TypeId::none;     // may be an alias; for `const fixed`, the digits and scale of the value
  Value value;                    // evaluated
  DefId refers_to = DefId::none;  // the constant whose name is the whole expression, if it is one
};

enum class Direction : std::uint8_t { in, out, inout };

struct Parameter {
  std::string name;
  TypeId type = TypeId::none;
  Direction direction = Direction::in;
  Annotations annotations;
  Place place;
};

struct Operation {
  std::string name;              // as sent on the wire: without an escaping underscore
  TypeId result = TypeId::none;  // of kind void_ if nothing is returned
  std::vector<Parameter> parameters;
  bool oneway = false;                   // if true: result void, only `in` parameters, no raises
  std::vector<DefId> raises;             // Exceptions, in order, each once
  std::optional<TaskContract> contract;  // from @rt::task
  Annotations annotations;
  Place place;
  std::vector<std::string> contexts = {};  // context ("a", "b*")
  std::string repository_id = {};
};

struct Attribute {
  std::string name;
  TypeId type = TypeId::none;
  bool readonly = false;
  std::vector<DefId> get_raises;
  std::vector<DefId> set_raises;  // empty if readonly
  Annotations annotations;
  Place place;
  std::string repository_id = {};
};

enum class InterfaceKind : std::uint8_t { unconstrained, abstract, local };

struct Interface {
  std::vector<DefId> bases;           // direct bases, as written
  std::vector<DefId> ancestors;       // all, each once; each comes after its own ancestors
  std::vector<DefId> contents;        // nested types, exceptions and constants
  std::vector<Operation> operations;  // its own; inherited ones are in the ancestors
  std::vector<Attribute> attributes;  // its own
  InterfaceKind kind = InterfaceKind::unconstrained;
  // For a reply handler, which a back end adds and no IDL text declares: the interface whose replies it receives.
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
  Annotations annotations;
  Place place;
  std::string repository_id;
};

enum class ValueKind : std::uint8_t { concrete, abstract, custom };

// valuetype V : truncatable B, A supports I { ... }
struct Valuetype {
  ValueKind kind = ValueKind::concrete;
  std::vector<DefId> bases;        // direct Valuetypes, as written; a concrete or custom one is first
  bool truncatable = false;        // to its first base
  std::vector<DefId> supports;     // direct Interfaces, as written; at most one of them is not abstract
  std::vector<DefId> ancestors;    // all Valuetypes, each once; each comes after its own ancestors
  std::vector<DefId> contents;     // nested types, exceptions and constants
  std::vector<StateMember> state;  // its own; none if kind is abstract
  std::vector<Factory> factories;  // initializers
  std::vector<Operation> operations;
  std::vector<Attribute> attributes;
};

// valuetype V T;
struct ValueBox {
  TypeId boxed = TypeId::none;  // not a value type
};

// The mapping knows some scoped names, such as PortableServer::Servant. For others the user supplies the C++ type.
struct Native {};

// `interface X;`, `struct X;`, `union X;` or `valuetype X;`. Each such declaration has one, even after the definition.
struct Forward {
  // The Interface, Structure, Union or Valuetype; none for an interface or valuetype that is never defined (a warning).
  DefId target = DefId::none;
  InterfaceKind kind = InterfaceKind::unconstrained;  // for an interface
};

// The values are the indices in Definition::body.
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
  std::string name;           // local name, without an escaping underscore: may be a C++ keyword
  std::string scoped_name;    // "Plant::Controller", without a leading "::"
  std::string repository_id;  // "IDL:Plant/Controller:1.0"
  // The Module (this opening), Interface, Valuetype, Structure, Union or Exception around it; none at file level. Types
  // declared inside an annotation are definitions that are in no list of contents.
  DefId scope = DefId::none;
  FileId file = FileId::none;
  TypeId type = TypeId::none;  // the type that it makes, or its target's for a Forward; else none
  Annotations annotations;
  Place place;  // place of the name
  std::variant<Module, Interface, Structure, Enumeration, Exception, Alias, Constant, Forward, Union, Valuetype,
               ValueBox, Native, Bitmask, Bitset>
      body;

  DefinitionKind kind() const noexcept { return static_cast<DefinitionKind>(body.index()); }
};

struct Model {
  std::vector<File> files;  // [0] is the main file
  std::vector<Definition> definitions;
  std::vector<Type> types;
  std::vector<DefId> contents;  // at file level, including those of included files

  const File& operator[](FileId id) const { return files[static_cast<std::size_t>(id)]; }
  const Definition& operator[](DefId id) const { return definitions[static_cast<std::size_t>(id)]; }
  const Type& operator[](TypeId id) const { return types[static_cast<std::size_t>(id)]; }
  File& operator[](FileId id) { return files[static_cast<std::size_t>(id)]; }
  Definition& operator[](DefId id) { return definitions[static_cast<std::size_t>(id)]; }
  Type& operator[](TypeId id) { return types[static_cast<std::size_t>(id)]; }

  // Returns the type without aliases.
  const Type& resolved(TypeId id) const { return (*this)[(*this)[id].resolved]; }
  // Returns whether the definition is in the main file.
  bool is_main(DefId id) const { return (*this)[id].file == FileId::main; }
};

}  // namespace corelane::idl
