#include "idl/sema/names/scope.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

namespace corelane::idl {
namespace {

// Levenshtein distance, given up above `limit`. Loops: product of the two lengths, which callers keep small.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (a.size() > b.size() + limit || b.size() > a.size() + limit) return limit + 1;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

struct Candidate {
  std::string name;
  std::size_t distance;
};

void consider(const Scope& scope, const std::string& wanted, std::set<const Scope*>& seen, Candidate& best) {
  if (!seen.insert(&scope).second) return;
  for (const auto& [key, symbol] : scope.symbols) {
    const std::size_t found = distance(key, wanted, best.distance);
    if (found < best.distance) best = {symbol->name, found};
  }
  for (const Scope* base : scope.bases) consider(*base, wanted, seen, best);
}

}  // namespace

std::string_view article_name(SymbolKind kind) {
  constexpr std::array<std::string_view, 20> names = {
      "a module",     "an interface", "a valuetype",   "a value box",  "a struct",      "a union",         "an enum",
      "a bitmask",    "a bitset",     "an enumerator", "an exception", "a type",        "a native type",   "a constant",
      "an operation", "an attribute", "a factory",     "a member",     "an annotation", "an unusable name"};
  static_assert(names.size() == static_cast<std::size_t>(SymbolKind::unusable) + 1);
  return names[static_cast<std::size_t>(kind)];
}

Symbol* Scope::find_own(std::string_view name) const {
  const auto found = symbols.find(lower_case(name));
  return found == symbols.end() ? nullptr : found->second.get();
}

std::string Scope::scoped(std::string_view name) const {
  std::string result = path;
  if (!result.empty()) result += "::";
  result.append(name);
  return result;
}

std::string lower_case(std::string_view name) {
  std::string result(name);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string similar_name(const Scope& scope, std::string_view name, bool only_here) {
  constexpr std::size_t longest = 64;
  if (name.size() < 2 || name.size() > longest) return {};
  // At most a third of the letters wrong, or two, but never all.
  const std::size_t most = std::min(std::max<std::size_t>(2, name.size() / 3), name.size() - 1);
  Candidate best{{}, most + 1};
  const std::string wanted = lower_case(name);
  std::set<const Scope*> seen;
  consider(scope, wanted, seen, best);
  for (const Scope* outer = scope.parent; outer != nullptr && !only_here; outer = outer->parent)
    consider(*outer, wanted, seen, best);
  return best.name;
}

std::string_view similar_type(std::string_view name) {
  constexpr std::array<std::string_view, 15> types = {"any",   "boolean", "char",   "double",   "float",
                                                      "fixed", "long",    "Object", "octet",    "sequence",
                                                      "short", "string",  "wchar",  "unsigned", "wstring"};
  constexpr std::size_t longest = 9;
  if (name.size() < 3 || name.size() > longest) return {};
  std::string_view best;
  std::size_t least = name.size() / 3 + 1;  // the declared names' rule would take `gone` for `long`
  for (const std::string_view type : types) {
    const std::size_t found = distance(lower_case(type), lower_case(name), least);
    if (found < least) best = type, least = found;
  }
  return best;
}

std::string_view type_for_foreign(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> types = {{
      {"bool", "boolean"},
      {"byte", "octet"},
      {"bytes", "sequence<octet>"},
      {"dict", "map<K, V>"},
      {"float32", "float"},
      {"float64", "double"},
      {"int", "long"},
      {"int8_t", "int8"},
      {"int16_t", "short"},
      {"int32_t", "long"},
      {"int64_t", "long long"},
      {"list", "sequence<T>"},
      {"sfixed32", "long"},
      {"sfixed64", "long long"},
      {"sint32", "long"},
      {"sint64", "long long"},
      {"size_t", "unsigned long long"},
      {"str", "string"},
      {"uint8_t", "octet"},
      {"uint16_t", "unsigned short"},
      {"uint32_t", "unsigned long"},
      {"uint64_t", "unsigned long long"},
      {"vector", "sequence<T>"},
  }};
  const auto found = std::ranges::find(types, name, &std::pair<std::string_view, std::string_view>::first);
  return found == types.end() ? std::string_view() : found->second;
}

std::string similar_word(std::string_view name, const std::vector<std::string>& words) {
  std::string best;
  std::size_t least = name.size() / 3 + 1;
  for (const std::string& word : words) {
    const std::size_t found = distance(word, name, least);
    if (found < least) best = word, least = found;
  }
  return best;
}

}  // namespace corelane::idl
