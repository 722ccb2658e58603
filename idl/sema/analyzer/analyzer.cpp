#include "idl/sema/analyzer/analyzer.h"

#include <algorithm>
#include <utility>

#include "idl/sema/types/endless.h"

namespace corelane::idl {

Model Analyzer::run(const ast::Specification& specification) {
  copy_files();
  std::vector<DefId> contents;
  walk(specification.definitions, contents);
  ids_.finish();
  finish_forwards();
  check_endless();
  model_.contents = std::move(contents);
  return std::move(model_);
}

void Analyzer::copy_files() {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[static_cast<SourceId>(i)];
    File file{.path = source.path, .include_path = source.include_path, .includes = {}};
    for (const SourceId included : source.includes) file.includes.push_back(static_cast<FileId>(included));
    file.include_lines = source.include_lines;
    file.is_main = i == 0;
    file.generates_code = !source.embedded && !source.is_part;
    model_.files.push_back(std::move(file));
  }
}

// Visits each definition. New definitions of the model go to `contents`.
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
  inside.used.clear();  // each opening starts without uses

  Module body;
  const DefId outer = scope_;
  const SourceId file = definition.keyword.source;
  // A module of the compiler's own files that only declares annotations has nothing for a back end.
  const bool emits =
      file == SourceId::none || !sources_[file].embedded || std::ranges::any_of(module.body, [](const auto& one) {
        return !std::holds_alternative<ast::AnnotationDeclaration>(one->node);
      });
  if (emits) {
    body.reopened = symbol->definition != DefId::none;
    scope_ = add(*symbol, definition.name, annotations_.check(definition.annotations, Target::module));
  }
  const DefId self = scope_;
  ids_.enter(file, *symbol);
  {
    const OpenScope open(names_, inside);
    walk(module.body, body.contents);
  }
  ids_.leave();
  scope_ = outer;
  if (emits) model_[self].body = std::move(body);
}

void Analyzer::visit(const ast::Typedef& source, const ast::Definition& definition) {
  const TypeId named = type(source.type);
  const Annotations notes =
      named == TypeId::none ? Annotations() : annotations_.check(definition.annotations, Target::alias);
  for (const ast::Declarator& declarator : source.declarators)
    make_alias(array_of(named, declarator), declarator.name, notes);
}

void Analyzer::make_alias(TypeId aliased, const ast::Identifier& name, const Annotations& notes) {
  Symbol& symbol = names_.declare(aliased == TypeId::none ? SymbolKind::unusable : SymbolKind::alias, name);
  if (aliased == TypeId::none) return;
  add(symbol, name, notes);
  symbol.type = types_.alias(symbol.definition, aliased);
  model_[symbol.definition].type = symbol.type;
  model_[symbol.definition].body = Alias{aliased};
}

void Analyzer::visit(const ast::Native&, const ast::Definition& definition) {
  Symbol& symbol = names_.declare(SymbolKind::native, definition.name);
  const DefId id = add(symbol, definition.name, annotations_.check(definition.annotations, Target::native));
  make_type(symbol, TypeKind::native, id);
  model_[id].body = Native{};
}

void Analyzer::visit(const ast::Constant& constant, const ast::Definition& definition) {
  const auto* fixed = std::get_if<ast::FixedOf>(&constant.type.node);
  note_anonymous(constant.type);
  const bool any_fixed = fixed != nullptr && fixed->digits == nullptr;
  Constant body{.type = any_fixed ? types_.basic(TypeKind::fixed) : type(constant.type), .value = {}};
  std::optional<Value> value;
  if (body.type != TypeId::none && may_be_constant(body.type, constant.type.span)) {
    const std::size_t errors = diagnostics_.errors();
    value = constants_.evaluate(*constant.value, body.type);
    if (diagnostics_.errors() == errors) body.refers_to = constants_.named_constant(*constant.value);
  }
  Symbol& symbol = names_.declare(value ? SymbolKind::constant : SymbolKind::unusable, definition.name);
  if (!value) return;
  if (any_fixed) {
    const auto& decimal = std::get<Decimal>(*value);
    const auto digits = std::max(static_cast<std::uint16_t>(decimal.digits.size()), decimal.scale);
    body.type = types_.anonymous({.kind = TypeKind::fixed, .digits = digits, .scale = decimal.scale});
  }
  body.value = *std::move(value);
  const DefId id = add(symbol, definition.name, annotations_.check(definition.annotations, Target::constant));
  model_[id].body = std::move(body);
}

// Types inside the declaration belong to the annotation, so they are in no list of contents.
void Analyzer::visit(const ast::AnnotationDeclaration& declaration, const ast::Definition& definition) {
  const auto declare = [&] {
    Symbol& symbol = names_.declare(SymbolKind::annotation, definition.name);
    std::vector<DefId> unlisted;
    Scope& inside = names_.inside(symbol, Scope::Kind::module);
    inside.own_name.clear();  // @value has a parameter `value`
    const OpenScope open(names_, inside);
    walk(declaration.body, unlisted);
    std::vector<TypeId> types;
    for (const auto& parameter : declaration.parameters) types.push_back(type(parameter.type));
    symbol.annotation = annotations_.rules(declaration, types, definition.annotations);
  };
  if (!declaration.standard) return declare();
  const OpenScope open(names_, names_.standard_scope());
  declare();
}

void Analyzer::visit(const ast::Import& import, const ast::Definition&) {
  const Symbol* symbol = names_.resolve(import.name);  // only #include reads files
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable || symbol->inside != nullptr) return;
  report_kind(diagnostics_, import.name, *symbol, "a module, interface or valuetype");
}

void Analyzer::visit(const ast::IdDirective& directive, const ast::Definition& definition) {
  ids_.apply(directive, definition.keyword);
}

// Connects forward declarations with their definitions. A type that is only declared is an error at the end, except for
// interfaces and valuetypes. References to these need no definition, and another file may have it.
void Analyzer::finish_forwards() {
  for (const ForwardUse& use : forwards_) {
    const Symbol& symbol = *use.symbol;
    if (symbol.defined) {
      model_[use.definition].body = Forward{symbol.definition};
      if (symbol.definition != DefId::none)
        model_[use.definition].repository_id = model_[symbol.definition].repository_id;
      model_[use.definition].type = symbol.type;
      continue;
    }
    model_[use.definition].type = symbol.type;
    if (symbol.kind == SymbolKind::interface)
      std::get<Forward>(model_[use.definition].body).kind = static_cast<InterfaceKind>(symbol.flavour);
    if (!use.is_first) continue;
    const std::string message = quoted(symbol.name) + " is declared here and never defined";
    if (symbol.kind == SymbolKind::interface || symbol.kind == SymbolKind::value) {
      model_[symbol.type].definition = use.definition;
      diagnostics_.warning(Warning::forward, use.span, message);
    } else {
      diagnostics_.error(use.span, message);
    }
  }
}

// Reports types that have no finite value, since no value of them could ever be sent.
void Analyzer::check_endless() {
  if (diagnostics_.errors() != 0) return;
  for (const Endless& endless : endless_members(model_)) {
    const Place& place = endless.member->place;
    const std::string& held = model_[endless.held].name;
    diagnostics_.error(sources_.span(static_cast<SourceId>(place.file), place.line, place.column, place.length),
                       "every " + quoted(held) + " would hold another " + quoted(held) +
                           ", without end; make this member `@external @optional` or a `sequence<" + held + ", 1>`");
  }
}

}  // namespace corelane::idl
