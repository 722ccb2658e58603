#include "idl/cxx/async/ami.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "idl/cxx/calls/calls.h"
#include "idl/cxx/spelling/layout.h"
#include "idl/cxx/spelling/spelling.h"

namespace corelane::idl::cxx {
namespace {

class Implied {
 public:
  explicit Implied(const Model& model) : spelling_(model), from_(model), model_(model) {}

  Model run() {
    move_main();
    define_messaging();
    for (const DefId id : interfaces_of_main(from_))
      if (has_handler(id)) define_handler(id);
    return std::move(model_);
  }

 private:
  // Makes the main file an included one. The new main file is fooAmi.idl.
  void move_main() {
    const FileId moved = add_file(from_[FileId::main]);
    model_[moved].is_main = false;
    File& main = model_[FileId::main];
    main.include_path = stem_of(main) + "Ami.idl";
    main.includes = {moved};
    for (Definition& definition : model_.definitions)
      if (definition.file == FileId::main) definition.file = moved;
  }

  FileId add_file(File file) {
    model_.files.push_back(std::move(file));
    return static_cast<FileId>(model_.files.size() - 1);
  }

  DefId define(Definition definition) {
    model_.definitions.push_back(std::move(definition));
    return static_cast<DefId>(model_.definitions.size() - 1);
  }
  // Defines a type together with its definition.
  DefId define_type(TypeKind kind, Definition definition) {
    const auto type = static_cast<TypeId>(model_.types.size());
    definition.type = type;
    const DefId id = define(std::move(definition));
    model_.types.push_back({.kind = kind, .resolved = type, .definition = id});
    return id;
  }

  // Defines what the library has of module Messaging, see orb/corba/messaging.h.
  void define_messaging() {
    const FileId file =
        add_file({.path = "Messaging.idl", .include_path = "Messaging.idl", .includes = {}, .generates_code = false});
    const auto part = [&](const std::string& name, DefId scope, auto body) {
      return Definition{.name = name,
                        .scoped_name = scope == DefId::none ? name : "Messaging::" + name,
                        .repository_id = "IDL:omg.org/Messaging" + (scope == DefId::none ? "" : "/" + name) + ":1.0",
                        .scope = scope,
                        .file = file,
                        .annotations = {},
                        .place = {},
                        .body = std::move(body)};
    };
    const DefId module = define(part("Messaging", DefId::none, Module{}));
    root_ = define_type(TypeKind::interface, part("ReplyHandler", module, Interface{}));
    holder_ = model_[define_type(TypeKind::value, part("ExceptionHolder", module, Valuetype{}))].type;
    void_ = static_cast<TypeId>(model_.types.size());
    model_.types.push_back({.kind = TypeKind::void_, .resolved = void_});
  }

  // Returns "AMI_FooHandler", with more "AMI_" in front if that name is taken.
  std::string name_of(DefId id) const {
    std::string name = "AMI_" + from_[id].name + "Handler";
    const auto is_taken = [&](const Definition& other) { return other.scope == from_[id].scope && other.name == name; };
    while (std::ranges::any_of(from_.definitions, is_taken)) name.insert(0, "AMI_");  // bound: the number of names
    return name;
  }

  // Returns the file of the interface's handler. The handler for an interface in bar.idl is in barAmi.idl.
  FileId file_of(DefId id) {
    if (from_.is_main(id)) return FileId::main;
    const std::string path = stem_of(from_[from_[id].file]) + "Ami.idl";
    const auto known = std::ranges::find(model_.files, path, &File::include_path);
    if (known != model_.files.end()) return static_cast<FileId>(known - model_.files.begin());
    const FileId file = add_file({.path = path, .include_path = path, .includes = {}});
    model_[FileId::main].includes.push_back(file);
    return file;
  }

  // Returns whether the interface has a reply handler. Abstract interfaces have one, so that an interface which
  // inherits the same operations twice gets one handler for them. The library has no handlers for its own interfaces.
  bool has_handler(DefId id) const {
    return std::get<Interface>(from_[id].body).kind != InterfaceKind::local && from_[from_[id].file].generates_code;
  }

  std::vector<DefId> base_handlers(DefId id) {
    std::vector<DefId> bases;
    for (const DefId base : std::get<Interface>(from_[id].body).bases)
      if (has_handler(base)) bases.push_back(define_handler(base));
    if (bases.empty()) bases.push_back(root_);
    return bases;
  }

  DefId define_handler(DefId id) {
    if (const auto known = handlers_.find(id); known != handlers_.end()) return known->second;
    Interface handler;
    handler.bases = base_handlers(id);
    for (const DefId base : handler.bases) add_ancestors(base, handler.ancestors);
    handler.operations = operations_of(id, handler.ancestors);
    handler.replies_of = id;
    Definition definition = from_[id];
    definition.name = name_of(id);
    definition.file = file_of(id);
    definition.annotations = {};
    rename(definition.scoped_name, from_[id].name, definition.name, "");
    rename(definition.repository_id, from_[id].name, definition.name, ":");
    definition.body = std::move(handler);
    const DefId made = define_type(TypeKind::interface, std::move(definition));
    handlers_.emplace(id, made);
    insert_behind(id, made);
    return made;
  }

  void add_ancestors(DefId base, std::vector<DefId>& out) const {
    for (const DefId of : std::get<Interface>(model_[base].body).ancestors) add_once(of, out);
    add_once(base, out);
  }
  static void add_once(DefId id, std::vector<DefId>& out) {
    if (std::ranges::find(out, id) == out.end()) out.push_back(id);
  }

  // Replaces the last `from` before the last `end`; if `end` is "", before the end of the text.
  static void rename(std::string& text, const std::string& from, const std::string& to, std::string_view end) {
    const std::size_t stop = end.empty() ? text.size() : text.rfind(end);
    const std::size_t at = stop == std::string::npos ? stop : text.rfind(from, stop - from.size());
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }

  void insert_behind(DefId id, DefId handler) {
    const DefId scope = from_[id].scope;
    std::vector<DefId>& contents =
        scope == DefId::none ? model_.contents : std::get<Module>(model_[scope].body).contents;
    contents.insert(std::next(std::ranges::find(contents, id)), handler);
  }

  // Returns two operations per call, its reply and its exception. The names of operations are chosen first, so replies
  // of attributes and exceptions get the changed names.
  std::vector<Operation> operations_of(DefId id, const std::vector<DefId>& ancestors) {
    std::vector<Operation> out;
    const std::vector<Call> calls = calls_of(spelling_, id);
    std::set<std::string> taken = names_in(ancestors);
    std::vector<std::string> replies(calls.size());
    for (const bool accessors : {false, true})
      for (std::size_t i = 0; i < calls.size(); ++i)
        if (is_accessor(calls[i]) == accessors) replies[i] = free_name("", plain_name(calls[i]), taken);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::string failure = free_name("", plain_name(calls[i]) + "_excep", taken);
      out.push_back(operation(replies[i], reply_parameters(calls[i])));
      out.push_back(operation(failure, {parameter("excep_holder", holder_)}));
    }
    return out;
  }

  std::set<std::string> names_in(const std::vector<DefId>& handlers) const {
    std::set<std::string> names;
    for (const DefId handler : handlers)
      for (const Operation& operation : std::get<Interface>(model_[handler].body).operations)
        names.insert(operation.name);
    return names;
  }

  Operation operation(const std::string& name, std::vector<Parameter> parameters) const {
    Operation made;
    made.name = name;
    made.result = void_;
    made.parameters = std::move(parameters);
    return made;
  }
  static Parameter parameter(const std::string& name, TypeId type) {
    return {.name = name, .type = type, .direction = Direction::in, .annotations = {}, .place = {}};
  }

  static std::vector<Parameter> reply_parameters(const Call& call) {
    std::vector<Parameter> out;
    std::set<std::string> taken;
    for (const Argument& argument : call.arguments) taken.insert(argument.name);
    if (call.returns()) out.push_back(parameter(free_name("", "ami_return_val", taken), call.result));
    for (const Argument& argument : call.arguments)
      if (argument.direction != Direction::in) out.push_back(parameter(argument.name, argument.type));
    return out;
  }

  const Spelling spelling_;
  const Model& from_;
  Model model_;
  std::map<DefId, DefId> handlers_;
  DefId root_ = DefId::none;
  TypeId holder_ = TypeId::none;
  TypeId void_ = TypeId::none;
};

}  // namespace

Model with_reply_handlers(const Model& model) { return Implied(model).run(); }

}  // namespace corelane::idl::cxx
