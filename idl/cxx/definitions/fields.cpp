#include "idl/cxx/definitions/fields.h"

#include <algorithm>

#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/deprecated.h"
#include "idl/cxx/spelling/names.h"

namespace corelane::idl::cxx {
namespace {

const std::vector<Member>& members_of(const Definition& definition) {
  if (const auto* structure = std::get_if<Structure>(&definition.body)) return structure->members;
  return std::get<Exception>(definition.body).members;
}

// Returns "x_", with more underscores if that is taken. Adds it to `taken`.
std::string data_name(const Member& member, std::set<std::string>& taken) {
  std::string name = member.name + "_";
  while (!taken.insert(name).second) name += '_';  // bound: the number of names
  return name;
}

std::string initial_of(const Spelling& spelling, const Member& member) {
  if (member.default_value) return "{" + spelling.value(member.type, *member.default_value) + "}";
  return member.optional ? "" : spelling.initial(member.type);
}

std::string type_of(const Spelling& spelling, const Member& member) {
  const Type& type = spelling.model()[member.type];
  if (!member.optional) return spelling.type(member.type);
  if (type.kind == TypeKind::external) return fill("::IDL::optional_external<$0>", {spelling.type(type.element)});
  return fill("::IDL::optional<$0>", {spelling.type(member.type)});
}

struct Accessor {
  std::string result;
  std::string head;  // "x(const T& _value)"
  std::string body;
};

std::vector<Accessor> accessors_of(const Field& field) {
  const std::string &name = field.name, &type = field.type;
  const std::string value = field.data + " = ", given = "return " + field.data + ";";
  std::vector<Accessor> out;
  if (field.scalar) {
    out.push_back({"void", name + "(" + type + " _value)", value + "_value;"});
  } else {
    out.push_back({"void", name + "(const " + type + "& _value)", value + "_value;"});
    out.push_back({"void", name + "(" + type + "&& _value)", value + moved(field, "_value") + ";"});
  }
  out.push_back({field.scalar ? type : "const " + type + "&", name + "() const", given});
  out.push_back({type + "&", name + "()", given});
  return out;
}

}  // namespace

std::vector<Field> fields_of(const Spelling& spelling, DefId id, const std::vector<Member>& members) {
  const Definition& owner = spelling.model()[id];
  const NameUse use = owner.kind() == DefinitionKind::exception ? NameUse::exception_member
                      : owner.kind() == DefinitionKind::value   ? NameUse::function
                                                                : NameUse::plain;
  const bool is_public = has_public_members(owner);
  std::set<std::string> taken = {owner.name};
  for (const DefId nested : nested_in(owner)) taken.insert(spelling.model()[nested].name);
  for (const Member& member : members) taken.insert(member.name);
  std::vector<Field> fields;
  for (const Member& member : members) {
    fields.push_back({.name = escaped(member.name, use),
                      .data = is_public ? escaped(member.name, use) : data_name(member, taken),
                      .access = escaped(member.name, use) + (is_public ? "" : "()"),
                      .parameter = spelling.local(member.name),
                      .type = type_of(spelling, member),
                      .initial = initial_of(spelling, member),
                      .scalar = !member.optional && spelling.is_scalar(member.type),
                      .movable = spelling.is_movable(member.type),
                      .idl_type = member.type,
                      .attribute = deprecated_attribute(member.annotations)});
  }
  return fields;
}

std::vector<Field> fields_of(const Spelling& spelling, DefId id) {
  return fields_of(spelling, id, members_of(spelling.model()[id]));
}

std::vector<Field> all_fields_of(const Spelling& spelling, DefId id) {
  std::vector<Field> fields;
  if (const auto* structure = std::get_if<Structure>(&spelling.model()[id].body))
    if (structure->base != DefId::none) fields = all_fields_of(spelling, structure->base);
  std::ranges::move(fields_of(spelling, id), std::back_inserter(fields));
  return fields;
}

std::vector<std::string> constructor_parameters(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& field : fields) out.push_back(field.type + " " + field.parameter);
  return out;
}

std::string moved(const Field& field) { return moved(field, field.parameter); }
std::string moved(const Field& field, const std::string& name) {
  return field.movable ? "std::move(" + name + ")" : name;
}

std::vector<std::string> initialisers(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& field : fields) out.push_back(field.data + "(" + moved(field) + ")");
  return out;
}

void write_accessors(const Field& field, Text& out) {
  for (const Accessor& accessor : accessors_of(field)) {
    write_attribute(field.attribute, out);
    out.line("$0 $1 { $2 }", {accessor.result, accessor.head, accessor.body});
  }
}

void declare_accessors(const Field& field, Text& out) {
  for (const Accessor& accessor : accessors_of(field)) {
    write_attribute(field.attribute, out);
    out.line("$0 $1;", {accessor.result, accessor.head});
  }
}

void define_accessors(const std::string& owner, const Field& field, Text& out) {
  for (const Accessor& accessor : accessors_of(field))
    out.line("$0 $1::$2 { $3 }", {accessor.result, owner, accessor.head, accessor.body});
}

bool has_public_members(const Definition& definition) {
  if (definition.kind() != DefinitionKind::structure) return false;
  const Annotation* mapping = find(definition.annotations, "cpp_mapping");
  if (mapping == nullptr) return false;
  return std::ranges::any_of(mapping->parameters, [](const AnnotationParameter& parameter) {
    const auto* choice = std::get_if<std::string>(&parameter.value);
    return choice != nullptr && *choice == "STRUCT_WITH_PUBLIC_MEMBERS";
  });
}

}  // namespace corelane::idl::cxx
