#include "idl/cxx/definitions/types.h"

#include "idl/cxx/definitions/fields.h"
#include "idl/cxx/definitions/interfaces.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/definitions/values.h"

namespace corelane::idl::cxx {
namespace {

void declare_constant(const Spelling& spelling, DefId id, Text& out) {
  const Model& model = spelling.model();
  const auto& constant = std::get<Constant>(model[id].body);
  const TypeKind kind = model.resolved(constant.type).kind;
  const bool is_made = kind == TypeKind::string || kind == TypeKind::wide_string || kind == TypeKind::fixed;
  const std::string specifiers =
      std::string(spelling.is_nested(id) ? "static " : "") + (is_made                  ? "inline const"
                                                              : spelling.is_nested(id) ? "constexpr"
                                                                                       : "inline constexpr");
  out.line("$0 $1 $2 = $3;", {specifiers, spelling.type(constant.type), spelling.name(id),
                              spelling.value(constant.type, constant.value)});
}

void declare_alias(const Spelling& spelling, DefId id, Text& out) {
  out.line("using $0 = $1;",
           {spelling.name(id), spelling.alias_type(std::get<Alias>(spelling.model()[id].body).aliased)});
}

// Returns whether values of this kind are passed by value and not by const reference.
bool is_by_value(DefinitionKind kind) { return kind == DefinitionKind::enumeration || kind == DefinitionKind::bitmask; }

// C++ forbids declaring a class twice inside a class, or after its definition there.
void declare_nested_forward(const Spelling& spelling, DefId id, Text& out) {
  const Model& model = spelling.model();
  const DefId target = std::get<Forward>(model[id].body).target;
  if (!spelling.is_nested(id) || target == DefId::none || id > target) return;
  for (const DefId earlier : nested_in(model[model[id].scope])) {
    if (earlier == id) return declare_forward(spelling, target, out);
    const auto* forward = std::get_if<Forward>(&model[earlier].body);
    if (forward != nullptr && forward->target == target) return;
  }
}

bool has_codec(DefinitionKind kind) {
  switch (kind) {
    case DefinitionKind::structure:
    case DefinitionKind::exception:
    case DefinitionKind::union_:
    case DefinitionKind::enumeration:
    case DefinitionKind::bitmask:
    case DefinitionKind::bitset:
      return true;
    default:
      return false;
  }
}

}  // namespace

const std::vector<DefId>& nested_in(const Definition& definition) {
  static const std::vector<DefId> none;
  if (const auto* interface = std::get_if<Interface>(&definition.body)) return interface->contents;
  if (const auto* structure = std::get_if<Structure>(&definition.body)) return structure->contents;
  if (const auto* exception = std::get_if<Exception>(&definition.body)) return exception->contents;
  if (const auto* u = std::get_if<Union>(&definition.body)) return u->contents;
  if (const auto* value = std::get_if<Valuetype>(&definition.body)) return value->contents;
  return none;
}

void declare_codec(const Spelling& spelling, DefId id, bool by_value, Text& out) {
  const std::string type = spelling.local_name(id);
  const std::string argument = by_value ? type : "const " + type + "&";
  if (spelling.model()[id].kind() == DefinitionKind::structure || spelling.model()[id].kind() == DefinitionKind::union_)
    out.line("void swap($0& _a, $0& _b);", {type});
  if (is_local_definition(spelling, id)) return;
  out.line("void encode(::corelane::cdr::Writer& _writer, $0 _value);", {argument});
  out.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value);", {type});
  out.line("std::ostream& operator<<(std::ostream& _out, $0 _value);", {argument});
}

void declare_reference_codec(const Spelling& spelling, DefId id, Text& out) {
  const std::string reference = spelling.type(spelling.model()[id].type);
  out.line("void encode(::corelane::cdr::Writer& _writer, const $0& _value);", {reference});
  out.line("bool decode(::corelane::cdr::Reader& _reader, $0& _value);", {reference});
}

// Does not use the templates for references in core. They ask what T derives from. In a source that only declares T, a
// compiler may keep that answer for the rest of its translation unit.
void define_reference_codec(const Spelling& spelling, DefId id, Text& out) {
  const bool is_value = std::get_if<Interface>(&spelling.model()[id].body) == nullptr;
  const bool is_abstract = !is_value && is_abstract_interface(spelling, id);
  const std::string reference = spelling.type(spelling.model()[id].type);
  out.open("void encode(::corelane::cdr::Writer& _writer, const $0& _value) {", {reference});
  out.line("$0;", {is_value      ? "::corelane::any::encode_value(_writer, _value.shared())"
                   : is_abstract ? "::corelane::core::encode_abstract(_writer, _value)"
                                 : "::corelane::core::encode_reference(_writer, _value.get())"});
  out.close("}");
  out.open("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {reference});
  out.line("return ::corelane::core::$0(_reader, _value);", {is_value      ? "decode_value_as"
                                                             : is_abstract ? "decode_abstract_as"
                                                                           : "decode_reference_as"});
  out.close("}\n");
}

void define_printing(const Spelling& spelling, DefId id, bool by_value, Text& out) {
  const std::string type = spelling.local_name(id);
  out.open("std::ostream& operator<<(std::ostream& _out, $0 _value) {", {by_value ? type : "const " + type + "&"});
  out.line("return ::corelane::core::print(_out, _value, $0);", {type_code_name(spelling, id)});
  out.close("}\n");
}

void declare_forward(const Spelling& spelling, DefId target, Text& out) {
  out.line("$0 $1;", {has_public_members(spelling.model()[target]) ? "struct" : "class", spelling.name(target)});
}

void declare_nested(const Spelling& spelling, const std::vector<DefId>& contents, Text& out) {
  for (const DefId nested : contents) {
    declare_type(spelling, nested, out);
    declare_type_code(spelling, nested, out);
  }
}

void declare_type(const Spelling& spelling, DefId id, Text& out) {
  switch (spelling.model()[id].kind()) {
    case DefinitionKind::structure:
    case DefinitionKind::exception:
      return declare_structure(spelling, id, out);
    case DefinitionKind::union_:
      return declare_union(spelling, id, out);
    case DefinitionKind::enumeration:
      return declare_enumeration(spelling, id, out);
    case DefinitionKind::bitmask:
      return declare_bitmask(spelling, id, out);
    case DefinitionKind::bitset:
      return declare_bitset(spelling, id, out);
    case DefinitionKind::alias:
      return declare_alias(spelling, id, out);
    case DefinitionKind::constant:
      return declare_constant(spelling, id, out);
    case DefinitionKind::value:
      return declare_value(spelling, id, out);
    case DefinitionKind::value_box:
      return declare_value_box(spelling, id, out);
    case DefinitionKind::forward:
      return declare_nested_forward(spelling, id, out);
    default:  // modules have no text of their own; natives have no text at all
      return;
  }
}

void declare_functions(const Spelling& spelling, DefId id, Text& out) {
  const Definition& definition = spelling.model()[id];
  for (const DefId nested : nested_in(definition)) declare_functions(spelling, nested, out);
  if (definition.kind() == DefinitionKind::bitmask) bitmask_functions(spelling, id, out);
  if (has_codec(definition.kind())) declare_codec(spelling, id, is_by_value(definition.kind()), out);
  if (!spelling.is_nested(id)) declare_type_code(spelling, id, out);
}

void define_type(const Spelling& spelling, DefId id, Text& out) {
  const Definition& definition = spelling.model()[id];
  for (const DefId nested : nested_in(definition)) define_type(spelling, nested, out);
  switch (definition.kind()) {
    case DefinitionKind::structure:
    case DefinitionKind::exception:
      define_structure(spelling, id, out);
      break;
    case DefinitionKind::union_:
      define_union(spelling, id, out);
      break;
    case DefinitionKind::enumeration:
      define_enumeration(spelling, id, out);
      break;
    case DefinitionKind::bitmask:
      define_bitmask(spelling, id, out);
      break;
    case DefinitionKind::bitset:
      define_bitset(spelling, id, out);
      break;
    case DefinitionKind::value:
      return define_value(spelling, id, out);
    case DefinitionKind::value_box:
      return define_value_box(spelling, id, out);
    default:
      return;
  }
  if (!is_local_definition(spelling, id)) define_printing(spelling, id, is_by_value(definition.kind()), out);
}

}  // namespace corelane::idl::cxx
