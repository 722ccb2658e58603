#include "idl/cxx/spelling/names.h"

#include <algorithm>
#include <array>
#include <span>

#include "idl/cxx/spelling/library_names.h"

namespace corelane::idl::cxx {
namespace {

// Sorted. Keywords of C++20 with the alternative tokens.
constexpr std::string_view keywords[] = {
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};
// Macros of standard headers that a program probably includes together with generated code.
constexpr std::string_view common_macros[] = {"HUGE_VAL", "INFINITY", "NAN", "va_arg", "va_copy", "va_end", "va_start"};
constexpr std::string_view library_definitions[] = {"decode", "encode", "obv", "std", "swap"};
constexpr std::string_view library_namespaces[] = {"CORBA", "IDL", "Messaging", "PortableServer", "corelane"};
constexpr std::string_view skeleton_prefix = "POA_";
constexpr std::string_view exception_members[] = {"what"};
constexpr std::string_view base_functions[] = {"create_for_unmarshal", "shared_from_this", "weak_from_this"};
constexpr std::string_view library_objects[] = {"Object",  // a member of every stub: the name of its base class
                                                "daylight",
                                                "environ",
                                                "getdate_err",
                                                "optarg",
                                                "opterr",
                                                "optind",
                                                "optopt",
                                                "program_invocation_name",
                                                "program_invocation_short_name",
                                                "signgam",
                                                "timezone",
                                                "tzname"};

static_assert(std::ranges::is_sorted(keywords));

template <std::size_t n>
bool has(const std::string_view (&table)[n], std::string_view name) {
  return std::ranges::find(table, name) != std::end(table);
}

bool is_taken(std::string_view name, NameUse use) {
  if (std::ranges::binary_search(keywords, name) || has(common_macros, name) || is_library_macro(name)) return true;
  switch (use) {
    case NameUse::plain:
      return false;
    case NameUse::function:
      return has(base_functions, name);
    case NameUse::definition:
      return has(library_definitions, name);
    case NameUse::outermost:
      return has(library_definitions, name) || has(library_namespaces, name) || name.starts_with(skeleton_prefix) ||
             is_library_global(name);
    case NameUse::exception:
      return has(library_definitions, name) || has(exception_members, name);
    case NameUse::exception_member:
      return has(exception_members, name);
    case NameUse::local:
      return has(library_objects, name);
  }
  return false;
}

}  // namespace

bool is_library_namespace(std::string_view name) { return has(library_namespaces, name); }

std::string escaped(std::string_view name, NameUse use) {
  return is_taken(name, use) ? "_cxx_" + std::string(name) : std::string(name);
}

}  // namespace corelane::idl::cxx
