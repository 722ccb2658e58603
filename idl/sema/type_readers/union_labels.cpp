#include "idl/sema/type_readers/union_labels.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

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

// Handles a `default` that can never apply. It has no effect if its branch has other labels, too; otherwise it is an
// error.
void drop_default(const Analysis& analysis, const Span& at, Union& body) {
  const std::string covered =
      "`default` can never apply: the labels cover all values of " + quoted(analysis.types.name(body.discriminator));
  const auto branch = std::ranges::find_if(body.branches, &UnionBranch::is_default);
  if (branch == body.branches.end() || branch->labels.empty()) {
    analysis.diagnostics.error(at, covered);
    return;
  }
  analysis.diagnostics.warning(Warning::lenient, at, covered + " (its other labels choose this branch)");
  branch->is_default = false;
}

}  // namespace

bool check_discriminator(const Analysis& analysis, TypeId type, const Span& at) {
  switch (analysis.model.resolved(type).kind) {
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
      analysis.diagnostics.error(at, "a union cannot switch on " + quoted(analysis.types.name(type)) +
                                         ", only on integers, characters, booleans, octets and enums");
      return false;
  }
}

void check_labels(const Analysis& analysis, const ast::Union& source, Union& body) {
  std::map<std::int64_t, Span> seen;
  std::optional<Span> fallback;
  for (std::size_t i = 0; i < source.branches.size(); ++i) {
    std::size_t at = 0;
    const std::vector<Value>& values = body.branches[i].labels;
    for (const ast::Label& label : source.branches[i].labels) {
      if (label.value == nullptr) {
        if (fallback)
          analysis.diagnostics.error(label.span, "a union has one `default`").note(*fallback, "the first is here");
        if (!fallback) fallback = label.span;
        continue;
      }
      if (at == values.size()) return;  // a label was refused
      const auto [entry, is_new] = seen.try_emplace(order_of(values[at++]), label.span);
      if (!is_new)
        analysis.diagnostics.error(label.span, "this label stands twice").note(entry->second, "the first is here");
    }
  }
  const std::optional<std::uint64_t> all = count_of_values(analysis.model, body.discriminator);
  if (all && seen.size() == *all) {
    if (fallback) drop_default(analysis, *fallback, body);
    return;
  }
  // bound: one more than the number of labels
  for (std::uint64_t n = 0;; ++n) {
    Value candidate = nth_value(analysis.model, body.discriminator, n);
    if (seen.count(order_of(candidate)) != 0) continue;
    body.unlabelled = std::move(candidate);
    return;
  }
}

}  // namespace corelane::idl
