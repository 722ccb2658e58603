// Writes fooS.h: the classes that servants derive from.
#include <algorithm>
#include <iterator>

#include "idl/cxx/async/async.h"
#include "idl/cxx/calls/call_text.h"
#include "idl/cxx/calls/calls.h"
#include "idl/cxx/files/emit.h"
#include "idl/cxx/spelling/layout.h"

namespace corelane::idl::cxx {
namespace {

// Returns the bases that have skeletons: those that are not abstract.
std::vector<DefId> skeleton_bases(const Model& model, DefId id) {
  std::vector<DefId> bases = std::get<Interface>(model[id].body).bases;
  std::erase_if(bases,
                [&](DefId base) { return std::get<Interface>(model[base].body).kind == InterfaceKind::abstract; });
  return bases;
}

// Returns the value types whose values can also be servants.
std::vector<DefId> serving_values_of_main(const Model& model) {
  std::vector<DefId> out = definitions_of_main(model);
  std::erase_if(
      out, [&](DefId id) { return model[id].kind() != DefinitionKind::value || served_by(model, id) == DefId::none; });
  return out;
}

// Returns the files that contain bases of the main file's skeletons, each once.
std::vector<FileId> files_of_bases(const Model& model) {
  std::vector<DefId> bases;
  for (const DefId id : servants_of_main(model))
    std::ranges::copy(skeleton_bases(model, id), std::back_inserter(bases));
  for (const DefId id : serving_values_of_main(model)) bases.push_back(served_by(model, id));
  std::vector<FileId> files;
  for (const DefId base : bases)
    if (!model.is_main(base) && model[model[base].file].generates_code &&
        std::ranges::find(files, model[base].file) == files.end())
      files.push_back(model[base].file);
  return files;
}

std::vector<std::string> servant_bases(const Spelling& spelling, DefId id) {
  const std::vector<DefId> bases = skeleton_bases(spelling.model(), id);
  if (bases.empty()) return {"public virtual ::PortableServer::ServantBase"};
  std::vector<std::string> out;
  for (const DefId base : bases) out.push_back("public virtual " + spelling.skeleton_qualified(base));
  return out;
}

void write_class(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.skeleton_name(id);
  out.list(fill("class $0 : ", {name}), servant_bases(spelling, id), " {");
  out.indent();
  out.label("public:");
  out.line("using _ref_type = ::CORBA::servant_reference<$0>;", {name});
  out.line("using _stub_type = $0;\n", {spelling.qualified(id)});
  out.open("::CORBA::object_reference<$0> _this() {", {spelling.qualified(id)});
  out.line("return ::corelane::core::make_stub<$0>(_activated_reference());", {spelling.qualified(id)});
  out.close("}\n");
  for (const Call& call : class_calls_of(spelling, id)) declare_pure(spelling, call, out);
  out.line("\nconst ::corelane::core::Skeleton& _skeleton() const noexcept override;");
  out.line("void* _self() noexcept override { return this; }");
  out.close("};\n");
}

std::string tie_name(const Spelling& spelling, DefId id) { return "_tie_of_" + spelling.model()[id].name; }

// Writes the class of a value that is also a servant. A program's class derives from this one and from the one that
// keeps the state.
void write_value_class(const Spelling& spelling, DefId id, Text& out) {
  const DefId interface = served_by(spelling.model(), id);
  const std::string name = spelling.skeleton_name(id);
  out.list(fill("class $0 : ", {name}),
           {"public virtual " + spelling.qualified(id), "public virtual " + spelling.skeleton_qualified(interface)},
           " {");
  out.indent();
  out.label("public:");
  out.line("using _ref_type = ::CORBA::servant_reference<$0>;", {name});
  out.close("};\n");
}

// Writes a tie: a servant that forwards each call to an object of the user, which need not derive from anything.
void write_tie(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = tie_name(spelling, id);
  out.line("template <typename _tied_type>");
  out.open("class $0 final : public $1 {", {name, spelling.skeleton_qualified(id)});
  out.label("public:");
  out.line("explicit $0(std::shared_ptr<_tied_type> _object) : _tied(std::move(_object)) {}", {name});
  out.line("const std::shared_ptr<_tied_type>& _tied_object() const { return _tied; }\n");
  for (const Call& call : all_calls_of(spelling, id)) {
    std::vector<std::string> arguments;
    for (const Argument& argument : call.arguments) arguments.push_back(argument.name);
    out.list(fill("$0 $1(", {result_type(spelling, call), call.name}), parameters(spelling, call), ") override {");
    out.list(fill("  return _tied->$0(", {call.name}), arguments, ");");
    out.line("}");
  }
  out.line();
  out.label("private:");
  out.line("const std::shared_ptr<_tied_type> _tied;");
  out.close("};\n");
}

void write_traits(const Spelling& spelling, Text& out) {
  const std::vector<DefId> interfaces = servants_of_main(spelling.model());
  const std::vector<DefId> values = serving_values_of_main(spelling.model());
  if (interfaces.empty() && values.empty()) return;
  out.line("namespace CORBA {");
  for (const DefId id : interfaces) {
    const std::string stub = spelling.qualified(id);
    const std::string module = spelling.skeleton_module_of(id);
    out.line("template <>");
    out.line("struct servant_traits<$0> : ::corelane::poa::ServantTraits<$1> {",
             {stub, spelling.skeleton_qualified(id)});
    out.line("  template <typename T>");
    out.line("  using tie_type = $0::$1<T>;\n};", {module.empty() ? module : "::" + module, tie_name(spelling, id)});
    write_async_traits(spelling, id, out);
  }
  for (const DefId id : values)
    out.line("template <>\nstruct servant_traits<$0> : ::corelane::poa::ServantTraits<$1> {};",
             {spelling.qualified(id), spelling.skeleton_qualified(id)});
  out.line("}  // namespace CORBA");
}

}  // namespace

std::string servant_header(const Spelling& spelling) {
  const Model& model = spelling.model();
  Text out;
  write_head(spelling, out);
  out.line("#pragma once\n\n#include $0\n#include \"orb/corba/servant.h\"",
           {include_name(model, stem_of(model[FileId::main]) + "C.h")});
  if (includes_orb(model)) out.line("#include \"orb/corba/orb_servants.h\"");
  for (const FileId file : files_of_bases(model))
    out.line("#include $0", {include_name(model, stem_of(model[file]) + "S.h")});
  out.line();
  Namespaces namespaces(out);
  for (const DefId id : servants_of_main(model)) {
    namespaces.enter(spelling.skeleton_module_of(id));
    write_class(spelling, id, out);
    write_tie(spelling, id, out);
  }
  for (const DefId id : serving_values_of_main(model)) {
    namespaces.enter(spelling.skeleton_module_of(id));
    write_value_class(spelling, id, out);
  }
  namespaces.leave();
  write_traits(spelling, out);
  return out.str();
}

}  // namespace corelane::idl::cxx
