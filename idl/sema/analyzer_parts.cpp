#include <array>
#include <utility>

#include "idl/sema/analyzer.h"

namespace corelane::idl {
namespace {

static_assert(static_cast<int>(ast::BasicType::void_) == static_cast<int>(TypeKind::void_));
static_assert(static_cast<int>(ast::BasicType::int8) == static_cast<int>(TypeKind::int8));
static_assert(static_cast<int>(ast::BasicType::wide_string) == static_cast<int>(TypeKind::wide_string));

struct SizedInteger {
  std::string_view name;
  TypeKind kind;
};
// Names of types that are no keywords here, since older IDL declares types of these names itself.
constexpr std::array sized_integers = {
    SizedInteger{"int8", TypeKind::int8},   SizedInteger{"uint8", TypeKind::uint8},
    SizedInteger{"int16", TypeKind::int16}, SizedInteger{"uint16", TypeKind::uint16},
    SizedInteger{"int32", TypeKind::int32}, SizedInteger{"uint32", TypeKind::uint32},
    SizedInteger{"int64", TypeKind::int64}, SizedInteger{"uint64", TypeKind::uint64}};

}  // namespace

DefId Analyzer::add(const ast::Identifier& name, const ast::Annotations& notes) {
  const auto id = static_cast<DefId>(model_.definitions.size());
  Definition definition;
  definition.name = name.text;
  definition.scoped_name = names_.current().scoped(name.text);
  definition.repository_id = ids_.make(name.span.source, definition.scoped_name);
  definition.scope = scope_;
  definition.file = static_cast<FileId>(name.span.source);
  definition.annotations = annotations_.check(notes);
  definition.place = place_of(name.span);
  model_.definitions.push_back(std::move(definition));
  contents_->push_back(id);
  return id;
}

// The symbol of a struct or interface that is about to be defined: the one of its forward declaration, or a new one.
Symbol& Analyzer::declare_or_complete(SymbolKind kind, const ast::Identifier& name) {
  Symbol* earlier = names_.current().find_own(name.text);
  const bool completes =
      earlier != nullptr && earlier->kind == kind && earlier->name == name.text && earlier->definition == DefId::none;
  return completes ? *earlier : names_.declare(kind, name);
}

// Joins the symbol, its type and its definition.
void Analyzer::make_type(Symbol& symbol, TypeKind kind, DefId id) {
  if (symbol.type == TypeId::none) symbol.type = types_.named(kind, id);
  model_[symbol.type].definition = id;
  model_[id].type = symbol.type;
  symbol.definition = id;
  by_type_[symbol.type] = &symbol;
}

void Analyzer::add_forward(SymbolKind kind, TypeKind type_kind, const ast::Definition& definition) {
  Symbol* symbol = names_.current().find_own(definition.name.text);
  const bool known = symbol != nullptr && symbol->kind == kind && symbol->name == definition.name.text;
  if (!known) {
    symbol = &names_.declare(kind, definition.name);
    symbol->defined = false;
    symbol->type = types_.named(type_kind, DefId::none);
    by_type_[symbol->type] = symbol;
  }
  const DefId id = add(definition.name, definition.annotations);
  model_[id].body = Forward{};
  forwards_.push_back({id, symbol, definition.name.span, !known});
}

std::vector<Member> Analyzer::members(const std::vector<ast::Member>& sources, const std::string& owner) {
  const OpenScope open(names_, Scope::Kind::members, owner);
  std::vector<Member> result;
  for (const ast::Member& source : sources) {
    const TypeId of = complete_type(source.type);
    const std::vector<Annotation> notes = annotations_.check(source.annotations);
    for (const ast::Identifier& name : source.names) {
      names_.declare(SymbolKind::member, name);
      result.push_back({.name = name.text, .type = of, .annotations = notes, .place = place_of(name.span)});
    }
  }
  return result;
}

// The type that is written; none (reported) when it is none. Only the element of a sequence may be a struct that is not
// complete.
TypeId Analyzer::type(const ast::TypeSpec& spec, bool in_sequence) {
  if (const auto* basic = std::get_if<ast::BasicType>(&spec.node)) return types_.basic(static_cast<TypeKind>(*basic));
  if (const auto* name = std::get_if<ast::ScopedName>(&spec.node)) return named_type(*name, in_sequence);
  const auto* sequence = std::get_if<ast::SequenceOf>(&spec.node);
  if (sequence == nullptr) return TypeId::none;
  const TypeId element = type(*sequence->element, true);  // recursion: bounded by the parser
  return element == TypeId::none ? TypeId::none : types_.sequence(element);
}

TypeId Analyzer::named_type(const ast::ScopedName& name, bool in_sequence) {
  if (name.parts.size() == 1 && !name.absolute)
    for (const SizedInteger& sized : sized_integers)
      if (name.parts[0].text == sized.name && !names_.is_known(name.parts[0].text)) return types_.basic(sized.kind);
  const Symbol* symbol = names_.resolve(name);
  if (symbol == nullptr || symbol->kind == SymbolKind::unusable) return TypeId::none;
  if (symbol->type == TypeId::none) {
    diagnostics_
        .error(name.span,
               quoted(ast::to_string(name)) + " is " + std::string(article_name(symbol->kind)) + ", not a type")
        .note(symbol->span, "declared here");
    return TypeId::none;
  }
  if (symbol->kind == SymbolKind::structure && !symbol->defined && !in_sequence) {
    report_incomplete(*symbol, name.span);
    return TypeId::none;
  }
  return symbol->type;
}

void Analyzer::report_incomplete(const Symbol& symbol, const Span& at) {
  if (&symbol == open_struct_) {
    diagnostics_.error(at, quoted(symbol.name) + " cannot hold itself, except through a sequence");
  } else {
    diagnostics_.error(at, quoted(symbol.name) + " is not defined yet").note(symbol.span, "declared here");
  }
}

// The type of a member: what it holds must be complete, but for the struct that is being read.
TypeId Analyzer::complete_type(const ast::TypeSpec& spec) {
  const TypeId result = type(spec);
  const Symbol* incomplete = result == TypeId::none ? nullptr : incomplete_struct_in(result);
  if (incomplete == nullptr) return result;
  if (incomplete == open_struct_) {
    open_struct_recursive_ = true;
    return result;
  }
  report_incomplete(*incomplete, spec.span);
  return TypeId::none;
}

const Symbol* Analyzer::incomplete_struct_in(TypeId id) const {
  // loop: each step goes to a type that was made earlier
  for (TypeId at = id; at != TypeId::none; at = model_[at].element) {
    if (model_[at].kind != TypeKind::structure) continue;
    const auto found = by_type_.find(at);
    return found != by_type_.end() && !found->second->defined ? found->second : nullptr;
  }
  return nullptr;
}

bool Analyzer::may_be_constant(TypeId id, const Span& at) {
  switch (model_.resolved(id).kind) {
    case TypeKind::sequence:
    case TypeKind::structure:
    case TypeKind::interface:
      diagnostics_.error(at, "a constant cannot be of type " + quoted(types_.name(id)));
      return false;
    default:
      return true;
  }
}

}  // namespace corelane::idl
