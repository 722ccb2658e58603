#include "idl/cxx/definitions/values.h"

#include <algorithm>

#include "idl/cxx/calls/call_text.h"
#include "idl/cxx/calls/calls.h"
#include "idl/cxx/definitions/fields.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/deprecated.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/cxx/spelling/literals.h"
#include "idl/cxx/spelling/names.h"

namespace corelane::idl::cxx {
namespace {

const Valuetype& value_of(const Spelling& spelling, DefId id) { return std::get<Valuetype>(spelling.model()[id].body); }

bool is_abstract(const Spelling& spelling, DefId id) { return value_of(spelling, id).kind == ValueKind::abstract; }

// Returns the base with state, which comes first in the list of bases; none if there is no such base.
DefId stateful_base(const Spelling& spelling, DefId id) {
  const std::vector<DefId>& bases = value_of(spelling, id).bases;
  return bases.empty() || is_abstract(spelling, bases.front()) ? DefId::none : bases.front();
}

struct State {
  Field field;
  bool is_public = false;
};

std::vector<State> state_of(const Spelling& spelling, DefId id) {
  std::vector<Member> members;
  for (const StateMember& state : value_of(spelling, id).state) members.push_back(state.member);
  const std::vector<Field> fields = fields_of(spelling, id, members);
  std::vector<State> out;
  for (std::size_t i = 0; i < fields.size(); ++i) out.push_back({fields[i], value_of(spelling, id).state[i].is_public});
  return out;
}

std::vector<Field> own_fields(const Spelling& spelling, DefId id) {
  std::vector<Field> out;
  for (const State& state : state_of(spelling, id)) out.push_back(state.field);
  return out;
}

std::vector<Field> inherited_fields(const Spelling& spelling, DefId id) {
  const DefId base = stateful_base(spelling, id);
  if (base == DefId::none) return {};
  std::vector<Field> out = inherited_fields(spelling, base);
  std::ranges::move(own_fields(spelling, base), std::back_inserter(out));
  return out;
}

// Returns whether the program has nothing to implement: neither operations nor marshaling.
bool is_instantiable(const Spelling& spelling, DefId id) {
  const Valuetype& value = value_of(spelling, id);
  const auto adds_nothing = [&](const Valuetype& v) {
    return v.operations.empty() && v.attributes.empty() && v.supports.empty() && v.kind != ValueKind::custom;
  };
  return adds_nothing(value) && std::ranges::all_of(value.ancestors, [&](DefId ancestor) {
           return adds_nothing(value_of(spelling, ancestor));
         });
}

std::string obv_name(const Spelling& spelling, DefId id) {
  const std::string module = spelling.module_of(id);
  return fill(module.empty() ? "::obv::$1" : "::$0::obv::$1", {module, spelling.name(id)});
}

std::vector<std::string> value_bases(const Spelling& spelling, DefId id) {
  std::vector<std::string> out;
  for (const DefId base : value_of(spelling, id).bases) out.push_back("public virtual " + spelling.qualified(base));
  if (out.empty()) out.push_back("public virtual ::CORBA::ValueBase");
  for (const DefId interface : supported_abstract(spelling.model(), id))
    out.push_back("public virtual " + spelling.qualified(interface));
  if (value_of(spelling, id).kind == ValueKind::custom) out.push_back("public virtual ::CORBA::CustomMarshal");
  return out;
}

void declare_pure_accessors(const Spelling& spelling, DefId id, bool is_public, Text& out) {
  for (const auto& [field, open] : state_of(spelling, id)) {
    if (open != is_public) continue;
    out.line();
    const auto declare = [&](std::string_view pattern) {
      write_attribute(field.attribute, out);
      out.line(pattern, {field.name, field.type});
    };
    if (field.scalar) {
      declare("virtual void $0($1 _value) = 0;");
      declare("virtual $1 $0() const = 0;");
    } else {
      declare("virtual void $0(const $1& _value) = 0;");
      declare("virtual void $0($1&& _value) = 0;");
      declare("virtual const $1& $0() const = 0;");
    }
    declare("virtual $1& $0() = 0;");
  }
}

void declare_accessors(const std::vector<State>& states, bool is_public, Text& out) {
  const auto first = std::ranges::find(states, is_public, &State::is_public);
  for (const auto& [field, open] : states) {
    if (open != is_public) continue;
    if (is_public || &field != &first->field) out.line();
    const auto define = [&](std::string_view pattern) {
      write_attribute(field.attribute, out);
      out.line(pattern, {field.name, field.type, field.data, moved(field, "_value")});
    };
    if (field.scalar) {
      define("void $0($1 _value) override { $2 = _value; }");
      define("$1 $0() const override { return $2; }");
    } else {
      define("void $0(const $1& _value) override { $2 = _value; }");
      define("void $0($1&& _value) override { $2 = $3; }");
      define("const $1& $0() const override { return $2; }");
    }
    define("$1& $0() override { return $2; }");
  }
}

bool has_private_state(const std::vector<State>& states) {
  return std::ranges::any_of(states, [](const State& state) { return !state.is_public; });
}

// Declares the class whose operations and accessors are pure virtual.
void declare_value_class(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  const Definition& definition = spelling.model()[id];
  out.list(fill("class $0 : ", {attributed(definition, name)}), value_bases(spelling, id), " {");
  out.indent();
  out.label("public:");
  out.line("using _ref_type = ::CORBA::valuetype_reference<$0>;", {name});
  out.line("static constexpr const char* _id = $0;", {string_literal(definition.repository_id)});
  out.line("static const ::corelane::any::TypeDesc& _type() noexcept;");
  out.line("static std::string _repository_id() { return _id; }");
  declare_nested(spelling, nested_in(definition), out);
  for (const Call& call : value_calls_of(spelling, id)) declare_pure(spelling, call, out);
  declare_pure_accessors(spelling, id, true, out);
  if (!is_abstract(spelling, id)) {
    out.line("\nconst ::corelane::any::TypeDesc& _type_desc() const noexcept override;");
    out.line("void _encode_state(::corelane::cdr::Writer& _writer) const override;");
    out.line("bool _decode_state(::corelane::cdr::Reader& _reader) override;\nvoid _let_go() override;");
  }
  out.line();
  out.label("protected:");
  out.line("$0() = default;\n$0(const $0&) = default;", {name});
  declare_pure_accessors(spelling, id, false, out);
  out.close("};");
}

void declare_constructors(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  const std::vector<Field> own = own_fields(spelling, id), inherited = inherited_fields(spelling, id);
  out.line("$0() = default;", {name});
  if (!own.empty()) out.list(fill("explicit $0(", {name}), constructor_parameters(own), ");");
  if (inherited.empty()) return;
  std::vector<Field> all = inherited;
  all.insert(all.end(), own.begin(), own.end());
  if (all.size() != own.size()) out.list(fill("explicit $0(", {name}), constructor_parameters(all), ");");
}

// Declares the class that keeps the state.
void declare_obv(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<State> states = state_of(spelling, id);
  const DefId base = stateful_base(spelling, id);
  std::vector<std::string> bases = {"public virtual " + spelling.qualified(id)};
  if (base != DefId::none) bases.push_back("public virtual " + obv_name(spelling, base));
  out.line("\nnamespace obv {\n");
  out.list(fill("class $0 : ", {spelling.name(id)}), bases, " {");
  out.indent();
  out.label("public:");
  declare_constructors(spelling, id, out);
  declare_accessors(states, true, out);
  if (is_instantiable(spelling, id)) out.line("\nstd::shared_ptr<::corelane::any::Value> _fresh() const override;");
  if (has_private_state(states)) {
    out.line();
    out.label("protected:");
    declare_accessors(states, false, out);
  }
  if (!states.empty()) {
    out.line();
    out.label("private:");
    for (const State& state : states) out.line("$0 $1$2;", {state.field.type, state.field.data, state.field.initial});
  }
  out.close("};");
  out.line("\n}  // namespace obv");
}

std::vector<std::string> parameters_of(const Spelling& spelling, const Factory& factory) {
  std::vector<std::string> out;
  for (const Parameter& p : factory.parameters) out.push_back(spelling.in_type(p.type) + " " + spelling.local(p.name));
  return out;
}

// Returns the function's name for a factory. A factory with the name of the class is renamed, since that name is the
// constructor's.
std::string initialiser_name(const Factory& factory, const std::string& owner) {
  const std::string name = escaped(factory.name, NameUse::function);
  return name == owner ? "_cxx_" + name : name;
}

void declare_factory(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.factory_name(id);
  out.open("\nclass $0 : public ::CORBA::ValueFactoryBase {", {name});
  out.label("public:");
  out.line("using _ref_type = ::corelane::core::Handle<$0>;\n", {name});
  for (const Factory& factory : value_of(spelling, id).factories)
    out.list(
        fill("virtual ::CORBA::valuetype_reference<$0> $1(", {spelling.qualified(id), initialiser_name(factory, name)}),
        parameters_of(spelling, factory), ") = 0;");
  if (is_instantiable(spelling, id))
    out.line("::CORBA::valuetype_reference<::CORBA::ValueBase> create_for_unmarshal() override;");
  out.line("const ::corelane::any::TypeDesc& _type_desc() const noexcept final;");
  out.close("};");
}

// Returns the base class, direct or indirect, that declares this member.
DefId declaring_base(const Spelling& spelling, DefId id, const Field& field) {
  const DefId base = stateful_base(spelling, id);
  const bool is_own =
      std::ranges::any_of(own_fields(spelling, base), [&](const Field& f) { return f.name == field.name; });
  return is_own ? base : declaring_base(spelling, base, field);
}

// Returns the setter's name inside the class `id`. A setter with the name of the class is called through the base,
// since that name is the constructor's.
std::string setter(const Spelling& spelling, DefId id, const Field& field) {
  if (field.name != spelling.name(id)) return field.name;
  return obv_name(spelling, declaring_base(spelling, id, field)) + "::" + field.name;
}

// Sets inherited members in the body, not in the initializer list. The most derived class constructs a virtual base,
// and that may be a class of the program.
void define_constructor(const Spelling& spelling, DefId id, const std::vector<Field>& inherited, Text& out) {
  const std::vector<Field> own = own_fields(spelling, id);
  std::vector<Field> all = inherited;
  all.insert(all.end(), own.begin(), own.end());
  out.list(fill("obv::$0::$0(", {spelling.name(id)}), constructor_parameters(all), own.empty() ? ") {" : ")");
  if (!own.empty()) out.list("    : ", initialisers(own), " {");
  out.indent();
  for (const Field& field : inherited) out.line("this->$0($1);", {setter(spelling, id, field), moved(field)});
  out.close("}\n");
}

void define_constructors(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<Field> inherited = inherited_fields(spelling, id);
  if (!own_fields(spelling, id).empty()) define_constructor(spelling, id, {}, out);
  if (!inherited.empty()) define_constructor(spelling, id, inherited, out);
}

std::vector<std::string> calls_of_accessors(const std::vector<Field>& fields) {
  std::vector<std::string> out;
  for (const Field& field : fields) out.push_back(field.name + "()");
  return out;
}

std::vector<Field> referring_fields(const Spelling& spelling, DefId id) {
  std::vector<Field> out;
  for (const Field& field : own_fields(spelling, id))
    if (!field.scalar && spelling.holds_values(field.idl_type)) out.push_back(field);
  return out;
}

// Writes the base's state first, then the members.
void define_state(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  const std::vector<std::string> own = calls_of_accessors(own_fields(spelling, id));
  const DefId base = stateful_base(spelling, id);
  const std::string base_name = base == DefId::none ? "" : spelling.qualified(base);
  const bool is_empty = own.empty() && base == DefId::none;
  out.open("void $0::_encode_state(::corelane::cdr::Writer&$1) const {", {name, is_empty ? "" : " _writer"});
  if (base != DefId::none) out.line("$0::_encode_state(_writer);", {base_name});
  if (!own.empty()) out.list("::corelane::core::encode_members(_writer, ", own, ");");
  out.close("}\n");
  out.open("bool $0::_decode_state(::corelane::cdr::Reader& _reader) {", {name});
  if (base != DefId::none) out.line("if (!$0::_decode_state(_reader)) return false;", {base_name});
  if (own.empty())
    out.line("return _reader.ok();");
  else
    out.list("return ::corelane::core::decode_members(_reader, ", own, ");");
  out.close("}\n");
}

void define_custom_state(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  out.open("void $0::_encode_state(::corelane::cdr::Writer& _writer) const {", {name});
  out.line("::corelane::core::marshal_custom(_writer, *this);");
  out.close("}\n");
  out.open("bool $0::_decode_state(::corelane::cdr::Reader& _reader) {", {name});
  out.line("return ::corelane::core::unmarshal_custom(_reader, *this);");
  out.close("}\n");
}

void define_letting_go(const Spelling& spelling, DefId id, Text& out) {
  const DefId base = stateful_base(spelling, id);
  const std::vector<std::string> referring = calls_of_accessors(referring_fields(spelling, id));
  out.open("void $0::_let_go() {", {spelling.name(id)});
  if (base != DefId::none) out.line("$0::_let_go();", {spelling.qualified(base)});
  if (!referring.empty()) out.list("::corelane::core::let_go(", referring, ");");
  out.close("}\n");
}

void define_factory(const Spelling& spelling, DefId id, Text& out) {
  const std::string factory = spelling.factory_name(id);
  if (is_instantiable(spelling, id)) {
    out.open("std::shared_ptr<::corelane::any::Value> obv::$0::_fresh() const {", {spelling.name(id)});
    out.line("return ::corelane::core::fresh(*this);");
    out.close("}\n");
    out.open("::CORBA::valuetype_reference<::CORBA::ValueBase> $0::create_for_unmarshal() {", {factory});
    out.line("return ::CORBA::make_reference<$0>();", {obv_name(spelling, id)});
    out.close("}\n");
  }
  out.line("const ::corelane::any::TypeDesc& $0::_type_desc() const noexcept { return $1; }\n",
           {factory, type_code_name(spelling, id)});
}

}  // namespace

void declare_value(const Spelling& spelling, DefId id, Text& out) {
  declare_value_class(spelling, id, out);
  if (is_abstract(spelling, id)) return;
  declare_obv(spelling, id, out);
  declare_factory(spelling, id, out);
}

void define_value(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id), type_code = type_code_name(spelling, id);
  out.line("const ::corelane::any::TypeDesc& $0::_type() noexcept { return $1; }\n", {name, type_code});
  define_reference_codec(spelling, id, out);
  if (is_abstract(spelling, id)) return;
  out.line("const ::corelane::any::TypeDesc& $0::_type_desc() const noexcept { return $1; }\n", {name, type_code});
  if (value_of(spelling, id).kind == ValueKind::custom)
    define_custom_state(spelling, id, out);
  else
    define_state(spelling, id, out);
  define_letting_go(spelling, id, out);
  define_constructors(spelling, id, out);
  define_factory(spelling, id, out);
}

void declare_value_box(const Spelling& spelling, DefId id, Text& out) {
  const Definition& definition = spelling.model()[id];
  const std::string name = spelling.name(id);
  const TypeId type = std::get<ValueBox>(definition.body).boxed;
  const std::string boxed = spelling.type(type);
  out.open("class $0 final : public ::CORBA::ValueBox<$1> {", {attributed(spelling.model()[id], name), boxed});
  out.label("public:");
  out.line("using _ref_type = ::CORBA::valuetype_reference<$0>;", {name});
  out.line("static constexpr const char* _id = $0;", {string_literal(definition.repository_id)});
  out.line("static const ::corelane::any::TypeDesc& _type() noexcept;");
  out.line("static std::string _repository_id() { return _id; }\n");
  out.line("$0() = default;\nexplicit $0($1 _value) : ValueBox($2) {}\n",
           {name, boxed, spelling.is_movable(type) ? "std::move(_value)" : "_value"});
  out.line("const ::corelane::any::TypeDesc& _type_desc() const noexcept override { return _type(); }");
  out.line("std::shared_ptr<::corelane::any::Value> _fresh() const override;");
  out.close("};");
}

void define_value_box(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  out.line("const ::corelane::any::TypeDesc& $0::_type() noexcept { return $1; }\n",
           {name, type_code_name(spelling, id)});
  out.line("std::shared_ptr<::corelane::any::Value> $0::_fresh() const { return std::make_shared<$0>(); }\n", {name});
}

void write_value_traits(const Spelling& spelling, Text& out) {
  Text rows;
  for (const DefId id : definitions_of_main(spelling.model())) {
    const Definition& definition = spelling.model()[id];
    const auto* value = std::get_if<Valuetype>(&definition.body);
    if (value == nullptr && definition.kind() != DefinitionKind::value_box) continue;
    const std::string name = spelling.qualified(id), module = spelling.module_of(id);
    const bool is_abstract = value != nullptr && value->kind == ValueKind::abstract;
    rows.open("template <>\nstruct traits<$0> : ::corelane::core::ValueTraits<$0> {", {name});
    rows.line("using is_abstract = std::$0_type;\nusing is_truncatable = std::$1_type;",
              {is_abstract ? "true" : "false", value != nullptr && value->truncatable ? "true" : "false"});
    if (value != nullptr && !is_abstract) {
      rows.line("using obv_type = $0;", {obv_name(spelling, id)});
      rows.line("using factory_type = $0::$1;", {module.empty() ? "" : "::" + module, spelling.factory_name(id)});
      rows.line("using factory_ref_type = ::corelane::core::Handle<factory_type>;");
    }
    rows.close("};");
  }
  if (rows.str().empty()) return;
  out.line("\nnamespace IDL {");
  out.line(rows.str());
  out.line("}  // namespace IDL");
}

}  // namespace corelane::idl::cxx
