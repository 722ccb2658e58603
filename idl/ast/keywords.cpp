#include "idl/ast/keywords.h"

#include <algorithm>
#include <array>

namespace corelane::idl {
namespace {

constexpr std::array<std::string_view, 53> keywords = {
    "abstract",   "any",    "attribute", "boolean",   "case",      "char",   "const",       "context",  "custom",
    "default",    "double", "enum",      "exception", "factory",   "FALSE",  "fixed",       "float",    "getraises",
    "import",     "in",     "inout",     "interface", "local",     "long",   "module",      "native",   "Object",
    "octet",      "oneway", "out",       "private",   "public",    "raises", "readonly",    "sequence", "setraises",
    "short",      "string", "struct",    "supports",  "switch",    "TRUE",   "truncatable", "typedef",  "typeid",
    "typeprefix", "union",  "unsigned",  "ValueBase", "valuetype", "void",   "wchar",       "wstring",
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::string_view keyword_like(std::string_view word) {
  for (const std::string_view keyword : keywords)
    if (same_but_case(word, keyword)) return keyword;
  return {};
}

bool is_late_keyword(std::string_view keyword) {
  constexpr std::array<std::string_view, 14> late = {"abstract",    "custom",  "factory",    "getraises", "import",
                                                     "local",       "private", "public",     "setraises", "supports",
                                                     "truncatable", "typeid",  "typeprefix", "valuetype"};
  return std::find(late.begin(), late.end(), keyword) != late.end();
}

}  // namespace corelane::idl
