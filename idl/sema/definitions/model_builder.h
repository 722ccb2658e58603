// ModelBuilder adds definitions to the model, in the scope that is being read, and connects each with its symbol and
// its type.
//
// Threads: one owner.
// Invariants: ids of definitions ascend in order of declaration.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "idl/ast/ast.h"
#include "idl/model/model.h"
#include "idl/sema/names/names.h"
#include "idl/sema/names/symbol_ids.h"
#include "idl/sema/types/types.h"

namespace corelane::idl {

class ModelBuilder {
 public:
  ModelBuilder(Model& model, TypeTable& types, Names& names, SymbolIds& ids)
      : model_(model), types_(types), names_(names), ids_(ids) {}

  // Returns the definition around the current scope; none at file level.
  DefId scope() const { return scope_; }

  // Adds a definition of that name to the current scope. The symbol refers to it from now on.
  DefId add(Symbol& symbol, const ast::Identifier& name, Annotations annotations);

  // Connects the symbol, its type and its definition. Makes the type if a forward declaration has not made it.
  void make_type(Symbol& symbol, TypeKind kind, DefId id);
  // Makes the type of a symbol that is only declared forward.
  void make_forward_type(Symbol& symbol, TypeKind kind);
  // Returns the symbol whose type was made here; null for other types.
  const Symbol* symbol_of(TypeId type) const;

 private:
  friend class OpenContents;
  friend class OpenDefinition;

  Model& model_;
  TypeTable& types_;
  Names& names_;
  SymbolIds& ids_;
  DefId scope_ = DefId::none;
  std::vector<DefId>* contents_ = nullptr;  // of the current scope
  std::map<TypeId, const Symbol*> symbols_;
};

// Lists in `contents` what is defined during the lifetime of this object.
class OpenContents {
 public:
  OpenContents(ModelBuilder& builder, std::vector<DefId>& contents)
      : builder_(builder), before_(std::exchange(builder.contents_, &contents)) {}
  ~OpenContents() { builder_.contents_ = before_; }
  OpenContents(const OpenContents&) = delete;
  OpenContents& operator=(const OpenContents&) = delete;

 private:
  ModelBuilder& builder_;
  std::vector<DefId>* const before_;
};

// Opens the inside of a definition for its lifetime: its names, its prefixes and its contents.
class OpenDefinition {
 public:
  // Precondition: the symbol has an inside. `file` opens the scope.
  OpenDefinition(ModelBuilder& builder, DefId id, const Symbol& symbol, SourceId file, std::vector<DefId>& contents)
      : builder_(builder),
        outer_(std::exchange(builder.scope_, id)),
        contents_(builder, contents),
        names_(builder.names_, *symbol.inside) {
    builder.ids_.enter(file, symbol);
  }
  ~OpenDefinition() {
    builder_.ids_.leave();
    builder_.scope_ = outer_;
  }
  OpenDefinition(const OpenDefinition&) = delete;
  OpenDefinition& operator=(const OpenDefinition&) = delete;

 private:
  ModelBuilder& builder_;
  const DefId outer_;
  const OpenContents contents_;
  const OpenScope names_;
};

}  // namespace corelane::idl
