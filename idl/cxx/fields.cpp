#include "idl/cxx/fields.h"

#include <set>

#include "idl/cxx/names.h"

namespace corelane::idl::cxx {
namespace {

const std::vector<Member>& members_of(const Definition& definition) {
  if (const auto* structure = std::get_if<Structure>(&definition.body)) return structure->members;
  return std::get<Exception>(definition.body).members;
}

// "x_", with more underscores where that is taken. `taken` grows.
std::string data_name(const Member& member, std::set<std::string>& taken) {
  std::string name = member.name + "_";
  while (!taken.insert(name).second) name += '_';  // bound: the number of names
  return name;
}

}  // namespace

std::vector<Field> fields_of(const Spelling& spelling, DefId id) {
  const Definition& owner = spelling.model()[id];
  const NameUse use = owner.kind() == DefinitionKind::exception ? NameUse::exception_member : NameUse::plain;
  std::set<std::string> taken = {owner.name};
  for (const Member& member : members_of(owner)) taken.insert(member.name);
  std::vector<Field> fields;
  for (const Member& member : members_of(owner)) {
    fields.push_back({.name = escaped(member.name, use),
                      .data = data_name(member, taken),
                      .parameter = spelling.local(member.name),
                      .type = spelling.type(member.type),
                      .scalar = spelling.is_scalar(member.type)});
  }
  return fields;
}

std::vector<std::string> constructor_parameters(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& field : fields) out.push_back(field.type + " " + field.parameter);
  return out;
}

std::vector<std::string> initialisers(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& field : fields) {
    const std::string value = field.scalar ? field.parameter : "std::move(" + field.parameter + ")";
    out.push_back(field.data + "(" + value + ")");
  }
  return out;
}

}  // namespace corelane::idl::cxx
