// Scopes and symbols: which names are declared where, and what they mean. Names that differ only in case collide. So a
// scope uses the lower-case name as its key, and a symbol keeps the spelling.
//
// Threads: plain data of one analysis.
// Invariants: symbols and scopes never move in memory; bases of an interface's scope are complete interfaces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/model/model.h"

namespace corelane::idl {

enum class SymbolKind : std::uint8_t {
  module,
  interface,
  value,
  value_box,
  structure,
  union_,
  enumeration,
  bitmask,
  bitset,
  enumerator,  // or a bit of a bitmask
  exception,
  alias,
  native,
  constant,
  operation,
  attribute,
  factory,
  member,  // of a struct, union, exception or value, or a parameter
  annotation,
  unusable  // refused earlier: its uses cause no further error
};

// Returns the kind with its article: "an interface".
std::string_view article_name(SymbolKind kind);

struct Scope;

// The contents of an annotation's declaration.
struct AnnotationRules {
  struct Parameter {
    std::string name;
    TypeId type = TypeId::none;  // none: refused earlier
    std::optional<Value> default_value;
  };
  std::vector<Parameter> parameters;
  std::uint32_t targets = 0;  // bits of Target; 0: anything
};

struct Symbol {
  SymbolKind kind = SymbolKind::unusable;
  std::string name;
  Span span;  // of the first declaration
  DefId definition =
      DefId::none;                // once defined; of an enumerator its enum, of an operation or attribute the interface
  TypeId type = TypeId::none;     // if it is a type
  std::uint32_t index = 0;        // of an enumerator, operation, attribute or factory, among those of its kind
  std::uint8_t flavour = 0;       // for interfaces the InterfaceKind, for values whether they are abstract
  bool defined = true;            // false: declared forward, or its body is being read
  bool announced = false;         // a module that only a typeprefix has named so far
  Scope* owner = nullptr;         // the scope that declares it
  std::unique_ptr<Scope> inside;  // if it contains names
  std::unique_ptr<AnnotationRules> annotation;
};

struct Scope {
  enum class Kind : std::uint8_t { file, module, interface, members, operation };

  static constexpr std::size_t deepest_inheritance = 500;

  struct Use {
    std::string name;
    Span span;
  };

  Kind kind = Kind::file;
  Scope* parent = nullptr;
  Symbol* symbol = nullptr;  // the symbol whose inside this is; null at file level and for parameters
  std::string own_name;      // local name of that symbol; empty at file level
  std::string path;          // "A::B"; empty at file level
  std::map<std::string, std::unique_ptr<Symbol>> symbols;
  std::map<std::string, Use> used;  // outer names that were used here, so that they cannot be declared here
  std::vector<Scope*> bases;        // if it belongs to an interface, value, struct or bitset
  std::size_t depth = 0;            // steps to the furthest ancestor
  // Operations, attributes and members of all ancestors, by lower-case name. No declaration here may use these names.
  std::map<std::string, const Symbol*> inherited;

  Symbol* find_own(std::string_view name) const;
  void add_base(Scope& base) {
    bases.push_back(&base);
    depth = std::max(depth, base.depth + 1);
  }
  // Returns the scoped name of something that is declared here.
  std::string scoped(std::string_view name) const;
};

// Returns the key of a name in a scope.
std::string lower_case(std::string_view name);

// The names that are reachable from `scope` without qualification and look most like `name`; empty when none is close.
std::string similar_name(const Scope& scope, std::string_view name, bool only_here);
// The built-in type that looks most like `name`; empty when none is close.
std::string_view similar_type(std::string_view name);
// The built-in type for a type of another language that is often written in IDL, such as int32_t of C++, str of Python
// or float64 of ROS; empty for other names.
std::string_view type_for_foreign(std::string_view name);
// Of these words the one that looks most like `name`; empty when none is close.
std::string similar_word(std::string_view name, const std::vector<std::string>& words);

}  // namespace corelane::idl
