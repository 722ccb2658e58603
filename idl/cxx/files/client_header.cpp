// Writes fooC.h: types, exceptions, constants, and the interfaces for clients.
#include <algorithm>
#include <set>

#include "idl/cxx/async/async.h"
#include "idl/cxx/definitions/fields.h"
#include "idl/cxx/definitions/interfaces.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/definitions/types.h"
#include "idl/cxx/definitions/values.h"
#include "idl/cxx/files/emit.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/cxx/spelling/literals.h"

namespace corelane::idl::cxx {
namespace {

// Custom marshaling needs another header of the library.
bool is_custom(const Definition& definition) {
  const auto* value = std::get_if<Valuetype>(&definition.body);
  return value != nullptr && value->kind == ValueKind::custom;
}

bool declares_abstract_interface(const Definition& definition) {
  const auto* interface = std::get_if<Interface>(&definition.body);
  const auto* forward = std::get_if<Forward>(&definition.body);
  return (interface != nullptr && interface->kind == InterfaceKind::abstract) ||
         (forward != nullptr && forward->kind == InterfaceKind::abstract);
}

bool is_reply_handler(const Definition& definition) {
  const auto* interface = std::get_if<Interface>(&definition.body);
  return interface != nullptr && interface->replies_of != DefId::none;
}

bool has_optional(const Definition& definition) {
  const auto is_optional = [](const Member& member) { return member.optional; };
  if (const auto* structure = std::get_if<Structure>(&definition.body))
    return std::ranges::any_of(structure->members, is_optional);
  if (const auto* exception = std::get_if<Exception>(&definition.body))
    return std::ranges::any_of(exception->members, is_optional);
  if (const auto* u = std::get_if<Union>(&definition.body))
    return std::ranges::any_of(u->branches, [&](const UnionBranch& branch) { return is_optional(branch.member); });
  if (const auto* value = std::get_if<Valuetype>(&definition.body))
    return std::ranges::any_of(value->state, [&](const StateMember& state) { return is_optional(state.member); });
  return false;
}

// Returns the headers of the library that only some files need.
std::set<std::string_view> extra_headers(const Model& model) {
  std::set<std::string_view> headers;
  for (const Type& type : model.types) {
    if (type.kind == TypeKind::any) headers.insert("any");
    if (type.kind == TypeKind::union_) headers.insert("union");
    if (type.kind == TypeKind::fixed) headers.insert("fixed");
    if (type.kind == TypeKind::map) headers.insert("extensions");
    if (type.kind == TypeKind::external) headers.insert("external");
    if (type.bound != 0 && type.kind != TypeKind::array) headers.insert("bounded");
    if (type.kind == TypeKind::value || type.kind == TypeKind::value_box || type.kind == TypeKind::value_base)
      headers.insert("value");
  }
  if (std::ranges::any_of(model.definitions, has_optional)) headers.insert("extensions");
  if (includes_orb(model)) headers.insert("orb_objects");
  if (std::ranges::any_of(model.definitions, declares_abstract_interface)) headers.insert("abstract");
  if (std::ranges::any_of(model.definitions, is_custom)) headers.insert("custom_marshal");
  if (std::ranges::any_of(model.definitions, is_reply_handler)) headers.insert("messaging");
  return headers;
}

class ClientHeader {
 public:
  explicit ClientHeader(const Spelling& spelling) : spelling_(spelling), model_(spelling.model()) {}

  std::string text() {
    write_top();
    Namespaces namespaces(out_);
    for (const DefId id : definitions_of_main(model_)) {
      if (model_[id].kind() == DefinitionKind::native) continue;
      if (model_[id].place.file == FileId::main) write_includes(model_[id].place.line, &namespaces);
      namespaces.enter(spelling_.module_of(id));
      write_definition(id);
    }
    write_includes(last_line, &namespaces);
    namespaces.leave();
    write_interface_traits(spelling_, interfaces_of_main(model_), out_);
    write_value_traits(spelling_, out_);
    write_bit_bounds(spelling_, out_);
    write_empty_sizes(spelling_, out_);
    write_type_code_table(spelling_, out_);
    // A reply handler is a servant, so fooAmiC.h includes fooAmiS.h.
    if (std::ranges::any_of(model_.definitions, is_reply_handler))
      out_.line("\n#include $0", {include_name(model_, stem_of(model_[FileId::main]) + "S.h")});
    return out_.str();
  }

 private:
  static constexpr std::uint32_t last_line = 0xffff'ffff;

  void write_top() {
    const File& file = model_[FileId::main];
    write_head(spelling_, out_);
    out_.line("#pragma once\n\n#include \"orb/generated.h\"");
    for (const std::string_view header : extra_headers(model_)) out_.line("#include \"orb/corba/$0.h\"", {header});
    write_includes(first_line(), nullptr);
    out_.line("\nstatic_assert(::corelane::generated_version == 3,");
    const std::string message = file.include_path + " was compiled for another Corelane: run corelane-idl again";
    out_.line("              $0);\n", {message_literal(message)});
  }

  // Returns the line of the first definition in the main file.
  std::uint32_t first_line() const {
    for (const DefId id : definitions_of_main(model_))
      if (model_[id].place.file == FileId::main) return model_[id].place.line;
    return last_line;
  }

  // Writes the #includes that come before `line` and are not written yet. They keep their positions between the
  // definitions. So files that include each other in a cycle see the same as their IDL.
  void write_includes(std::uint32_t line, Namespaces* namespaces) {
    const File& file = model_[FileId::main];
    const auto stands_before = [&](std::size_t i) {
      return i >= file.include_lines.size() || file.include_lines[i] <= line;
    };
    for (; included_ < file.includes.size() && stands_before(included_); ++included_) {
      const File& included = model_[file.includes[included_]];
      if (!included.generates_code) continue;
      if (namespaces != nullptr) namespaces->leave();
      out_.line("#include $0", {include_name(model_, stem_of(included) + "C.h")});
    }
  }

  // Writes a definition. The free functions of a type in a module follow the type. Those of a type in an interface
  // follow the interface: they must be in the namespace, where argument-dependent lookup finds them.
  void write_definition(DefId id) {
    separate(id);
    declared_.insert(id);
    switch (model_[id].kind()) {
      case DefinitionKind::forward:
        return write_forward(id);
      case DefinitionKind::interface:
        declare_interface(spelling_, id, out_);
        if (is_reply_handler(model_[id])) declare_async_stub(spelling_, id, out_);
        break;
      default:
        declare_type(spelling_, id, out_);
    }
    declare_functions(spelling_, id, out_);
  }

  // Writes an empty line, except between constants and aliases.
  void separate(DefId id) {
    const DefinitionKind kind = model_[id].kind();
    const bool is_line = kind == DefinitionKind::constant || kind == DefinitionKind::alias;
    if (!is_line || !after_line_) out_.line();
    after_line_ = is_line;
  }

  // Writes a forward declaration of a class: at most once, and never after the definition.
  void write_forward(DefId id) {
    const DefId target = std::get<Forward>(model_[id].body).target;
    if (target == DefId::none) return write_foreign(id);
    if (!declared_.insert(target).second) return;
    declare_forward(spelling_, target, out_);
  }

  // Declares a class that another file defines. The code that marshals a reference to it is in that file.
  void write_foreign(DefId id) {
    if (!foreign_.insert(model_[id].type).second) return;
    out_.line("class $0;", {spelling_.name(id)});
    if (!is_local_definition(spelling_, id)) declare_reference_codec(spelling_, id, out_);
  }

  const Spelling& spelling_;
  const Model& model_;
  Text out_;
  std::set<DefId> declared_;
  std::set<TypeId> foreign_;
  std::size_t included_ = 0;  // how many of the main file's #includes are written
  bool after_line_ = false;
};

}  // namespace

std::string client_header(const Spelling& spelling) { return ClientHeader(spelling).text(); }

}  // namespace corelane::idl::cxx
