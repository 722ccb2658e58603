// Writes interfaces for clients: the class, and its stubs.
#include "idl/cxx/definitions/interfaces.h"

#include <algorithm>

#include "idl/cxx/calls/call_text.h"
#include "idl/cxx/calls/calls.h"
#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/deprecated.h"
#include "idl/cxx/spelling/literals.h"

namespace corelane::idl::cxx {
namespace {

std::vector<std::string> interface_bases(const Spelling& spelling, DefId id) {
  const Interface& interface = interface_of(spelling, id);
  std::vector<std::string> out;
  for (const DefId base : interface.bases) out.push_back("public virtual " + spelling.qualified(base));
  if (interface.kind == InterfaceKind::local) out.push_back("public virtual ::CORBA::LocalObject");
  if (interface.kind == InterfaceKind::abstract && out.empty()) out.push_back("public virtual ::CORBA::AbstractBase");
  const bool has_object =
      std::ranges::any_of(interface.bases, [&](DefId base) { return !is_abstract_interface(spelling, base); });
  if (interface.kind == InterfaceKind::unconstrained && !has_object) out.push_back("public virtual ::CORBA::Object");
  return out;
}

// Declares the calls in the class of `id`. Some may be calls of its ancestors, which are its base classes.
void declare_calls(const Spelling& spelling, DefId id, const std::vector<Call>& calls, const std::string& end,
                   Text& out) {
  if (!calls.empty()) out.line();
  for (const Call& call : calls) {
    const bool is_own = call.declared_in == id;
    write_attribute(call.attribute, out);
    out.list(fill("$0$1 $2(", {is_own ? "virtual " : "", result_type(spelling, call), call.name}),
             parameters(spelling, call), (is_own ? ")" : ") override") + end);
  }
}

void declare_nested_types(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<DefId>& contents = interface_of(spelling, id).contents;
  for (const DefId nested : contents) {
    const DefinitionKind kind = spelling.model()[nested].kind();
    if (kind != DefinitionKind::constant && kind != DefinitionKind::alias) out.line();
    declare_type(spelling, nested, out);
    declare_type_code(spelling, nested, out);
  }
  if (!contents.empty()) out.line();
}

void write_stub(const Spelling& spelling, DefId id, std::string_view owner, const Call& call, Text& out) {
  std::vector<std::string> back = returned(call);
  std::vector<std::string> frame;
  for (const Argument& argument : call.arguments) frame.push_back(argument.name);
  if (call.returns()) {
    back.insert(back.begin(), "_result");
    frame.insert(frame.begin(), "_result");
  }
  const std::string end = call.returns() ? "return _result;" : "return;";

  out.list(fill("$0 $1::$2(", {result_type(spelling, call), owner, call.name}), parameters(spelling, call), ") {");
  out.indent();
  if (call.returns()) out.line("$0 _result$1;", {spelling.type(call.result), spelling.initial(call.result)});
  out.line("::corelane::core::Invocation _call(*this, _calls_of_$0::$1_operation);",
           {spelling.model()[id].name, internal_name(call)});
  out.list("if (_call.try_local(", frame, ")) " + end);
  std::vector<std::string> arguments = sent(call);
  if (call.has_context) arguments.push_back("std::vector<std::string>{}");
  out.list("_call.marshal(", arguments, ");");
  out.line("_call.invoke();");
  if (!call.oneway) out.list("_call.unmarshal(", back, ");");
  if (call.returns()) out.line("return _result;");
  out.close("}\n");
}

// Writes the hidden stub of an abstract interface. It is used for objects whose actual interface is not known.
void define_abstract_stub(const Spelling& spelling, DefId id, const std::vector<Call>& calls, Text& out) {
  const std::string name = spelling.name(id), stub = "_stub_of_" + spelling.model()[id].name;
  out.line("namespace {\n");
  out.list(fill("class $0 final : ", {stub}),
           {"public virtual " + spelling.qualified(id), "public virtual ::CORBA::Object"}, " {");
  out.indent();
  out.label("public:");
  out.line("explicit $0(const ::corelane::core::StubInit& _init) : ::CORBA::Object(_init) {}", {stub});
  for (const Call& call : calls)
    out.list(fill("$0 $1(", {result_type(spelling, call), call.name}), parameters(spelling, call), ") override;");
  out.close("};\n");
  for (const Call& call : calls) write_stub(spelling, id, stub, call, out);
  out.line("}  // namespace\n");
  out.open(
      "::CORBA::abstractbase_reference<$0> $0::_stub(const std::shared_ptr<::corelane::core::Reference>& _reference) {",
      {name});
  out.line("return ::corelane::core::make_stub<$0>(_reference);", {stub});
  out.close("}\n");
}

}  // namespace

std::vector<std::string> base_initialisers(const Spelling& spelling, DefId id) {
  std::vector<std::string> out = {"::CORBA::Object(_init)"};
  for (const DefId base : construction_order(spelling.model(), id))
    if (!is_abstract_interface(spelling, base)) out.push_back(spelling.qualified(base) + "(_init)");
  return out;
}

void define_operations(const Spelling& spelling, const std::string& space, const std::vector<Call>& calls, Text& out) {
  out.line("namespace {\nnamespace $0 {", {space});
  for (const Call& call : calls) {
    write_raises(spelling, call, out);
    out.list(fill("constexpr ::corelane::core::Operation $0_operation{", {internal_name(call)}),
             {fill(".name = \"$0\"", {call.wire_name}), manner_of(call)}, "};");
  }
  out.line("}  // namespace $0\n}  // namespace\n", {space});
}

bool is_abstract_interface(const Spelling& spelling, DefId id) {
  return interface_of(spelling, id).kind == InterfaceKind::abstract;
}

bool is_local_interface(const Spelling& spelling, DefId id) {
  return interface_of(spelling, id).kind == InterfaceKind::local;
}

void declare_interface(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  const bool is_local = is_local_interface(spelling, id);
  out.line();
  out.list(fill("class $0 : ", {attributed(spelling.model()[id], name)}), interface_bases(spelling, id), " {");
  out.indent();
  out.label("public:");
  const bool is_abstract = is_abstract_interface(spelling, id);
  out.line("using _ref_type = ::CORBA::$1_reference<$0>;", {name, is_abstract ? "abstractbase" : "object"});
  out.line("static constexpr const char* _id = $0;", {string_literal(spelling.model()[id].repository_id)});
  declare_nested_types(spelling, id, out);
  if (is_local) {
    out.line("_ref_type _this() { return _ref_type(::corelane::shared_self(*this)); }");
    declare_calls(spelling, id, all_calls_of(spelling, id), " = 0;", out);
  } else if (is_abstract) {
    out.line("static _ref_type _stub(const std::shared_ptr<::corelane::core::Reference>& _reference);");
    declare_calls(spelling, id, calls_of(spelling, id), " = 0;", out);
  } else {
    out.list(fill("explicit $0(const ::corelane::core::StubInit& _init) : ", {name}), base_initialisers(spelling, id),
             " {}");
    declare_calls(spelling, id, class_calls_of(spelling, id), ";", out);
  }
  out.line();
  out.label("protected:");
  out.line("$0() = default;", {name});
  if (is_abstract) out.line("$0(const $0&) = default;", {name});
  out.close("};");
}

void define_interface(const Spelling& spelling, DefId id, Text& out) {
  for (const DefId nested : interface_of(spelling, id).contents) define_type(spelling, nested, out);
  if (is_local_interface(spelling, id)) return;
  const bool is_abstract = is_abstract_interface(spelling, id);
  const std::vector<Call> calls = is_abstract ? all_calls_of(spelling, id) : class_calls_of(spelling, id);
  if (!calls.empty()) define_operations(spelling, "_calls_of_" + spelling.model()[id].name, calls, out);
  if (interface_of(spelling, id).replies_of == DefId::none) define_reference_codec(spelling, id, out);
  if (is_abstract) return define_abstract_stub(spelling, id, calls, out);
  for (const Call& call : calls) write_stub(spelling, id, spelling.name(id), call, out);
}

void write_interface_traits(const Spelling& spelling, const std::vector<DefId>& interfaces, Text& out) {
  if (interfaces.empty()) return;
  out.line("\nnamespace IDL {");
  for (const DefId id : interfaces)
    out.line("template <>\nstruct traits<$0> : $1<$0> {};",
             {spelling.qualified(id), is_local_interface(spelling, id)      ? "::IDL::local_traits"
                                      : is_abstract_interface(spelling, id) ? "::corelane::core::AbstractTraits"
                                                                            : "::corelane::core::InterfaceTraits"});
  out.line("}  // namespace IDL");
}

}  // namespace corelane::idl::cxx
