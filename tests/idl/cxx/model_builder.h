// Builds checked models like the semantic analysis, so that tests of the back end need no front end.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "idl/model/model.h"

namespace corelane::idl::test {

struct Named {
  std::string name;
  TypeId type;
  Direction direction = Direction::in;
};
using NamedList = std::vector<Named>;

class ModelBuilder {
 public:
  explicit ModelBuilder(const std::string& path = "demo.idl") {
    model.files.push_back({.path = path, .include_path = path, .includes = {}, .is_main = true});
  }

  // Definitions up to the next call belong to this included file. back_to_main() ends this.
  FileId include(const std::string& path, bool generates_code = true) {
    const FileId id{static_cast<std::uint32_t>(model.files.size())};
    model.files.push_back({.path = path, .include_path = path, .includes = {}, .generates_code = generates_code});
    model[FileId::main].includes.push_back(id);
    return file_ = id;
  }
  void back_to_main() { file_ = FileId::main; }

  void open_module(const std::string& name) { scopes_.push_back(define(name, Module{})); }
  void close() { scopes_.pop_back(); }

  TypeId basic(TypeKind kind) { return intern({.kind = kind}); }
  TypeId string() { return basic(TypeKind::string); }
  TypeId sequence(TypeId element) { return intern({.kind = TypeKind::sequence, .element = element}); }

  TypeId structure(const std::string& name, const NamedList& members) {
    return make_type(TypeKind::structure, define(name, Structure{members_of(members)}));
  }
  // For structures that contain themselves.
  TypeId open_structure(const std::string& name) { return structure(name, {}); }
  void set_members(TypeId type, const NamedList& members) {
    std::get<Structure>(model[model[type].definition].body) = {members_of(members), true};
  }
  DefId exception(const std::string& name, const NamedList& members) {
    return define(name, Exception{members_of(members)});
  }
  TypeId enumeration(const std::string& name, const std::vector<std::string>& names) {
    Enumeration enumeration;
    for (const std::string& n : names)
      enumeration.enumerators.push_back({n, n, static_cast<std::uint32_t>(enumeration.enumerators.size()), {}, {}});
    return make_type(TypeKind::enumeration, define(name, enumeration));
  }
  TypeId alias(const std::string& name, TypeId aliased) {
    const DefId id = define(name, Alias{aliased});
    const TypeId type = make_type(TypeKind::alias, id, aliased);
    model[type].resolved = model[aliased].resolved;
    return type;
  }
  void constant(const std::string& name, TypeId type, const Value& value) { define(name, Constant{type, value}); }
  void forward(TypeId type) { define(model[model[type].definition].name, Forward{model[type].definition}); }

  // The interface is a scope until close(). declare_interface() makes the type early, for forward declarations.
  TypeId declare_interface(const std::string& name) {
    const DefId id = add(name, Interface{});
    return make_type(TypeKind::interface, id);
  }
  TypeId open_interface(const std::string& name, const std::vector<TypeId>& bases = {}) {
    const TypeId type = declare_interface(name);
    open_interface(type, bases);
    return type;
  }
  void open_interface(TypeId type, const std::vector<TypeId>& bases = {}) {
    const DefId id = model[type].definition;
    contents().push_back(id);
    Interface& self = std::get<Interface>(model[id].body);
    for (const TypeId base : bases) {
      const DefId base_id = model[base].definition;
      self.bases.push_back(base_id);
      for (const DefId ancestor : std::get<Interface>(model[base_id].body).ancestors) add_ancestor(self, ancestor);
      add_ancestor(self, base_id);
    }
    scopes_.push_back(id);
  }
  Operation& operation(const std::string& name, TypeId result, const NamedList& parameters = {}) {
    Operation operation;
    operation.name = name;
    operation.result = result;
    for (const Named& p : parameters) operation.parameters.push_back({p.name, p.type, p.direction, {}, {}});
    auto& operations = std::get<Interface>(model[scopes_.back()].body).operations;
    return operations.emplace_back(std::move(operation));
  }
  Attribute& attribute(const std::string& name, TypeId type, bool readonly = false) {
    Attribute attribute;
    attribute.name = name;
    attribute.type = type;
    attribute.readonly = readonly;
    auto& attributes = std::get<Interface>(model[scopes_.back()].body).attributes;
    return attributes.emplace_back(std::move(attribute));
  }

  Model model;

 private:
  std::vector<DefId>& contents() {
    if (scopes_.empty()) return model.contents;
    Definition& scope = model[scopes_.back()];
    if (auto* module = std::get_if<Module>(&scope.body)) return module->contents;
    return std::get<Interface>(scope.body).contents;
  }

  template <typename Body>
  DefId add(const std::string& name, const Body& body) {
    const DefId id{static_cast<std::uint32_t>(model.definitions.size())};
    Definition definition;
    definition.name = name;
    definition.scope = scopes_.empty() ? DefId::none : scopes_.back();
    definition.scoped_name = scopes_.empty() ? name : model[scopes_.back()].scoped_name + "::" + name;
    definition.repository_id = repository_id_of(definition.scoped_name);
    definition.file = file_;
    definition.body = body;
    model.definitions.push_back(definition);
    return id;
  }
  template <typename Body>
  DefId define(const std::string& name, const Body& body) {
    const DefId id = add(name, body);
    contents().push_back(id);
    return id;
  }

  TypeId make_type(TypeKind kind, DefId definition, TypeId element = TypeId::none) {
    const TypeId type = intern({.kind = kind, .element = element, .definition = definition});
    model[definition].type = type;
    return type;
  }
  TypeId intern(Type type) {
    for (std::size_t i = 0; i < model.types.size(); ++i) {
      const Type& other = model.types[i];
      if (other.kind == type.kind && other.element == type.element && other.definition == type.definition)
        return TypeId{static_cast<std::uint32_t>(i)};
    }
    const TypeId id{static_cast<std::uint32_t>(model.types.size())};
    if (type.resolved == TypeId::none) type.resolved = id;
    model.types.push_back(type);
    return id;
  }

  static std::string repository_id_of(const std::string& scoped_name) {
    std::string id("IDL:");
    for (std::size_t i = 0; i < scoped_name.size(); ++i) {
      const bool is_separator = scoped_name[i] == ':';
      id.push_back(is_separator ? '/' : scoped_name[i]);
      if (is_separator) ++i;  // skips the second colon
    }
    return id.append(":1.0");
  }
  static std::vector<Member> members_of(const NamedList& members) {
    std::vector<Member> out;
    for (const Named& member : members) out.push_back({member.name, member.type, {}, {}});
    return out;
  }
  static void add_ancestor(Interface& self, DefId ancestor) {
    if (std::ranges::find(self.ancestors, ancestor) == self.ancestors.end()) self.ancestors.push_back(ancestor);
  }

  FileId file_ = FileId::main;
  std::vector<DefId> scopes_;
};

}  // namespace corelane::idl::test
