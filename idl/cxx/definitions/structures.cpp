// Writes structures and exceptions.
#include <algorithm>
#include <utility>

#include "idl/cxx/definitions/fields.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/deprecated.h"
#include "idl/cxx/spelling/literals.h"

namespace corelane::idl::cxx {
namespace {

bool is_exception(const Spelling& spelling, DefId id) {
  return spelling.model()[id].kind() == DefinitionKind::exception;
}

// Returns the structure that this one inherits from; none for exceptions.
DefId base_of(const Spelling& spelling, DefId id) {
  const auto* structure = std::get_if<Structure>(&spelling.model()[id].body);
  return structure == nullptr ? DefId::none : structure->base;
}

std::string bases_clause(const Spelling& spelling, DefId id) {
  const DefId base = base_of(spelling, id);
  return base == DefId::none ? "" : " : public " + spelling.qualified(base);
}

void write_data(const std::vector<Field>& fields, Text& out) {
  for (const Field& field : fields) out.line("$0 $1$2;", {field.type, field.data, field.initial});
}

// Returns the parameters of the constructor that takes the base as a whole, then the own members.
std::vector<std::string> base_parameters(const Spelling& spelling, DefId id, DefId base) {
  std::vector<std::string> out = constructor_parameters(fields_of(spelling, id));
  out.insert(out.begin(), spelling.qualified(base) + " _base");
  return out;
}

// Returns whether the type contains, in sequences, maps or external members, a class that is not defined yet at `user`.
bool holds_later(const Model& model, TypeId id, DefId user) {
  for (; id != TypeId::none; id = model[id].element) {
    const Type& type = model.resolved(id);
    if (type.key != TypeId::none && holds_later(model, type.key, user)) return true;
    const bool is_class = type.kind == TypeKind::structure || type.kind == TypeKind::union_;
    if (is_class) return type.definition > user;  // ids ascend in the order of the text
    if (type.element == TypeId::none) return false;
    id = model[id].resolved;
  }
  return false;
}

// Returns whether the class's functions must be defined in the source. Two classes may contain each other. Then only
// the source knows both definitions when it defines the functions of the first one.
bool is_defined_apart(const Spelling& spelling, DefId id) {
  return std::ranges::any_of(fields_of(spelling, id),
                             [&](const Field& field) { return holds_later(spelling.model(), field.idl_type, id); });
}

void write_constructors(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.name(id);
  const std::vector<Field> fields = all_fields_of(spelling, id);
  if (is_defined_apart(spelling, id)) {
    out.line("$0();\n$0(const $0& _other);\n$0($0&& _other) noexcept;", {name});
    out.line("~$0()$1;", {name, is_exception(spelling, id) ? " override" : ""});
    out.line("$0& operator=(const $0& _other);\n$0& operator=($0&& _other) noexcept;", {name});
  } else {
    out.line("$0() = default;", {name});
  }
  if (!fields.empty()) out.list(fill("explicit $0(", {name}), constructor_parameters(fields), ");");
  if (const DefId base = base_of(spelling, id); base != DefId::none)
    out.list(fill("explicit $0(", {name}), base_parameters(spelling, id, base), ");");
}

void write_all_accessors(const Spelling& spelling, DefId id, const std::vector<Field>& fields, Text& out) {
  const bool apart = is_defined_apart(spelling, id);
  for (const Field& field : fields) {
    out.line();
    apart ? declare_accessors(field, out) : write_accessors(field, out);
  }
}

// Declares a structure with public members in the order of declaration: an aggregate.
void declare_public_structure(const Spelling& spelling, DefId id, Text& out) {
  out.open("struct $0$1 {", {attributed(spelling.model()[id], spelling.name(id)), bases_clause(spelling, id)});
  declare_nested(spelling, nested_in(spelling.model()[id]), out);
  for (const Field& field : fields_of(spelling, id)) {
    write_attribute(field.attribute, out);
    write_data({field}, out);
  }
  out.close("};");
}

void declare_class(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<Field> fields = fields_of(spelling, id);
  const std::string name = spelling.name(id);
  out.open("class $0$1 {", {attributed(spelling.model()[id], name), bases_clause(spelling, id)});
  out.label("public:");
  declare_nested(spelling, nested_in(spelling.model()[id]), out);
  write_constructors(spelling, id, out);
  write_all_accessors(spelling, id, fields, out);
  out.line("\nvoid swap($0& _other);", {name});
  if (!fields.empty()) {
    out.line();
    out.label("private:");
    write_data(fields, out);
  }
  out.close("};");
}

void declare_exception(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<Field> fields = fields_of(spelling, id);
  const std::string name = spelling.name(id);
  out.open("class $0 : public ::CORBA::UserException {", {attributed(spelling.model()[id], name)});
  out.label("public:");
  out.line("static constexpr const char* _id = $0;", {string_literal(spelling.model()[id].repository_id)});
  declare_nested(spelling, nested_in(spelling.model()[id]), out);
  write_constructors(spelling, id, out);
  write_all_accessors(spelling, id, fields, out);
  out.line("\nconst char* _rep_id() const noexcept override;\nconst char* what() const noexcept override;");
  out.line("void _raise() const override;");
  if (!is_local_definition(spelling, id))
    out.line("const ::corelane::any::TypeDesc* _type_desc() const noexcept override;");
  out.line();
  out.label("private:");
  out.line("void _encode(::corelane::cdr::Writer& _writer) const override;");
  write_data(fields, out);
  out.close("};");
}

// EmptyStructures knows which structures take no bytes on the wire. It follows nested types by recursion, whose depth
// the analyzer limits (Extent::deepest, Scope::deepest_inheritance).
class EmptyStructures {
 public:
  explicit EmptyStructures(const Model& model) : model_(model), known_(model.definitions.size(), Known::unknown) {}

  bool holds(DefId id) {
    Known& known = known_[static_cast<std::size_t>(id)];
    if (known == Known::unknown) {
      known = Known::has_bytes;  // also what a type that contains itself takes, since a length or a flag comes before
      if (is_empty(id)) known = Known::empty;
    }
    return known == Known::empty;
  }

 private:
  enum class Known : std::uint8_t { unknown, has_bytes, empty };

  bool is_empty(DefId id) {
    const auto* structure = std::get_if<Structure>(&model_[id].body);
    if (structure == nullptr || (structure->base != DefId::none && !holds(structure->base))) return false;
    return std::ranges::all_of(structure->members,
                               [&](const Member& member) { return !member.optional && is_empty(member.type); });
  }
  bool is_empty(TypeId id) {
    const Type* type = &model_.resolved(id);
    while (type->kind == TypeKind::array || type->kind == TypeKind::external) type = &model_.resolved(type->element);
    return type->kind == TypeKind::structure && holds(type->definition);
  }

  const Model& model_;
  std::vector<Known> known_;
};

void define_base_constructor(const Spelling& spelling, DefId id, Text& out) {
  const DefId base = base_of(spelling, id);
  if (base == DefId::none) return;
  std::vector<std::string> inits = initialisers(fields_of(spelling, id));
  const std::string moved_base = spelling.is_movable(spelling.model()[base].type) ? "std::move(_base)" : "_base";
  inits.insert(inits.begin(), spelling.qualified(base) + "(" + moved_base + ")");
  out.list(fill("$0::$1(", {spelling.local_name(id), spelling.name(id)}), base_parameters(spelling, id, base), ")");
  out.list("    : ", inits, " {}");
  out.line();
}

void define_constructor(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<Field> all = all_fields_of(spelling, id);
  if (all.empty()) return;
  std::vector<std::string> inits = initialisers(fields_of(spelling, id));
  if (const DefId base = base_of(spelling, id); base != DefId::none) {
    std::vector<std::string> inherited;
    for (const Field& field : all_fields_of(spelling, base)) inherited.push_back(moved(field));
    if (!inherited.empty()) inits.insert(inits.begin(), spelling.qualified(base) + "(" + join(inherited, ", ") + ")");
  }
  out.list(fill("$0::$1(", {spelling.local_name(id), spelling.name(id)}), constructor_parameters(all), ")");
  out.list("    : ", inits, " {}");
  out.line();
}

// Defines the functions that other classes have in the header.
void define_apart(const Spelling& spelling, DefId id, Text& out) {
  const std::string owner = spelling.local_name(id), name = spelling.name(id);
  out.line("$0::$1() = default;\n$0::$1(const $1&) = default;\n$0::$1($1&&) noexcept = default;", {owner, name});
  out.line("$0::~$1() = default;\n$0& $0::operator=(const $1&) = default;", {owner, name});
  out.line("$0& $0::operator=($1&&) noexcept = default;\n", {owner, name});
  for (const Field& field : fields_of(spelling, id)) define_accessors(owner, field, out);
  out.line();
}

// Writes swap(): a member function of a class, or a free function of a public structure.
void define_swap(const Spelling& spelling, DefId id, Text& out) {
  const std::vector<Field> fields = fields_of(spelling, id);
  const DefId base = base_of(spelling, id);
  const std::string name = spelling.local_name(id);
  const bool is_public = has_public_members(spelling.model()[id]);
  const bool is_empty = fields.empty() && base == DefId::none;
  const std::string_view self = is_public ? "_a." : "", other = is_public ? "_b." : "_other.";
  const std::string head = is_public
                               ? fill("void swap($0&$1, $0&$2)", {name, is_empty ? "" : " _a", is_empty ? "" : " _b"})
                               : fill("void $0::swap($1&$2)", {name, spelling.name(id), is_empty ? "" : " _other"});
  if (is_empty) {
    out.line("$0 {}\n", {head});
  } else {
    out.open("$0 {", {head});
    out.line("using std::swap;");
    if (base != DefId::none)
      out.line("swap(static_cast<$0&>($1), static_cast<$0&>($2));",
               {spelling.qualified(base), is_public ? "_a" : "*this", is_public ? "_b" : "_other"});
    for (const Field& field : fields) out.line("swap($1$0, $2$0);", {field.data, self, other});
    out.close("}\n");
  }
  if (!is_public) out.line("void swap($0& _a, $0& _b) { _a.swap(_b); }\n", {name});
}

void define_exception_functions(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.local_name(id);
  out.line("const char* $0::_rep_id() const noexcept { return _id; }\n", {name});
  out.line("const char* $0::what() const noexcept { return \"$1\"; }\n", {name, spelling.model()[id].scoped_name});
  out.line("void $0::_raise() const { throw *this; }\n", {name});
  const std::string scope = spelling.module_of(id);
  if (is_local_definition(spelling, id))
    return out.line("void $0::_encode(::corelane::cdr::Writer&) const {}\n", {name});
  out.open("const ::corelane::any::TypeDesc* $0::_type_desc() const noexcept {", {name});
  out.line("return ::corelane::any::desc_of<$0>;", {spelling.qualified(id)});
  out.close("}\n");
  out.line("void $0::_encode(::corelane::cdr::Writer& _writer) const { $1::encode(_writer, *this); }\n",
           {name, scope.empty() ? scope : "::" + scope});
}

void define_codec(const Spelling& spelling, DefId id, Text& out) {
  const std::string name = spelling.local_name(id);
  const std::vector<Field> fields = all_fields_of(spelling, id);
  if (fields.empty()) {
    out.line("void encode(::corelane::cdr::Writer&, const $0&) {}\n", {name});
    out.line("bool decode(::corelane::cdr::Reader& _reader, $0&) { return _reader.ok(); }\n", {name});
    return;
  }
  out.open("void encode(::corelane::cdr::Writer& _writer, const $0& _value) {", {name});
  for (const Field& field : fields) out.line("encode(_writer, _value.$0);", {field.access});
  out.close("}\n");
  out.open("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
  for (const Field& field : fields)
    out.line("$0decode(_reader, _value.$1)$2",
             {&field == &fields.front() ? "return " : "       ", field.access, &field == &fields.back() ? ";" : " &&"});
  out.close("}\n");
}

}  // namespace

void write_empty_sizes(const Spelling& spelling, Text& out) {
  const Model& model = spelling.model();
  EmptyStructures empty(model);
  Text rows;
  for (std::size_t i = 0; i < model.definitions.size(); ++i) {
    const auto id = static_cast<DefId>(i);
    if (!model.is_main(id) || is_local_definition(spelling, id) || !empty.holds(id)) continue;
    rows.line("template <>\ninline constexpr std::size_t min_encoded_size<$0> = 0;", {spelling.qualified(id)});
  }
  if (rows.str().empty()) return;
  out.line("\nnamespace corelane::cdr {\n");
  out.line(rows.str());
  out.line("}  // namespace corelane::cdr");
}

void declare_structure(const Spelling& spelling, DefId id, Text& out) {
  out.line();
  if (is_exception(spelling, id)) return declare_exception(spelling, id, out);
  if (has_public_members(spelling.model()[id])) return declare_public_structure(spelling, id, out);
  declare_class(spelling, id, out);
}

void define_structure(const Spelling& spelling, DefId id, Text& out) {
  if (!has_public_members(spelling.model()[id])) {
    define_constructor(spelling, id, out);
    define_base_constructor(spelling, id, out);
    if (is_defined_apart(spelling, id)) define_apart(spelling, id, out);
  }
  if (is_exception(spelling, id))
    define_exception_functions(spelling, id, out);
  else
    define_swap(spelling, id, out);
  if (!is_local_definition(spelling, id)) define_codec(spelling, id, out);
}

}  // namespace corelane::idl::cxx
