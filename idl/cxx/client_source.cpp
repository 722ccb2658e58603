// fooC.cpp: encoding and decoding, exceptions, and the stubs.
#include "idl/cxx/calls.h"
#include "idl/cxx/emit.h"
#include "idl/cxx/fields.h"
#include "idl/cxx/layout.h"

namespace corelane::idl::cxx {
namespace {

class ClientSource {
 public:
  explicit ClientSource(const Spelling& spelling) : spelling_(spelling), model_(spelling.model()) {}

  std::string text() {
    write_head(spelling_, out_);
    out_.line("#include \"$0C.h\"\n", {stem_of(model_[FileId::main])});
    Namespaces namespaces(out_);
    for (const DefId id : definitions_of_main(model_)) {
      if (!has_code(id)) continue;
      namespaces.enter(spelling_.module_of(id));
      write_definition(id, "");
    }
    namespaces.leave();
    return out_.str();
  }

 private:
  bool has_code(DefId id) const {
    switch (model_[id].kind()) {
      case DefinitionKind::structure:
      case DefinitionKind::exception:
      case DefinitionKind::enumeration:
      case DefinitionKind::interface:
        return true;
      default:
        return false;
    }
  }

  // `prefix` names the interface around a type: "Controller::".
  void write_definition(DefId id, const std::string& prefix) {
    const std::string name = prefix + spelling_.name(id);
    switch (model_[id].kind()) {
      case DefinitionKind::structure:
        return write_structure(id, name);
      case DefinitionKind::exception:
        return write_exception(id, name);
      case DefinitionKind::enumeration:
        return write_enumeration(id, name);
      case DefinitionKind::interface:
        return write_interface(id);
      default:
        return;
    }
  }

  void write_enumeration(DefId id, const std::string& name) {
    const auto& enumerators = std::get<Enumeration>(model_[id].body).enumerators;
    out_.line("void encode(::corelane::cdr::Writer& _writer, $0 _value) {", {name});
    out_.line("  ::corelane::cdr::write_enum(_writer, _value);\n}");
    out_.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
    out_.line("  return ::corelane::cdr::read_enum(_reader, _value, $0);\n}\n", {std::to_string(enumerators.size())});
  }

  void write_structure(DefId id, const std::string& name) {
    const std::vector<Field> fields = fields_of(spelling_, id);
    write_constructor(id, name, fields);
    if (fields.empty()) {
      out_.line("void $0::swap($0&) {}\n", {name});
    } else {
      out_.open("void $0::swap($0& _other) {", {name});
      out_.line("using std::swap;");
      for (const Field& field : fields) out_.line("swap($0, _other.$0);", {field.data});
      out_.close("}\n");
    }
    out_.line("void swap($0& _a, $0& _b) { _a.swap(_b); }\n", {name});
    write_codec(name, fields);
  }

  void write_exception(DefId id, const std::string& name) {
    const std::vector<Field> fields = fields_of(spelling_, id);
    write_constructor(id, name, fields);
    out_.line("const char* $0::_rep_id() const noexcept { return _id; }\n", {name});
    out_.line("const char* $0::what() const noexcept { return \"$1\"; }\n", {name, model_[id].scoped_name});
    out_.line("void $0::_raise() const { throw *this; }\n", {name});
    const std::string scope = spelling_.module_of(id);
    out_.line("void $0::_encode(::corelane::cdr::Writer& _writer) const { $1::encode(_writer, *this); }\n",
              {name, scope.empty() ? scope : "::" + scope});
    write_codec(name, fields);
  }

  void write_constructor(DefId id, const std::string& name, const std::vector<Field>& fields) {
    if (fields.empty()) return;
    out_.list(fill("$0::$1(", {name, spelling_.name(id)}), constructor_parameters(fields), ")");
    out_.list("    : ", initialisers(fields), " {}");
    out_.line();
  }

  void write_codec(const std::string& name, const std::vector<Field>& fields) {
    if (fields.empty()) {
      out_.line("void encode(::corelane::cdr::Writer&, const $0&) {}\n", {name});
      out_.line("bool decode(::corelane::cdr::Reader& _reader, $0&) { return _reader.ok(); }\n", {name});
      return;
    }
    out_.open("void encode(::corelane::cdr::Writer& _writer, const $0& _value) {", {name});
    for (const Field& field : fields) out_.line("encode(_writer, _value.$0());", {field.name});
    out_.close("}\n");
    out_.open("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
    for (const Field& field : fields)
      out_.line("$0decode(_reader, _value.$1())$2", {&field == &fields.front() ? "return " : "       ", field.name,
                                                     &field == &fields.back() ? ";" : " &&"});
    out_.close("}\n");
  }

  void write_interface(DefId id) {
    const std::string name = spelling_.name(id);
    for (const DefId nested : std::get<Interface>(model_[id].body).contents) write_definition(nested, name + "::");
    const std::vector<Call> calls = calls_of(spelling_, id);
    if (calls.empty()) return;
    const std::string& own_name = model_[id].name;
    out_.line("namespace {\nnamespace _calls_of_$0 {", {own_name});
    for (const Call& call : calls) {
      write_raises(spelling_, call, out_);
      out_.list(fill("constexpr ::corelane::core::Operation $0_operation{", {call.wire_name}),
                {fill(".name = \"$0\"", {call.wire_name}), manner_of(call)}, "};");
    }
    out_.line("}  // namespace _calls_of_$0\n}  // namespace\n", {own_name});
    for (const Call& call : calls) write_stub(id, call);
  }

  void write_stub(DefId id, const Call& call) {
    std::vector<std::string> back = returned(call);
    std::vector<std::string> frame;
    for (const Argument& argument : call.arguments) frame.push_back(argument.name);
    if (call.returns()) {
      back.insert(back.begin(), "_result");
      frame.insert(frame.begin(), "_result");
    }
    const std::string end = call.returns() ? "return _result;" : "return;";

    out_.list(fill("$0 $1::$2(", {result_type(spelling_, call), spelling_.name(id), call.name}),
              parameters(spelling_, call), ") {");
    out_.indent();
    if (call.returns())
      out_.line("$0 _result$1;", {spelling_.type(call.result), spelling_.is_scalar(call.result) ? "{}" : ""});
    out_.line("::corelane::core::Invocation _call(*this, _calls_of_$0::$1_operation);",
              {model_[id].name, call.wire_name});
    out_.list("if (_call.try_local(", frame, ")) " + end);
    out_.list("_call.marshal(", sent(call), ");");
    out_.line("_call.invoke();");
    if (!call.oneway) out_.list("_call.unmarshal(", back, ");");
    if (call.returns()) out_.line("return _result;");
    out_.close("}\n");
  }

  const Spelling& spelling_;
  const Model& model_;
  Text out_;
};

}  // namespace

std::string client_source(const Spelling& spelling) { return ClientSource(spelling).text(); }

}  // namespace corelane::idl::cxx
