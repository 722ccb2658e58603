// Reads structs, exceptions and unions.
#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "idl/sema/analyzer/analyzer.h"

namespace corelane::idl {
namespace {

// Returns how many values a discriminator has; nothing if there are too many for labels to cover them all.
std::optional<std::uint64_t> count_of_values(const Model& model, TypeId id) {
  const Type& type = model.resolved(id);
  switch (type.kind) {
    case TypeKind::boolean:
      return 2;
    case TypeKind::character:
    case TypeKind::octet:
    case TypeKind::int8:
    case TypeKind::uint8:
      return 256;
    case TypeKind::int16:
    case TypeKind::uint16:
    case TypeKind::wide_character:
      return 65536;
    case TypeKind::enumeration:
      return std::get<Enumeration>(model[type.definition].body).enumerators.size();
    default:
      return std::nullopt;
  }
}

// Returns the n-th value of a discriminator: from 0 up, then from -1 down if it is signed.
Value nth_value(const Model& model, TypeId id, std::uint64_t n) {
  const Type& type = model.resolved(id);
  const auto signed_value = [&](std::uint64_t positive) {
    return Value{n < positive ? static_cast<std::int64_t>(n) : -static_cast<std::int64_t>(n - positive) - 1};
  };
  switch (type.kind) {
    case TypeKind::boolean:
      return n != 0;
    case TypeKind::character:
      return static_cast<char>(static_cast<unsigned char>(n));
    case TypeKind::wide_character:
      return static_cast<char32_t>(n);
    case TypeKind::enumeration:
      return EnumeratorRef{type.definition, static_cast<std::uint32_t>(n)};
    case TypeKind::int8:
      return signed_value(1u << 7);
    case TypeKind::int16:
      return signed_value(1u << 15);
    case TypeKind::int32:
    case TypeKind::int64:
      return static_cast<std::int64_t>(n);
    default:
      return n;
  }
}

// Converts a label to a number that sorts, and that matches the values of nth_value().
struct LabelOrder {
  std::int64_t operator()(bool value) const { return value ? 1 : 0; }
  std::int64_t operator()(char value) const { return static_cast<unsigned char>(value); }
  std::int64_t operator()(char32_t value) const { return static_cast<std::int64_t>(value); }
  std::int64_t operator()(std::int64_t value) const { return value; }
  std::int64_t operator()(std::uint64_t value) const { return static_cast<std::int64_t>(value); }
  std::int64_t operator()(const EnumeratorRef& value) const { return value.index; }
  template <typename T>
  std::int64_t operator()(const T&) const {
    return 0;  // no discriminator has this type
  }
};

std::int64_t order_of(const Value& label) { return std::visit(LabelOrder{}, label); }

}  // namespace

void Analyzer::visit(const ast::Structure& structure, const ast::Definition& definition) {
  Symbol& symbol = forwards_.declare_or_complete(SymbolKind::structure, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::structure);
  analysis_.builder.make_type(symbol, TypeKind::structure, id);
  forwards_.check_file(symbol, id);
  symbol.defined = false;
  Structure body;
  if (structure.base) body.base = base_structure(*structure.base, symbol);
  body.recursive = aggregates_.read_body(symbol, id, definition.keyword.source, body.contents,
                                         [&] { members_.read(structure.members, body.members); });
  for (const Member& member : body.members) locals_.add_member(symbol.type, member.type);
  Extent extent;
  for (const Member& member : body.members)
    if (member.type != TypeId::none) extent.add(analysis_.extents.of(member.type));
  if (body.base != DefId::none) {
    locals_.add_member(symbol.type, analysis_.model[body.base].type);
    Extent inherited = analysis_.extents.of(analysis_.model[body.base].type);
    --inherited.depth;  // the base is no member
    extent.add(inherited);
  }
  analysis_.extents.define(symbol.type,
                           check_extent(extent, definition.name.span, analysis_.diagnostics) ? extent : Extent{});
  analysis_.model[id].body = std::move(body);
}

void Analyzer::visit(const ast::ForwardStructure&, const ast::Definition& definition) {
  forwards_.add(SymbolKind::structure, TypeKind::structure, Target::structure, 0, definition);
}

DefId Analyzer::base_structure(const ast::ScopedName& name, Symbol& derived) {
  const Symbol* found =
      inheritance_.base(name, SymbolKind::structure, analysis_.names.inside(derived, Scope::Kind::members));
  if (found == nullptr) return DefId::none;
  Scope& scope = *derived.inside;
  scope.add_base(*found->inside);
  inheritance_.inherit_names(*found, scope, name.span);
  return found->definition;
}

void Analyzer::visit(const ast::Exception& exception, const ast::Definition& definition) {
  Symbol& symbol = analysis_.names.declare(SymbolKind::exception, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::exception);
  Exception body;
  aggregates_.read_body(symbol, id, definition.keyword.source, body.contents,
                        [&] { members_.read(exception.members, body.members); });
  for (const Member& member : body.members) locals_.add_member(symbol, member.type);
  analysis_.model[id].body = std::move(body);
}

// Unions.

void Analyzer::visit(const ast::ForwardUnion&, const ast::Definition& definition) {
  forwards_.add(SymbolKind::union_, TypeKind::union_, Target::union_, 0, definition);
}

void Analyzer::visit(const ast::Union& source, const ast::Definition& definition) {
  Symbol& symbol = forwards_.declare_or_complete(SymbolKind::union_, definition.name);
  const DefId id = analysis_.add(symbol, definition, Target::union_);
  analysis_.builder.make_type(symbol, TypeKind::union_, id);
  forwards_.check_file(symbol, id);
  Union body;
  body.recursive = aggregates_.read_body(symbol, id, definition.keyword.source, body.contents, [&] {
    body.discriminator = types_.read(source.discriminator);
    if (body.discriminator != TypeId::none && !may_discriminate(body.discriminator, source.discriminator.span))
      body.discriminator = TypeId::none;
    body.discriminator_annotations =
        analysis_.annotations.check(source.discriminator_annotations, Target::discriminator);
    for (const ast::Branch& item : source.branches) body.branches.push_back(branch(item, body.discriminator));
  });
  Extent extent;
  for (const UnionBranch& item : body.branches) {
    locals_.add_member(symbol.type, item.member.type);
    if (item.member.type != TypeId::none) extent.cover(analysis_.extents.of(item.member.type));
  }
  analysis_.extents.define(symbol.type, extent);
  if (body.discriminator != TypeId::none) check_labels(source, body);
  analysis_.model[id].body = std::move(body);
}

bool Analyzer::may_discriminate(TypeId id, const Span& at) {
  switch (analysis_.model.resolved(id).kind) {
    case TypeKind::boolean:
    case TypeKind::octet:
    case TypeKind::character:
    case TypeKind::wide_character:
    case TypeKind::int8:
    case TypeKind::uint8:
    case TypeKind::int16:
    case TypeKind::uint16:
    case TypeKind::int32:
    case TypeKind::uint32:
    case TypeKind::int64:
    case TypeKind::uint64:
    case TypeKind::enumeration:
      return true;
    default:
      analysis_.diagnostics.error(at, "a union cannot switch on " + quoted(analysis_.types.name(id)) +
                                          ", only on integers, characters, booleans, octets and enums");
      return false;
  }
}

UnionBranch Analyzer::branch(const ast::Branch& source, TypeId discriminator) {
  UnionBranch result;
  for (const ast::Label& label : source.labels) {
    if (label.value == nullptr) {
      result.is_default = true;
    } else if (discriminator != TypeId::none) {
      if (auto value = analysis_.constants.evaluate(*label.value, discriminator))
        result.labels.push_back(*std::move(value));
    }
  }
  const MemberNotes notes = members_.read_notes(source.annotations, Target::branch);
  const TypeId type = types_.read_member(source.type, notes.all);
  result.member = members_.read_declarator(source.declarator, type, notes);
  analysis_.names.declare(SymbolKind::member, source.declarator.name);
  return result;
}

// Handles a `default` that can never apply. It has no effect if its branch has other labels, too; otherwise it is an
// error.
void Analyzer::drop_default(const Span& at, Union& body) {
  const std::string covered =
      "`default` can never apply: the labels cover all values of " + quoted(analysis_.types.name(body.discriminator));
  const auto branch = std::ranges::find_if(body.branches, &UnionBranch::is_default);
  if (branch == body.branches.end() || branch->labels.empty()) {
    analysis_.diagnostics.error(at, covered);
    return;
  }
  analysis_.diagnostics.warning(Warning::lenient, at, covered + " (its other labels choose this branch)");
  branch->is_default = false;
}

// Checks that each label is used once, that there is at most one default, and that there is none if the labels cover
// everything.
void Analyzer::check_labels(const ast::Union& source, Union& body) {
  std::map<std::int64_t, Span> seen;
  std::optional<Span> fallback;
  for (std::size_t i = 0; i < source.branches.size(); ++i) {
    std::size_t at = 0;
    const std::vector<Value>& values = body.branches[i].labels;
    for (const ast::Label& label : source.branches[i].labels) {
      if (label.value == nullptr) {
        if (fallback)
          analysis_.diagnostics.error(label.span, "a union has one `default`").note(*fallback, "the first is here");
        if (!fallback) fallback = label.span;
        continue;
      }
      if (at == values.size()) return;  // a label was refused
      const auto [entry, is_new] = seen.try_emplace(order_of(values[at++]), label.span);
      if (!is_new)
        analysis_.diagnostics.error(label.span, "this label stands twice").note(entry->second, "the first is here");
    }
  }
  const std::optional<std::uint64_t> all = count_of_values(analysis_.model, body.discriminator);
  if (all && seen.size() == *all) {
    if (fallback) drop_default(*fallback, body);
    return;
  }
  // bound: one more than the number of labels
  for (std::uint64_t n = 0;; ++n) {
    Value candidate = nth_value(analysis_.model, body.discriminator, n);
    if (seen.count(order_of(candidate)) != 0) continue;
    body.unlabelled = std::move(candidate);
    return;
  }
}

}  // namespace corelane::idl
