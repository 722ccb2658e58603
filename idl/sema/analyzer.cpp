#include "idl/sema/analyzer.h"

#include <utility>

#include "idl/sema/sema.h"

namespace corelane::idl {

Model analyze(const ast::Specification& specification, const SourceMap& sources, Diagnostics& diagnostics) {
  return Analyzer(sources, diagnostics).run(specification);
}

Model Analyzer::run(const ast::Specification& specification) {
  copy_files();
  std::vector<DefId> contents;
  walk(specification.definitions, contents);
  finish_forwards();
  model_.contents = std::move(contents);
  return std::move(model_);
}

void Analyzer::copy_files() {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[static_cast<SourceId>(i)];
    File file{.path = source.path, .include_path = source.include_path, .includes = {}};
    for (const SourceId included : source.includes) file.includes.push_back(static_cast<FileId>(included));
    file.is_main = i == 0;
    file.generates_code = !source.embedded;
    model_.files.push_back(std::move(file));
  }
}

// Visits each definition; those that it adds go to `contents`.
void Analyzer::walk(const ast::Definitions& definitions, std::vector<DefId>& contents) {
  std::vector<DefId>* const before = std::exchange(contents_, &contents);
  for (const auto& definition : definitions)
    std::visit([&](const auto& node) { visit(node, *definition); }, definition->node);
  contents_ = before;
}

void Analyzer::visit(const ast::Module& module, const ast::Definition& definition) {
  Symbol* symbol = names_.current().find_own(definition.name.text);
  const bool reopens = symbol != nullptr && symbol->kind == SymbolKind::module && symbol->name == definition.name.text;
  if (!reopens) symbol = &names_.declare(SymbolKind::module, definition.name);
  Scope& inside = names_.inside(*symbol, Scope::Kind::module);
  inside.used.clear();  // each opening starts afresh

  Module body;
  const DefId outer = scope_;
  const SourceId file = definition.keyword.source;
  const bool emits = file == SourceId::none || !sources_[file].embedded;
  if (emits) {
    body.reopened = symbol->definition != DefId::none;
    scope_ = symbol->definition = add(definition.name, definition.annotations);
  }
  const DefId self = scope_;
  ids_.enter(file);
  {
    const OpenScope open(names_, inside);
    walk(module.body, body.contents);
  }
  ids_.leave();
  scope_ = outer;
  if (emits) model_[self].body = std::move(body);
}

void Analyzer::visit(const ast::Structure& structure, const ast::Definition& definition) {
  Symbol& symbol = declare_or_complete(SymbolKind::structure, definition.name);
  const DefId id = add(definition.name, definition.annotations);
  make_type(symbol, TypeKind::structure, id);
  symbol.defined = false;
  open_struct_ = &symbol;
  open_struct_recursive_ = false;
  Structure body;
  body.members = members(structure.members, definition.name.text);
  body.recursive = open_struct_recursive_;
  open_struct_ = nullptr;
  symbol.defined = true;
  model_[id].body = std::move(body);
}

void Analyzer::visit(const ast::ForwardStructure&, const ast::Definition& definition) {
  add_forward(SymbolKind::structure, TypeKind::structure, definition);
}

void Analyzer::visit(const ast::Exception& exception, const ast::Definition& definition) {
  Symbol& symbol = names_.declare(SymbolKind::exception, definition.name);
  symbol.definition = add(definition.name, definition.annotations);
  Exception body{members(exception.members, definition.name.text)};
  model_[symbol.definition].body = std::move(body);
}

void Analyzer::visit(const ast::Enumeration& enumeration, const ast::Definition& definition) {
  Symbol& symbol = names_.declare(SymbolKind::enumeration, definition.name);
  const DefId id = add(definition.name, definition.annotations);
  make_type(symbol, TypeKind::enumeration, id);
  Enumeration body;
  for (const ast::Enumerator& source : enumeration.enumerators) {
    Symbol& enumerator = names_.declare(SymbolKind::enumerator, source.name);
    enumerator.definition = id;
    enumerator.index = static_cast<std::uint32_t>(body.enumerators.size());
    body.enumerators.push_back({.name = source.name.text,
                                .scoped_name = names_.current().scoped(source.name.text),
                                .value = enumerator.index,
                                .annotations = annotations_.check(source.annotations),
                                .place = place_of(source.name.span)});
  }
  model_[id].body = std::move(body);
}

void Analyzer::visit(const ast::Typedef& source, const ast::Definition& definition) {
  const TypeId aliased = type(source.type);
  const auto declare = [&](const ast::Identifier& name) {
    Symbol& symbol = names_.declare(aliased == TypeId::none ? SymbolKind::unusable : SymbolKind::alias, name);
    if (aliased == TypeId::none) return;
    symbol.definition = add(name, definition.annotations);
    symbol.type = types_.alias(symbol.definition, aliased);
    model_[symbol.definition].type = symbol.type;
    model_[symbol.definition].body = Alias{aliased};
  };
  declare(definition.name);
  for (const ast::Identifier& name : source.more) declare(name);
}

void Analyzer::visit(const ast::Constant& constant, const ast::Definition& definition) {
  const TypeId type_id = type(constant.type);
  std::optional<Value> value;
  Constant body{.type = type_id, .value = {}};
  if (type_id != TypeId::none && may_be_constant(type_id, constant.type.span)) {
    const std::size_t errors = diagnostics_.errors();
    value = constants_.evaluate(*constant.value, type_id);
    if (diagnostics_.errors() == errors) body.refers_to = constants_.named_constant(*constant.value);
  }
  Symbol& symbol = names_.declare(value ? SymbolKind::constant : SymbolKind::unusable, definition.name);
  if (!value) return;
  body.value = *std::move(value);
  symbol.definition = add(definition.name, definition.annotations);
  model_[symbol.definition].body = std::move(body);
}

void Analyzer::visit(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition) {
  names_.declare(SymbolKind::annotation, definition.name).annotation = &declaration;
}

void Analyzer::visit(const ast::Unsupported&, const ast::Definition& definition) {
  names_.declare(SymbolKind::unusable, definition.name);
}

void Analyzer::visit(const ast::Pragma& pragma, const ast::Definition& definition) {
  if (pragma.kind == ast::Pragma::Kind::prefix) {
    ids_.set_prefix(definition.keyword.source, pragma.argument, names_.current().path);
    return;
  }
  const Symbol* symbol = names_.resolve(pragma.target);
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable) return;
  if (symbol->definition == DefId::none || symbol->kind == SymbolKind::enumerator) {
    diagnostics_.error(definition.keyword, quoted(symbol->name) + " has no repository id here");
    return;
  }
  std::string& id = model_[symbol->definition].repository_id;
  if (pragma.kind == ast::Pragma::Kind::id) {
    if (pragma.argument.find(':') == std::string::npos)
      diagnostics_.error(definition.keyword, "a repository id has the form \"format:text\"");
    id = pragma.argument;
  } else {
    id = id.substr(0, id.rfind(':') + 1) + pragma.argument;
  }
}

void Analyzer::finish_forwards() {
  for (const ForwardUse& use : forwards_) {
    if (use.symbol->defined) {
      model_[use.definition].body = Forward{use.symbol->definition};
      model_[use.definition].repository_id = model_[use.symbol->definition].repository_id;
      model_[use.definition].type = use.symbol->type;
    } else if (use.is_first) {
      diagnostics_.error(use.span, quoted(use.symbol->name) + " is declared here and never defined");
    }
  }
}

}  // namespace corelane::idl
