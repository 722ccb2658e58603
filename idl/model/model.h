// Model: a checked IDL specification as plain data, flat and resolved. Written by sema, read by back ends: a back end
// never sees the syntax tree and never has to look a name up, sort, or check anything.
//
// Threads: plain values. A finished model is never changed.
// Invariants (sema holds them, back ends rely on them):
//   - every id in a model refers into that same model; `none` appears only where a comment says so;
//   - vectors are in order of declaration, so walking Model::contents and the contents of modules and interfaces emits
//     every name before its first use (a Forward precedes a use that comes before the definition);
//   - only constructs that back ends support are present: everything else was refused with a diagnostic.
// Section: OMG IDL 4.2, clause 7.4; repository ids: CORBA 3.4 part 1, clause 14.7.3.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
  bool is_main = false;          // the one that is compiled; code is generated only for its definitions
  bool generates_code = true;    // false: no C++ stands for it (corelane/rt.idl), so nothing is to be #included
};

// Types.

enum class TypeKind : std::uint8_t {
  void_,  // only as the result of an operation
  boolean,
  octet,
  character,
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
  string,
  sequence,     // element
  structure,    // definition is a Structure
  enumeration,  // definition is an Enumeration
  interface,    // definition is an Interface: an object reference
  alias,        // definition is an Alias, element the type that it names
};

// Each type has one entry, anonymous ones too (sequence<long> written twice is one entry), so equal ids mean the same
// IDL type. An alias is an entry of its own.
struct Type {
  TypeKind kind = TypeKind::void_;
  TypeId element = TypeId::none;   // sequence: of what; alias: of what, one step; else none
  TypeId resolved = TypeId::none;  // itself with all aliases taken off (the element of a sequence keeps its own)
  DefId definition = DefId::none;  // structure, enumeration, interface, alias; else none. Never a Forward.
  std::uint64_t bound = 0;         // string, sequence: most elements; 0 = unbounded
};

// Values of constants and annotation parameters.

struct EnumeratorRef {
  DefId enumeration = DefId::none;
  std::uint32_t index = 0;  // into Enumeration::enumerators
  friend bool operator==(const EnumeratorRef&, const EnumeratorRef&) = default;
};

// The alternative follows the constant's resolved type: boolean bool; int8..int64 int64_t; octet, uint8..uint64
// uint64_t; float and double double (finite, in range of the type); character char; string std::string (no NUL inside).
using Value = std::variant<bool, std::int64_t, std::uint64_t, double, char, std::string, EnumeratorRef>;

struct AnnotationParameter {
  std::string name;  // "value" where the IDL gave one parameter without a name
  Value value;
};

struct Annotation {
  std::string name;                             // scoped, without a leading "::": "rt::task", "default"
  std::vector<AnnotationParameter> parameters;  // as written: defaults are not filled in
  Place place;
};

// The contract of @rt::task: checked (0 < C <= D, 0 <= J < D, 0 <= S <= D - C, T and D <= 1 h) and with its defaults
// filled in (D = T, J = min(T, D) / 10).
enum class OverrunPolicy : std::uint8_t { report = 0, demote = 1, cancel = 2 };

struct TaskContract {
  std::chrono::nanoseconds period{};
  std::chrono::nanoseconds deadline{};
  std::chrono::nanoseconds budget{};
  std::chrono::nanoseconds jitter{};
  std::chrono::nanoseconds suspension{};
  std::int16_t importance = 0;
  OverrunPolicy on_overrun = OverrunPolicy::report;
  Place place;
};

// Definitions.

// One opening of a module. A reopened module is a new definition with the same scoped name and repository id.
struct Module {
  std::vector<DefId> contents;
  bool reopened = false;
};

struct Member {
  std::string name;
  TypeId type = TypeId::none;
  std::vector<Annotation> annotations;
  Place place;
};

struct Structure {
  std::vector<Member> members;
  bool recursive = false;  // holds itself through a sequence
};

struct Exception {
  std::vector<Member> members;
};

struct Enumerator {
  std::string name;
  std::string scoped_name;
  std::uint32_t value = 0;  // on the wire: 0, 1, 2 ...
  std::vector<Annotation> annotations;
  Place place;
};

struct Enumeration {
  std::vector<Enumerator> enumerators;  // at least one
};

struct Alias {
  TypeId aliased = TypeId::none;  // one step; the alias's own type is Definition::type
};

struct Constant {
  TypeId type = TypeId::none;     // may be an alias
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
};

struct Attribute {
  std::string name;
  TypeId type = TypeId::none;
  bool readonly = false;
  std::vector<DefId> get_raises;
  std::vector<DefId> set_raises;  // empty when readonly
  std::vector<Annotation> annotations;
  Place place;
};

struct Interface {
  std::vector<DefId> bases;           // direct, as written
  std::vector<DefId> ancestors;       // all, each once; an interface comes after its own ancestors
  std::vector<DefId> contents;        // nested types, exceptions and constants
  std::vector<Operation> operations;  // its own; inherited ones stand in the ancestors
  std::vector<Attribute> attributes;  // its own
};

// `interface X;` or `struct X;`. Present for each such declaration, also where the definition came before.
struct Forward {
  DefId target = DefId::none;  // an Interface or a Structure, in this model
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
  forward
};

struct Definition {
  std::string name;           // local, without an escaping underscore: may be a C++ keyword
  std::string scoped_name;    // "Plant::Controller", without a leading "::"
  std::string repository_id;  // "IDL:Plant/Controller:1.0"
  DefId scope = DefId::none;  // the Module (this opening) or Interface around it; none at file level
  FileId file = FileId::none;
  TypeId type = TypeId::none;  // interface, structure, enumeration, alias: the type it makes; else none
  std::vector<Annotation> annotations;
  Place place;  // of the name
  std::variant<Module, Interface, Structure, Enumeration, Exception, Alias, Constant, Forward> body;

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
