#include "idl/model/names.h"

#include <array>

namespace corelane::idl {
namespace {

// Names of the kinds up to wide_string, which need nothing but their names.
constexpr std::array<std::string_view, 22> plain_names = {"void",
                                                          "boolean",
                                                          "octet",
                                                          "char",
                                                          "wchar",
                                                          "int8",
                                                          "uint8",
                                                          "short",
                                                          "unsigned short",
                                                          "long",
                                                          "unsigned long",
                                                          "long long",
                                                          "unsigned long long",
                                                          "float",
                                                          "double",
                                                          "long double",
                                                          "any",
                                                          "Object",
                                                          "ValueBase",
                                                          "CORBA::TypeCode",
                                                          "string",
                                                          "wstring"};
static_assert(plain_names.size() == static_cast<std::size_t>(TypeKind::fixed));

std::string in_angles(std::string head, std::string inside, std::uint64_t bound) {
  head.append("<").append(inside);
  if (bound != 0) head.append(inside.empty() ? "" : ", ").append(std::to_string(bound));
  return head.append(">");
}

// For long a[2][3]: the outer dimension comes first.
std::string array_name(const Model& model, const Type& type) {
  std::string dimensions;
  const Type* at = &type;
  // bound: the dimensions
  for (; at->kind == TypeKind::array; at = &model[at->element]) {
    dimensions.append("[").append(std::to_string(at->bound)).append("]");
    if (model[at->element].kind != TypeKind::array) return type_name(model, at->element) + dimensions;
  }
  return dimensions;
}

}  // namespace

std::string type_name(const Model& model, TypeId id) {
  // recursion: bounded by the parser's limit on nested types; a name ends it
  const Type& type = model[id];
  switch (type.kind) {
    case TypeKind::fixed:
      if (type.digits == 0) return "fixed";
      return in_angles("fixed", std::to_string(type.digits) + ", " + std::to_string(type.scale), 0);
    case TypeKind::sequence:
      return in_angles("sequence", type_name(model, type.element), type.bound);
    case TypeKind::map:
      return in_angles("map", type_name(model, type.key) + ", " + type_name(model, type.element), type.bound);
    case TypeKind::array:
      return array_name(model, type);
    case TypeKind::external:
      return type_name(model, type.element);
    default:
      break;
  }
  if (static_cast<std::size_t>(type.kind) < plain_names.size()) {
    std::string name(plain_names[static_cast<std::size_t>(type.kind)]);
    return type.bound == 0 ? name : in_angles(std::move(name), {}, type.bound);
  }
  return type.definition == DefId::none ? "a forward declaration" : model[type.definition].scoped_name;
}

std::string_view keyword_of(DefinitionKind kind) {
  constexpr std::array<std::string_view, 14> words = {"module",   "interface", "struct",  "enum",  "exception",
                                                      "typedef",  "const",     "forward", "union", "valuetype",
                                                      "valuebox", "native",    "bitmask", "bitset"};
  static_assert(words.size() == std::variant_size_v<decltype(Definition::body)>);
  return words[static_cast<std::size_t>(kind)];
}

}  // namespace corelane::idl
