#include "idl/cxx/definitions/typecodes.h"

#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/cxx/spelling/literals.h"

namespace corelane::idl::cxx {
namespace {

// Returns the library's constant for a type without parameters; "" for other types.
std::string_view basic_constant(TypeKind kind) {
  switch (kind) {
    case TypeKind::void_:
      return "_tc_void";
    case TypeKind::boolean:
      return "_tc_boolean";
    case TypeKind::octet:
    case TypeKind::int8:
    case TypeKind::uint8:
      return "_tc_octet";
    case TypeKind::character:
      return "_tc_char";
    case TypeKind::wide_character:
      return "_tc_wchar";
    case TypeKind::int16:
      return "_tc_short";
    case TypeKind::uint16:
      return "_tc_ushort";
    case TypeKind::int32:
      return "_tc_long";
    case TypeKind::uint32:
      return "_tc_ulong";
    case TypeKind::int64:
      return "_tc_longlong";
    case TypeKind::uint64:
      return "_tc_ulonglong";
    case TypeKind::float32:
      return "_tc_float";
    case TypeKind::float64:
      return "_tc_double";
    case TypeKind::float128:
      return "_tc_longdouble";
    case TypeKind::any:
      return "_tc_any";
    case TypeKind::type_code:
      return "_tc_TypeCode";
    case TypeKind::object:
    case TypeKind::interface:  // an interface that is never defined
      return "_tc_Object";
    case TypeKind::value_base:
    case TypeKind::value:  // a value type that is never defined
      return "_tc_ValueBase";
    default:
      return {};
  }
}

// Returns the type that carries the bits of a bitmask or bitset on the wire.
std::string_view holder_constant(std::uint16_t bits) {
  if (bits <= 8) return "_tc_octet";
  if (bits <= 16) return "_tc_ushort";
  return bits <= 32 ? "_tc_ulong" : "_tc_ulonglong";
}

bool makes_type(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::module:
    case DefinitionKind::constant:
    case DefinitionKind::forward:
    case DefinitionKind::native:
      return false;
    default:
      return true;
  }
}

// Returns a union label as a number. An enumerator is represented by its index.
std::string label_of(const Value& value) {
  return std::visit(
      []<typename T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, EnumeratorRef>) return std::to_string(v.index);
        if constexpr (std::is_same_v<T, std::int64_t>) return v == INT64_MIN ? "INT64_MIN" : std::to_string(v);
        if constexpr (std::is_same_v<T, std::uint64_t>)
          return v > INT64_MAX ? "static_cast<std::int64_t>(" + std::to_string(v) + "U)" : std::to_string(v);
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, char32_t>) return std::to_string(std::uint32_t{v});
        if constexpr (std::is_same_v<T, char>) return std::to_string(static_cast<unsigned char>(v));
        return "0";
      },
      value);
}

using Body = std::vector<std::string>;

Body joined(Body first, const Body& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Body kind(std::string_view name, const Body& rest = {}) {
  return joined({fill(".kind = ::corelane::any::Kind::$0", {name})}, rest);
}

Body head_of(const Definition& definition) {
  return {".id = " + string_literal(definition.repository_id), fill(".name = \"$0\"", {definition.name})};
}

Body content(std::string_view pointer) { return {fill(".content = $0", {pointer})}; }

Body length(std::uint64_t bound) { return bound == 0 ? Body{} : Body{".length = " + std::to_string(bound)}; }

}  // namespace

bool is_local_definition(const Spelling& spelling, DefId id) {
  const Definition& definition = spelling.model()[id];
  if (const auto* exception = std::get_if<Exception>(&definition.body)) {
    for (const Member& member : exception->members)
      if (spelling.is_local(member.type)) return true;
    return false;
  }
  return spelling.is_local(definition.type);
}

std::string type_code_name(const Spelling& spelling, DefId id) {
  const Definition& definition = spelling.model()[id];
  return (spelling.is_nested(id) ? spelling.local_name(definition.scope) + "::" : "") + "_tc_" + definition.name;
}

void declare_type_code(const Spelling& spelling, DefId id, Text& out) {
  const Definition& definition = spelling.model()[id];
  if (!makes_type(definition.kind()) || is_local_definition(spelling, id)) return;
  out.line("$0 const ::CORBA::TypeCodeConstant _tc_$1;",
           {spelling.is_nested(id) ? "static" : "extern", definition.name});
}

namespace {

std::string qualified_constant(const Spelling& spelling, DefId id) {
  const DefId scope = spelling.model()[id].scope;
  return (scope == DefId::none ? "" : spelling.qualified(scope)) + "::_tc_" + spelling.model()[id].name;
}

void write_table_rows(const Spelling& spelling, const std::vector<DefId>& definitions, Text& out) {
  for (const DefId id : definitions) {
    const Definition& definition = spelling.model()[id];
    write_table_rows(spelling, nested_in(definition), out);
    const DefinitionKind kind = definition.kind();
    if (!makes_type(kind) || kind == DefinitionKind::alias) continue;
    if (is_local_definition(spelling, id)) continue;
    out.line("template <>");
    const bool is_exception = kind == DefinitionKind::exception;
    const std::string type = is_exception ? spelling.qualified(id) : spelling.type(definition.type);
    out.list("inline constexpr const TypeDesc* desc_of<" + type + "> = ", {"&" + qualified_constant(spelling, id)},
             ";");
  }
}

}  // namespace

void write_type_code_table(const Spelling& spelling, Text& out) {
  Text rows;
  write_table_rows(spelling, definitions_of_main(spelling.model()), rows);
  if (rows.str().empty()) return;
  out.line("\nnamespace corelane::any {\n");
  out.line(rows.str());
  out.line("}  // namespace corelane::any");
}

void TypeCodes::define(DefId id) {
  const Definition& definition = spelling_.model()[id];
  for (const DefId nested : nested_in(definition)) define(nested);
  if (!makes_type(definition.kind()) || is_local_definition(spelling_, id)) return;
  owner_ = (spelling_.is_nested(id) ? spelling_.model()[definition.scope].name + "_" : "") + definition.name;
  const Body body = body_of(definition);
  out_.list(fill("const ::CORBA::TypeCodeConstant $0{{", {type_code_name(spelling_, id)}), body, "}};");
  out_.line();
}

std::string TypeCodes::part_name(std::string_view kind) {
  return fill("_$0_$1_of_$2", {kind, std::to_string(++count_), owner_});
}

std::string TypeCodes::nameless(const Body& body) {
  const std::string name = part_name("type");
  out_.list(fill("static constexpr ::corelane::any::TypeDesc $0{", {name}), body, "};");
  return "&" + name;
}

TypeCodes::Body TypeCodes::member_list(const std::vector<std::string>& members) {
  if (members.empty()) return {};
  const std::string name = part_name("members");
  out_.list(fill("static constexpr ::corelane::any::MemberDesc $0[] = {", {name}), members, "};");
  return {".members = " + name};
}

std::string TypeCodes::pointer_to(TypeId id) {
  const Type& type = spelling_.model()[id];
  if (type.definition != DefId::none) {
    const Definition& definition = spelling_.model()[type.definition];
    if (definition.kind() != DefinitionKind::forward) return "&" + qualified_constant(spelling_, type.definition);
    if (type.kind == TypeKind::interface)
      return nameless(kind(spelling_.is_abstract_interface(id) ? "abstract_interface" : "objref", head_of(definition)));
  }
  if (const auto constant = basic_constant(type.kind); !constant.empty()) return fill("&::CORBA::$0", {constant});
  switch (type.kind) {
    case TypeKind::string:
      return type.bound == 0 ? "&::CORBA::_tc_string" : nameless(kind("string", length(type.bound)));
    case TypeKind::wide_string:
      return type.bound == 0 ? "&::CORBA::_tc_wstring" : nameless(kind("wstring", length(type.bound)));
    case TypeKind::fixed:
      return nameless(
          kind("fixed", {".digits = " + std::to_string(type.digits), ".scale = " + std::to_string(type.scale)}));
    case TypeKind::map:
      return nameless(map_body(type));
    case TypeKind::external:
      return pointer_to(type.element);
    default:
      return nameless(kind(type.kind == TypeKind::array ? "array" : "sequence",
                           joined(content(pointer_to(type.element)), length(type.bound))));
  }
}

// A map has the TypeCode of a sequence of pairs.
TypeCodes::Body TypeCodes::map_body(const Type& type) {
  const std::string key = pointer_to(type.key), element = pointer_to(type.element);
  const Body pair = member_list({fill("{\"key\", $0}", {key}), fill("{\"value\", $0}", {element})});
  const std::string structure = nameless(kind("structure", joined({".name = \"pair\""}, pair)));
  return kind("sequence", joined(content(structure), length(type.bound)));
}

std::string TypeCodes::pointer_to(const Member& member) {
  const std::string type = pointer_to(member.type);
  return member.optional ? nameless(kind("sequence", joined(content(type), length(1)))) : type;
}

TypeCodes::Body TypeCodes::members(const std::vector<Member>& members) {
  std::vector<std::string> items;
  for (const Member& member : members) items.push_back(fill("{\"$0\", $1}", {member.name, pointer_to(member)}));
  return member_list(items);
}

// The base's members come first: CORBA TypeCodes have no inheritance of structures.
TypeCodes::Body TypeCodes::structure(const std::vector<Member>& own, DefId base) {
  std::vector<Member> all = own;
  for (; base != DefId::none; base = std::get<Structure>(spelling_.model()[base].body).base) {
    const auto& more = std::get<Structure>(spelling_.model()[base].body).members;
    all.insert(all.begin(), more.begin(), more.end());
  }
  return members(all);
}

TypeCodes::Body TypeCodes::union_body(const Union& u) {
  std::vector<std::string> items;
  Body rest;
  for (const UnionBranch& branch : u.branches) {
    const std::string type = pointer_to(branch.member);
    if (branch.is_default) {
      rest.push_back(".default_index = " + std::to_string(items.size()));
      items.push_back(fill("{\"$0\", $1}", {branch.member.name, type}));
      continue;  // further labels of the default branch need no entry
    }
    for (const Value& label : branch.labels)
      items.push_back(fill("{\"$0\", $1, $2}", {branch.member.name, type, label_of(label)}));
  }
  const Body list = joined(member_list(items), content(pointer_to(u.discriminator)));
  return joined(list, rest);
}

TypeCodes::Body TypeCodes::value_body(const Valuetype& value) {
  std::vector<std::string> items;
  for (const StateMember& state : value.state) {
    const std::string type = pointer_to(state.member);
    items.push_back(fill("{\"$0\", $1, 0, $2}", {state.member.name, type, state.is_public ? "1" : "0"}));
  }
  Body body = member_list(items);
  const Model& model = spelling_.model();
  if (!value.bases.empty() && std::get<Valuetype>(model[value.bases.front()].body).kind != ValueKind::abstract)
    body = joined(body, content("&" + qualified_constant(spelling_, value.bases.front())));
  if (value.kind != ValueKind::concrete)
    body.push_back(value.kind == ValueKind::custom ? ".modifier = 1" : ".modifier = 2");
  else if (value.truncatable)
    body.push_back(".modifier = 3");
  return body;
}

TypeCodes::Body TypeCodes::enumeration(const Enumeration& e) {
  std::vector<std::string> items;
  for (const Enumerator& enumerator : e.enumerators) items.push_back(fill("{\"$0\"}", {enumerator.name}));
  return member_list(items);
}

TypeCodes::Body TypeCodes::body_of(const Definition& definition) {
  const Body head = head_of(definition);
  const auto alias_of = [&](std::string_view pointer) { return kind("alias", joined(head, content(pointer))); };
  if (const auto* structure = std::get_if<Structure>(&definition.body))
    return kind("structure", joined(head, this->structure(structure->members, structure->base)));
  if (const auto* exception = std::get_if<Exception>(&definition.body))
    return kind("exception", joined(head, members(exception->members)));
  if (const auto* u = std::get_if<Union>(&definition.body)) return kind("union_", joined(head, union_body(*u)));
  if (const auto* e = std::get_if<Enumeration>(&definition.body))
    return kind("enumeration", joined(head, enumeration(*e)));
  if (const auto* alias = std::get_if<Alias>(&definition.body)) return alias_of(pointer_to(alias->aliased));
  if (const auto* mask = std::get_if<Bitmask>(&definition.body))
    return alias_of(fill("&::CORBA::$0", {holder_constant(mask->bit_bound)}));
  if (const auto* set = std::get_if<Bitset>(&definition.body))
    return alias_of(fill("&::CORBA::$0", {holder_constant(set->bits)}));
  if (const auto* value = std::get_if<Valuetype>(&definition.body))
    return kind("value", joined(head, value_body(*value)));
  if (const auto* box = std::get_if<ValueBox>(&definition.body))
    return kind("value_box", joined(head, content(pointer_to(box->boxed))));
  const auto& interface = std::get<Interface>(definition.body);
  return kind(interface.kind == InterfaceKind::abstract ? "abstract_interface" : "objref", head);
}

}  // namespace corelane::idl::cxx
