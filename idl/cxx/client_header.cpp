// fooC.h: types, exceptions, constants, and the interfaces as their clients see them.
#include <set>

#include "idl/cxx/calls.h"
#include "idl/cxx/emit.h"
#include "idl/cxx/fields.h"
#include "idl/cxx/layout.h"
#include "idl/cxx/names.h"

namespace corelane::idl::cxx {
namespace {

class ClientHeader {
 public:
  explicit ClientHeader(const Spelling& spelling) : spelling_(spelling), model_(spelling.model()) {}

  std::string text() {
    write_top();
    Namespaces namespaces(out_);
    for (const DefId id : definitions_of_main(model_)) {
      namespaces.enter(spelling_.module_of(id));
      write_definition(id);
    }
    namespaces.leave();
    write_traits();
    return out_.str();
  }

 private:
  void write_top() {
    const File& file = model_[FileId::main];
    write_head(spelling_, out_);
    out_.line("#pragma once\n\n#include \"orb/generated.h\"");
    for (const FileId included : file.includes)
      if (model_[included].generates_code) out_.line("#include \"$0C.h\"", {stem_of(model_[included])});
    out_.line("\nstatic_assert(::corelane::generated_version == 1,");
    out_.line("              \"$0 was compiled for another Corelane: run corelane-idl again\");\n",
              {file.include_path});
  }

  // A type in a module is followed by its free functions at once; one in an interface has them after the interface,
  // since they stand in the namespace, where calls look for them.
  void write_definition(DefId id) {
    separate(id);
    write_declaration(id);
    if (const auto* interface = std::get_if<Interface>(&model_[id].body))
      for (const DefId nested : interface->contents) write_functions(nested);
    else
      write_functions(id);
  }

  // An empty line, but not between constants and aliases.
  void separate(DefId id) {
    const DefinitionKind kind = model_[id].kind();
    const bool is_line = kind == DefinitionKind::constant || kind == DefinitionKind::alias;
    if (!is_line || !after_line_) out_.line();
    after_line_ = is_line;
  }

  void write_declaration(DefId id) {
    declared_.insert(id);
    switch (model_[id].kind()) {
      case DefinitionKind::interface:
        return write_interface(id);
      case DefinitionKind::structure:
        return write_structure(id);
      case DefinitionKind::enumeration:
        return write_enumeration(id);
      case DefinitionKind::exception:
        return write_exception(id);
      case DefinitionKind::alias:
        return write_alias(id);
      case DefinitionKind::constant:
        return write_constant(id);
      case DefinitionKind::forward:
        return write_forward(std::get<Forward>(model_[id].body).target);
      default:  // modules have no text of their own; unsupported_in() names the rest
        return;
    }
  }

  // A class is declared once before its definition, and never after it.
  void write_forward(DefId target) {
    if (declared_.insert(target).second) out_.line("class $0;", {spelling_.name(target)});
  }

  void write_constant(DefId id) {
    const auto& constant = std::get<Constant>(model_[id].body);
    const bool is_string = model_.resolved(constant.type).kind == TypeKind::string;
    const std::string specifiers = std::string(is_member(id) ? "static " : "") + (is_string       ? "inline const"
                                                                                  : is_member(id) ? "constexpr"
                                                                                                  : "inline constexpr");
    out_.line("$0 $1 $2 = $3;", {specifiers, spelling_.type(constant.type), spelling_.name(id),
                                 spelling_.value(constant.type, constant.value)});
  }

  void write_alias(DefId id) {
    const TypeId aliased = std::get<Alias>(model_[id].body).aliased;
    const std::string type =
        spelling_.is_reference(aliased) ? spelling_.qualified(model_[aliased].definition) : spelling_.type(aliased);
    out_.line("using $0 = $1;", {spelling_.name(id), type});
  }

  void write_enumeration(DefId id) {
    std::vector<std::string> enumerators;
    for (const Enumerator& enumerator : std::get<Enumeration>(model_[id].body).enumerators)
      enumerators.push_back(escaped(enumerator.name, NameUse::plain));
    out_.list(fill("enum class $0 : std::uint32_t { ", {spelling_.name(id)}), enumerators, " };");
  }

  void write_structure(DefId id) {
    const std::vector<Field> fields = fields_of(spelling_, id);
    const std::string name = spelling_.name(id);
    out_.line();
    out_.open("class $0 {", {name});
    out_.label("public:");
    write_constructors(name, fields);
    write_accessors(fields);
    out_.line("\nvoid swap($0& _other);", {name});
    write_data(fields);
    out_.close("};");
  }

  void write_exception(DefId id) {
    const std::vector<Field> fields = fields_of(spelling_, id);
    const std::string name = spelling_.name(id);
    out_.line();
    out_.open("class $0 : public ::CORBA::UserException {", {name});
    out_.label("public:");
    out_.line("static constexpr const char* _id = \"$0\";", {model_[id].repository_id});
    write_constructors(name, fields);
    write_accessors(fields);
    out_.line("\nconst char* _rep_id() const noexcept override;\nconst char* what() const noexcept override;");
    out_.line("void _raise() const override;\n");
    out_.label("private:");
    out_.line("void _encode(::corelane::cdr::Writer& _writer) const override;");
    for (const Field& field : fields) write_datum(field);
    out_.close("};");
  }

  void write_constructors(const std::string& name, const std::vector<Field>& fields) {
    out_.line("$0() = default;", {name});
    if (!fields.empty()) out_.list(fill("explicit $0(", {name}), constructor_parameters(fields), ");");
  }

  void write_accessors(const std::vector<Field>& fields) {
    for (const auto& [name, data, parameter, type, scalar] : fields) {
      out_.line();
      if (scalar) {
        out_.line("void $0($1 _value) { $2 = _value; }\n$1 $0() const { return $2; }", {name, type, data});
      } else {
        out_.line("void $0(const $1& _value) { $2 = _value; }", {name, type, data});
        out_.line("void $0($1&& _value) { $2 = std::move(_value); }", {name, type, data});
        out_.line("const $1& $0() const { return $2; }", {name, type, data});
      }
      out_.line("$1& $0() { return $2; }", {name, type, data});
    }
  }

  void write_data(const std::vector<Field>& fields) {
    if (fields.empty()) return;
    out_.line();
    out_.label("private:");
    for (const Field& field : fields) write_datum(field);
  }

  void write_datum(const Field& field) { out_.line("$0 $1$2;", {field.type, field.data, field.scalar ? "{}" : ""}); }

  void write_interface(DefId id) {
    const std::string name = spelling_.name(id);
    out_.line();
    out_.list(fill("class $0 : ", {name}), base_classes(id), " {");
    out_.indent();
    out_.label("public:");
    out_.line("using _ref_type = ::CORBA::object_reference<$0>;", {name});
    out_.line("static constexpr const char* _id = \"$0\";", {model_[id].repository_id});
    write_nested(id);
    const std::vector<Call> calls = calls_of(spelling_, id);
    out_.list(fill("explicit $0(const ::corelane::core::StubInit& _init) : ", {name}), base_initialisers(id), " {}");
    if (!calls.empty()) out_.line();
    for (const Call& call : calls)
      out_.list(fill("virtual $0 $1(", {result_type(spelling_, call), call.name}), parameters(spelling_, call), ");");
    out_.close("};");
  }

  std::vector<std::string> base_classes(DefId id) const {
    const auto& bases = std::get<Interface>(model_[id].body).bases;
    if (bases.empty()) return {"public virtual ::CORBA::Object"};
    std::vector<std::string> out;
    for (const DefId base : bases) out.push_back("public virtual " + spelling_.qualified(base));
    return out;
  }

  std::vector<std::string> base_initialisers(DefId id) const {
    std::vector<std::string> out = {"::CORBA::Object(_init)"};
    for (const DefId base : construction_order(model_, id)) out.push_back(spelling_.qualified(base) + "(_init)");
    return out;
  }

  void write_nested(DefId id) {
    const auto& contents = std::get<Interface>(model_[id].body).contents;
    after_line_ = false;
    for (const DefId nested : contents) {
      separate(nested);
      write_declaration(nested);
    }
    if (!contents.empty()) out_.line();
  }

  void write_functions(DefId id) {
    const DefinitionKind kind = model_[id].kind();
    const std::string type = member_name(id);
    if (kind == DefinitionKind::enumeration) {
      out_.line("void encode(::corelane::cdr::Writer& _writer, $0 _value);", {type});
    } else if (kind == DefinitionKind::structure || kind == DefinitionKind::exception) {
      if (kind == DefinitionKind::structure) out_.line("void swap($0& _a, $0& _b);", {type});
      out_.line("void encode(::corelane::cdr::Writer& _writer, const $0& _value);", {type});
    } else {
      return;
    }
    out_.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value);", {type});
  }

  void write_traits() {
    const std::vector<DefId> interfaces = interfaces_of_main(model_);
    if (interfaces.empty()) return;
    out_.line();
    out_.line("namespace IDL {");
    for (const DefId id : interfaces)
      out_.line("template <>\nstruct traits<$0> : ::corelane::core::InterfaceTraits<$0> {};",
                {spelling_.qualified(id)});
    out_.line("}  // namespace IDL");
  }

  bool is_member(DefId id) const {
    const DefId scope = model_[id].scope;
    return scope != DefId::none && model_[scope].kind() == DefinitionKind::interface;
  }

  // Seen from the namespace: "Controller::Mode" for a type of an interface.
  std::string member_name(DefId id) const {
    return (is_member(id) ? spelling_.name(model_[id].scope) + "::" : "") + spelling_.name(id);
  }

  const Spelling& spelling_;
  const Model& model_;
  Text out_;
  std::set<DefId> declared_;
  bool after_line_ = false;
};

}  // namespace

std::string client_header(const Spelling& spelling) { return ClientHeader(spelling).text(); }

}  // namespace corelane::idl::cxx
