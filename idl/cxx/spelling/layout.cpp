#include "idl/cxx/spelling/layout.h"

#include <algorithm>
#include <string_view>

namespace corelane::idl::cxx {
namespace {

// Returns whether it is CORBA::TypeCode, which the library defines even if an IDL file declares it.
bool is_type_code(const Model& model, DefId id) {
  const TypeId type = model[id].type;
  return type != TypeId::none && model[id].kind() == DefinitionKind::interface &&
         model[type].kind == TypeKind::type_code;
}

void append_definitions(const Model& model, const std::vector<DefId>& contents, std::vector<DefId>& out) {
  for (const DefId id : contents) {
    if (const auto* module = std::get_if<Module>(&model[id].body))
      append_definitions(model, module->contents, out);
    else if (model.is_main(id) && !is_type_code(model, id))
      out.push_back(id);
  }
}

}  // namespace

std::string stem_of(const File& file) {
  const std::string& path = file.include_path;
  for (const std::string_view extension : {".idl", ".pidl"})
    if (path.ends_with(extension)) return path.substr(0, path.size() - extension.size());
  return path;
}

std::string include_name(const Model& model, const std::string& header) {
  const bool is_in_folder = stem_of(model[FileId::main]).find('/') != std::string::npos;
  return is_in_folder ? "<" + header + ">" : "\"" + header + "\"";
}

bool includes_orb(const Model& model) {
  return std::ranges::any_of(model.files,
                             [](const File& file) { return !file.generates_code && file.include_path == "orb.idl"; });
}

std::vector<DefId> definitions_of_main(const Model& model) {
  std::vector<DefId> out;
  append_definitions(model, model.contents, out);
  return out;
}

std::vector<DefId> interfaces_of_main(const Model& model) {
  std::vector<DefId> out = definitions_of_main(model);
  std::erase_if(out, [&](DefId id) { return model[id].kind() != DefinitionKind::interface; });
  return out;
}

std::vector<DefId> servants_of_main(const Model& model) {
  std::vector<DefId> out = interfaces_of_main(model);
  std::erase_if(out,
                [&](DefId id) { return std::get<Interface>(model[id].body).kind != InterfaceKind::unconstrained; });
  return out;
}

void Namespaces::enter(const std::string& name) {
  if (name == current_) return;
  if (!current_.empty()) out_.line("\n}  // namespace $0\n", {current_});
  current_ = name;
  if (!current_.empty()) out_.line("\nnamespace $0 {\n", {current_});
}

}  // namespace corelane::idl::cxx
