#include "orb/corba/type_members.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "orb/any/make_type.h"
#include "orb/any/type_codec.h"
#include "orb/base/minor.h"
#include "orb/core/exception.h"
#include "orb/core/type_code_factory.h"

namespace corelane::core {
namespace {

using any::Kind;
using TypeRef = TypeCodeFactory::TypeRef;

[[noreturn]] void refuse(std::uint32_t code, const std::string& what) {
  raise(Error{ErrorKind::bad_param, Completion::no, minor::omg | code}, what);
}

void check_name(const std::string& name) {
  const auto follows = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const bool begins = name.empty() || std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  if (!begins || !std::ranges::all_of(name, follows)) refuse(15, "'" + name + "' is no name of IDL");
}

// Checks a repository id: a format, a colon, and a text, as in "IDL:Plant/Point:1.0", "RMI:...", "DCE:...",
// "LOCAL:...".
void check_id(const std::string& id) {
  const std::size_t colon = id.find(':');
  if (colon == 0 || colon == std::string::npos) refuse(16, "'" + id + "' is no repository id");
}

// Returns the type if it may be a member, an element or a boxed type; raises otherwise.
const any::TypeCode& check_type(const TypeRef& type) {
  const any::TypeCode& code = type->_code();
  const Kind kind = any::unaliased(*code).kind;
  if (kind == Kind::null || kind == Kind::void_ || kind == Kind::exception)
    raise(Error{ErrorKind::bad_typecode, Completion::no, minor::omg | 2}, "a type that is no value cannot be a part");
  return code;
}

class Names {
 public:
  void add(const std::string& name) {
    check_name(name);
    if (!name.empty() && !seen_.insert(name).second) refuse(17, "two members are called '" + name + "'");
  }
  // A member with several labels occurs once for each label, in sequence.
  void add_branch(const ::CORBA::UnionMember& member, const ::CORBA::UnionMember* before) {
    if (before == nullptr || before->name != member.name || !before->type->equal(member.type)) add(member.name);
  }

 private:
  std::set<std::string> seen_;
};

any::TypeSpec named(Kind kind, const std::string& id, const std::string& name) {
  check_id(id);
  check_name(name);
  return {.kind = kind, .id = id, .name = name};
}

TypeRef made(const any::TypeSpec& spec) { return ::CORBA::TypeCode::make(any::make_type(spec)); }

TypeRef made_of(any::TypeSpec spec, const TypeRef& content) {
  spec.content = check_type(content);
  spec.has_content = true;
  return made(spec);
}

TypeRef made_with(any::TypeSpec spec, const std::vector<::CORBA::StructMember>& members) {
  Names names;
  for (const auto& member : members) {
    names.add(member.name);
    spec.members.push_back({.name = member.name, .type = check_type(member.type)});
  }
  return made(spec);
}

bool is_default(const ::CORBA::Any& label) { return any::unaliased(*label.type_code()).kind == Kind::octet; }

std::int64_t label_of(const ::CORBA::Any& label, const any::TypeDesc& discriminator) {
  std::int64_t value = 0;
  const bool fits = any::equivalent(*label.type_code(), discriminator) && label.with_bytes([&](cdr::Reader& reader) {
    return any::read_label(reader, discriminator, value);
  });
  if (!fits) refuse(19, "a label is of another type than the discriminator");
  return value;
}

}  // namespace

TypeRef TypeCodeFactory::create_struct_tc(const std::string& id, const std::string& name,
                                          const std::vector<::CORBA::StructMember>& members) const {
  return made_with(named(Kind::structure, id, name), members);
}

TypeRef TypeCodeFactory::create_exception_tc(const std::string& id, const std::string& name,
                                             const std::vector<::CORBA::StructMember>& members) const {
  return made_with(named(Kind::exception, id, name), members);
}

TypeRef TypeCodeFactory::create_union_tc(const std::string& id, const std::string& name, const TypeRef& discriminator,
                                         const std::vector<::CORBA::UnionMember>& members) const {
  any::TypeSpec spec = named(Kind::union_, id, name);
  spec.content = discriminator->_code();
  spec.has_content = true;
  if (!any::may_be_discriminator(*spec.content) || any::unaliased(*spec.content).kind == Kind::octet)
    refuse(20, "values of this type choose no member of a union");
  Names names;
  std::set<std::int64_t> labels;
  for (const ::CORBA::UnionMember& member : members) {
    names.add_branch(member, &member == members.data() ? nullptr : &member - 1);
    any::MemberSpec part{.name = member.name, .type = check_type(member.type)};
    if (is_default(member.label)) {
      if (spec.default_index != -1) refuse(18, "two members are the default");
      spec.default_index = static_cast<std::int32_t>(spec.members.size());
    } else {
      part.label = label_of(member.label, *spec.content);
      if (!labels.insert(part.label).second) refuse(18, "two members have the same label");
    }
    spec.members.push_back(std::move(part));
  }
  return made(spec);
}

TypeRef TypeCodeFactory::create_enum_tc(const std::string& id, const std::string& name,
                                        const std::vector<std::string>& members) const {
  any::TypeSpec spec = named(Kind::enumeration, id, name);
  Names names;
  for (const std::string& member : members) {
    names.add(member);
    spec.members.push_back({.name = member});
  }
  return made(spec);
}

TypeRef TypeCodeFactory::create_alias_tc(const std::string& id, const std::string& name,
                                         const TypeRef& original) const {
  return made_of(named(Kind::alias, id, name), original);
}
TypeRef TypeCodeFactory::create_interface_tc(const std::string& id, const std::string& name) const {
  return made(named(Kind::objref, id, name));
}
TypeRef TypeCodeFactory::create_abstract_interface_tc(const std::string& id, const std::string& name) const {
  return made(named(Kind::abstract_interface, id, name));
}
TypeRef TypeCodeFactory::create_local_interface_tc(const std::string& id, const std::string& name) const {
  return made(named(Kind::local_interface, id, name));
}
TypeRef TypeCodeFactory::create_native_tc(const std::string& id, const std::string& name) const {
  return made(named(Kind::native, id, name));
}

TypeRef TypeCodeFactory::create_string_tc(std::uint32_t bound) const {
  return made({.kind = Kind::string, .length = bound});
}
TypeRef TypeCodeFactory::create_wstring_tc(std::uint32_t bound) const {
  return made({.kind = Kind::wstring, .length = bound});
}
TypeRef TypeCodeFactory::create_sequence_tc(std::uint32_t bound, const TypeRef& element) const {
  return made_of({.kind = Kind::sequence, .length = bound}, element);
}
TypeRef TypeCodeFactory::create_array_tc(std::uint32_t length, const TypeRef& element) const {
  return made_of({.kind = Kind::array, .length = length}, element);
}

TypeRef TypeCodeFactory::create_fixed_tc(std::uint16_t digits, std::int16_t scale) const {
  if (digits < 1 || digits > 31 || scale < 0 || scale > digits)
    raise(Error{ErrorKind::bad_param, Completion::no, minor::bound_exceeded},
          "fixed has 1 to 31 digits, scale of them");
  return made({.kind = Kind::fixed, .digits = digits, .scale = scale});
}

TypeRef TypeCodeFactory::create_value_tc(const std::string& id, const std::string& name, std::int16_t modifier,
                                         const TypeRef& concrete_base,
                                         const std::vector<::CORBA::ValueMember>& members) const {
  any::TypeSpec spec = named(Kind::value, id, name);
  spec.modifier = modifier;
  if (concrete_base) {
    spec.content = check_type(concrete_base);
    spec.has_content = true;
    if (any::unaliased(*spec.content).kind != Kind::value)
      raise(Error{ErrorKind::bad_typecode, Completion::no, minor::omg | 2},
            "the base of a value type is no value type");
  }
  Names names;
  for (const ::CORBA::ValueMember& member : members) {
    names.add(member.name);
    spec.members.push_back({.name = member.name, .type = check_type(member.type), .visibility = member.access});
  }
  return made(spec);
}

TypeRef TypeCodeFactory::create_value_box_tc(const std::string& id, const std::string& name,
                                             const TypeRef& boxed) const {
  return made_of(named(Kind::value_box, id, name), boxed);
}

TypeRef TypeCodeFactory::create_recursive_tc(const std::string& id) const {
  check_id(id);
  return ::CORBA::TypeCode::make(any::recursive_type(id));
}

}  // namespace corelane::core
