#include "idl/sema/definitions/model_builder.h"

#include "idl/sema/annotations/annotations.h"

namespace corelane::idl {

DefId ModelBuilder::add(Symbol& symbol, const ast::Identifier& name, Annotations annotations) {
  const auto id = static_cast<DefId>(model_.definitions.size());
  Definition definition;
  definition.name = name.text;
  definition.scoped_name = names_.current().scoped(name.text);
  definition.repository_id = ids_.make(name);
  definition.scope = scope_;
  definition.file = scope_ == DefId::none ? static_cast<FileId>(name.span.source) : model_[scope_].file;
  definition.annotations = std::move(annotations);
  definition.place = place_of(name.span);
  model_.definitions.push_back(std::move(definition));
  contents_->push_back(id);
  symbol.definition = id;
  ids_.define(symbol, name);
  return id;
}

void ModelBuilder::make_type(Symbol& symbol, TypeKind kind, DefId id) {
  if (model_[id].scoped_name == "CORBA::TypeCode") {
    symbol.type = model_[id].type = types_.basic(TypeKind::type_code);
    return;
  }
  if (symbol.type == TypeId::none) symbol.type = types_.named(kind, id);
  model_[symbol.type].definition = id;
  model_[id].type = symbol.type;
  symbols_[symbol.type] = &symbol;
}

void ModelBuilder::make_forward_type(Symbol& symbol, TypeKind kind) {
  symbol.type = types_.named(kind, DefId::none);
  symbols_[symbol.type] = &symbol;
}

const Symbol* ModelBuilder::symbol_of(TypeId type) const {
  const auto found = symbols_.find(type);
  return found == symbols_.end() ? nullptr : found->second;
}

}  // namespace corelane::idl
