#include "idl/cxx/support.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include "idl/cxx/async/ami_clashes.h"
#include "idl/cxx/calls/calls.h"
#include "idl/cxx/definitions/interfaces.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/model/names.h"

namespace corelane::idl::cxx {
namespace {

class Survey {
 public:
  Survey(const Model& model, const Options& options)
      : model_(model), spelling_(model), extensions_(options.extensions) {}

  std::vector<Unsupported> run() {
    look_at_files();
    for (std::size_t i = 0; i < model_.definitions.size(); ++i) {
      const Definition& definition = model_.definitions[i];
      if (definition.file != FileId::main) continue;
      place_ = definition.place;
      std::visit([&](const auto& body) { look(body); }, definition.body);
      look_at_names(static_cast<DefId>(i));
    }
    return std::move(found_);
  }

 private:
  // Reports two files with the same name below their root folders, since they would have the same C++ files.
  void look_at_files() {
    std::map<std::string, std::string> known;
    for (std::size_t i = 0; i < model_.files.size(); ++i) {
      const File& file = model_.files[i];
      if (!file.generates_code) continue;
      const auto [first, is_new] = known.try_emplace(stem_of(file), file.path);
      if (is_new) continue;
      found_.push_back({place_of_include(static_cast<FileId>(i)),
                        "`" + first->second + "` and `" + file.path + "` would both be `" + first->first +
                            "C.h`: name a folder that holds both with -I, or rename one"});
    }
  }

  // Returns the place of the first #include that names this file.
  Place place_of_include(FileId id) const {
    for (std::size_t i = 0; i < model_.files.size(); ++i) {
      const File& file = model_.files[i];
      const auto at = std::ranges::find(file.includes, id) - file.includes.begin();
      if (static_cast<std::size_t>(at) < file.include_lines.size())
        return {static_cast<FileId>(i), file.include_lines[static_cast<std::size_t>(at)], 1, 1};
    }
    return {};
  }

  void require_extensions(const std::string& what) {
    if (extensions_) return;
    found_.push_back({place_, what + " has no standard encoding in CORBA; allow Corelane's own with --extensions"});
  }

  // Checks a type and its element types, but not what an alias stands for.
  void type(TypeId id, const Place& place) {
    place_ = place;
    for (; id != TypeId::none; id = model_[id].element) {
      if (model_[id].kind == TypeKind::map) return require_extensions("`" + type_name(model_, id) + "`");
      if (model_[id].kind == TypeKind::alias) return;
    }
  }

  void member(const Member& member) {
    type(member.type, member.place);
    if (member.optional) require_extensions("an optional member");
  }
  void members(const std::vector<Member>& members) {
    for (const Member& one : members) member(one);
  }
  void parameters(const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters) type(parameter.type, parameter.place);
  }

  // Checks that no member function has the name of its class. That concerns the operations and attributes that the
  // class declares. Stubs and skeletons declare their own, and some that they have from abstract interfaces. A local
  // interface is checked with those of all its bases. A value declares its own, and those of the interfaces that it or
  // its bases support.
  void look_at_names(DefId id) {
    const DefinitionKind kind = model_[id].kind();
    if (kind == DefinitionKind::value) return look_at_names(id, value_calls_of(spelling_, id), spelling_.name(id));
    if (kind != DefinitionKind::interface || is_abstract_interface(spelling_, id)) return;
    if (is_local_interface(spelling_, id)) return look_at_names(id, all_calls_of(spelling_, id), spelling_.name(id));
    look_at_names(id, class_calls_of(spelling_, id), spelling_.name(id));
    if (spelling_.skeleton_name(id) != spelling_.name(id))
      look_at_names(id, class_calls_of(spelling_, id), spelling_.skeleton_name(id));
  }

  void look_at_names(DefId id, const std::vector<Call>& calls, const std::string& name) {
    const auto same = std::ranges::find(calls, name, &Call::name);
    if (same == calls.end()) return;
    found_.push_back({model_[id].place, "`" + model_[same->declared_in].scoped_name + "::" + same->wire_name +
                                            "` would be a member of the C++ class `" + name +
                                            "`, where that name means the constructor; rename one"});
  }

  void look(const Module&) {}
  void look(const Forward&) {}
  void look(const Alias& alias) { type(alias.aliased, place_); }
  void look(const Constant& constant) { type(constant.type, place_); }
  void look(const Exception& exception) { members(exception.members); }
  void look(const Structure& structure) { members(structure.members); }
  void look(const Union& u) {
    for (const UnionBranch& branch : u.branches) member(branch.member);
  }
  void look(const Interface& interface) {
    const Place name = place_;
    calls(interface.operations, interface.attributes);
    if (interface.kind == InterfaceKind::local) return;
    const auto look_at_native = [&](TypeId id, const Place& place, const std::string& what) {
      if (id != TypeId::none && spelling_.is_local(id))
        found_.push_back(
            {place, what + " is of a native type, which cannot leave the process: make the interface local"});
    };
    for (const Operation& operation : interface.operations) {
      look_at_native(operation.result, operation.place, "the result of `" + operation.name + "`");
      for (const Parameter& parameter : operation.parameters)
        look_at_native(parameter.type, parameter.place, "`" + parameter.name + "`");
    }
    for (const Attribute& attribute : interface.attributes)
      look_at_native(attribute.type, attribute.place, "`" + attribute.name + "`");
    place_ = name;
  }
  void calls(const std::vector<Operation>& operations, const std::vector<Attribute>& attributes) {
    for (const Operation& operation : operations) {
      type(operation.result, operation.place);
      parameters(operation.parameters);
    }
    for (const Attribute& attribute : attributes) type(attribute.type, attribute.place);
  }
  void look(const Enumeration&) {}
  void look(const Bitmask&) {}
  void look(const Bitset&) {}
  void look(const Native&) {}
  void look(const Valuetype& value) {
    for (const StateMember& state : value.state) member(state.member);
    for (const Factory& factory : value.factories) parameters(factory.parameters);
    calls(value.operations, value.attributes);
  }
  void look(const ValueBox& box) { type(box.boxed, place_); }

  const Model& model_;
  const Spelling spelling_;
  const bool extensions_;
  Place place_;
  std::vector<Unsupported> found_;
};

}  // namespace

std::vector<Unsupported> unsupported_in(const Model& model, const Options& options) {
  std::vector<Unsupported> found = Survey(model, options).run();
  if (options.ami) std::ranges::move(clashing_async_names(model), std::back_inserter(found));
  return found;
}

}  // namespace corelane::idl::cxx
