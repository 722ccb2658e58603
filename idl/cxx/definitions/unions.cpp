// Writes unions: a discriminator and a std::variant. Alternative 0 of the variant means "no member".
#include <algorithm>

#include "idl/cxx/definitions/fields.h"
#include "idl/cxx/definitions/typecodes.h"
#include "idl/cxx/definitions/types.h"
#include "idl/cxx/spelling/deprecated.h"

namespace corelane::idl::cxx {
namespace {

struct Branch {
  Field field;
  std::string alternative;          // index in the variant
  std::vector<std::string> labels;  // as expressions; without `default`
  bool is_default = false;
  std::string discriminator;  // the setter's default value for the discriminator

  // Returns whether several discriminators select it. Then its setter has a parameter for the discriminator.
  bool is_many() const { return labels.size() > 1 || is_default; }
};

class UnionWriter {
 public:
  UnionWriter(const Spelling& spelling, DefId id, Text& out)
      : spelling_(spelling),
        id_(id),
        union_(std::get<Union>(spelling.model()[id].body)),
        type_(spelling.type(union_.discriminator)),
        out_(out) {
    std::vector<Member> members;
    for (const UnionBranch& branch : union_.branches) members.push_back(branch.member);
    const std::vector<Field> fields = fields_of(spelling, id, members);
    for (std::size_t i = 0; i < fields.size(); ++i) branches_.push_back(branch_of(fields[i], i));
  }

  void declare() {
    const std::string name = spelling_.name(id_);
    out_.line();
    out_.open("class $0 {", {attributed(spelling_.model()[id_], name)});
    out_.label("public:");
    declare_nested(spelling_, union_.contents, out_);
    // Not inline: g++ 12 reports members of an inlined variant as uninitialized (-Wmaybe-uninitialized).
    out_.line("$0();\n$0(const $0& _other);\n$0($0&& _other) noexcept;\n~$0()$1;",
              {name, is_plain() ? " = default" : ""});
    out_.line("$0& operator=(const $0& _other);\n$0& operator=($0&& _other) noexcept;\n", {name});
    out_.line("// BAD_PARAM where `_value` selects another member than the one that is there.");
    out_.line("void _d($0 _value);\n$0 _d() const { return _d_; }", {type_});
    if (has_empty()) out_.line("void _default();");
    for (const Branch& branch : branches_) declare_accessors(branch);
    out_.line("\nvoid swap($0& _other) noexcept;", {name});
    out_.line("// The alternative of the variant that this discriminator selects; 0: no member.");
    out_.line("static std::size_t _member($0 _value) noexcept;\n", {type_});
    out_.label("private:");
    std::vector<std::string> alternatives = {"std::monostate"};
    for (const Branch& branch : branches_) alternatives.push_back(branch.field.type);
    out_.line("$0 _d_ = $1;", {type_, first_discriminator()});
    out_.list("std::variant<", alternatives, "> _member_;");
    out_.close("};");
  }

  void define() {
    const std::string name = spelling_.local_name(id_);
    define_default_constructor(name);
    out_.line("$0::$1(const $1&) = default;\n$0::$1($1&&) noexcept = default;", {name, spelling_.name(id_)});
    if (!is_plain()) out_.line("$0::~$1() = default;", {name, spelling_.name(id_)});
    out_.line("$0& $0::operator=(const $1&) = default;\n$0& $0::operator=($1&&) noexcept = default;\n",
              {name, spelling_.name(id_)});
    define_selection(name);
    define_discriminator(name);
    for (const Branch& branch : branches_) define_accessors(name, branch);
    out_.open("void $0::swap($1& _other) noexcept {", {name, spelling_.name(id_)});
    out_.line("std::swap(_d_, _other._d_);\n_member_.swap(_other._member_);");
    out_.close("}\n");
    out_.line("void swap($0& _a, $0& _b) { _a.swap(_b); }\n", {name});
    if (!is_local_definition(spelling_, id_)) define_codec(name);
  }

 private:
  Branch branch_of(const Field& field, std::size_t index) const {
    const UnionBranch& from = union_.branches[index];
    Branch branch{field, std::to_string(index + 1), {}, from.is_default, {}};
    for (const Value& label : from.labels) branch.labels.push_back(spelling_.value(union_.discriminator, label));
    if (!branch.labels.empty())
      branch.discriminator = branch.labels.front();
    else if (union_.unlabelled)
      branch.discriminator = spelling_.value(union_.discriminator, *union_.unlabelled);
    return branch;
  }

  bool has_default() const {
    for (const Branch& branch : branches_)
      if (branch.is_default) return true;
    return false;
  }
  // Returns whether some discriminators select no member.
  bool has_empty() const { return union_.unlabelled && !has_default(); }

  // Returns the member of a new union. It is the `default` member if there is one. Otherwise there is none if a
  // discriminator can select none, or else it is the first member. IDL to C++11, 6.14.2.
  const Branch* first_member() const {
    const auto found = std::ranges::find(branches_, true, &Branch::is_default);
    if (found != branches_.end()) return &*found;
    return has_empty() ? nullptr : &branches_.front();
  }
  std::string first_discriminator() const {
    const Branch* const first = first_member();
    return first == nullptr ? spelling_.value(union_.discriminator, *union_.unlabelled) : first->discriminator;
  }

  void define_default_constructor(const std::string& owner) {
    const Branch* const first = first_member();
    if (first == nullptr) return out_.line("$0::$1() = default;\n", {owner, spelling_.name(id_)});
    const std::string value = spelling_.initial_value(first->field.idl_type);
    out_.line("$0::$1() : _member_(std::in_place_index<$2>$3) {}\n",
              {owner, spelling_.name(id_), first->alternative, value.empty() ? value : ", " + value});
  }

  // Returns whether no member needs a destructor.
  bool is_plain() const {
    return std::ranges::none_of(branches_, [](const Branch& branch) { return branch.field.movable; });
  }

  void declare_accessors(const Branch& branch) {
    const Field& field = branch.field;
    const std::string more = branch.is_many() ? fill(", $0 _discriminator = $1", {type_, branch.discriminator}) : "";
    out_.line();
    const auto declare = [&](std::string_view pattern) {
      write_attribute(field.attribute, out_);
      out_.line(pattern, {field.name, field.type, more});
    };
    if (field.scalar) {
      declare("void $0($1 _value$2);");
      declare("$1 $0() const;");
    } else {
      declare("void $0(const $1& _value$2);");
      declare("void $0($1&& _value$2);");
      declare("const $1& $0() const;");
    }
    declare("$1& $0();");
  }

  // Converts booleans to numbers, because g++ warns about a switch over a boolean.
  std::string switchable(std::string_view value) const {
    return is_boolean() ? fill("static_cast<int>($0)", {value}) : std::string(value);
  }
  bool is_boolean() const { return spelling_.model().resolved(union_.discriminator).kind == TypeKind::boolean; }
  std::string case_label(const std::string& label) const {
    return is_boolean() ? (label == "true" ? "1" : "0") : label;
  }

  void define_selection(const std::string& name) {
    out_.open("std::size_t $0::_member($1 _value) noexcept {", {name, type_});
    out_.line("switch ($0) {", {switchable("_value")});
    std::string otherwise = "0";
    for (const Branch& branch : branches_) {
      if (branch.is_default) {
        otherwise = branch.alternative;  // the labels of the default branch need no case of their own
        continue;
      }
      for (const std::string& label : branch.labels) out_.line("  case $0:", {case_label(label)});
      out_.line("    return $0;", {branch.alternative});
    }
    out_.line("  default:\n    return $0;\n}", {otherwise});
    out_.close("}\n");
  }

  void define_discriminator(const std::string& name) {
    out_.open("void $0::_d($1 _value) {", {name, type_});
    out_.line("if (_member(_value) != _member_.index()) ::corelane::core::raise_union_member();");
    out_.line("_d_ = _value;");
    out_.close("}\n");
    if (!has_empty()) return;
    out_.open("void $0::_default() {", {name});
    out_.line("_member_.emplace<0>();\n_d_ = $0;", {spelling_.value(union_.discriminator, *union_.unlabelled)});
    out_.close("}\n");
  }

  void define_setter(const std::string& owner, const Branch& branch, std::string_view parameter,
                     std::string_view value) {
    const bool many = branch.is_many();
    out_.open("void $0::$1($2 _value$3) {",
              {owner, branch.field.name, parameter, many ? ", " + type_ + " _discriminator" : ""});
    if (many)
      out_.line("if (_member(_discriminator) != $0) ::corelane::core::raise_union_member();", {branch.alternative});
    out_.line("_member_.emplace<$0>($1);\n_d_ = $2;",
              {branch.alternative, value, many ? "_discriminator" : branch.discriminator});
    out_.close("}");
  }

  void define_getter(const std::string& owner, const Branch& branch, const std::string& result,
                     std::string_view suffix) {
    out_.open("$0 $1::$2()$3 {", {result, owner, branch.field.name, suffix});
    out_.line("return ::corelane::core::union_member<$0>(_member_);", {branch.alternative});
    out_.close("}");
  }

  void define_accessors(const std::string& owner, const Branch& branch) {
    const std::string& type = branch.field.type;
    if (branch.field.scalar) {
      define_setter(owner, branch, type, "_value");
    } else {
      define_setter(owner, branch, "const " + type + "&", "_value");
      define_setter(owner, branch, type + "&&", moved(branch.field, "_value"));
    }
    define_getter(owner, branch, branch.field.scalar ? type : "const " + type + "&", " const");
    define_getter(owner, branch, type + "&", "");
    out_.line();
  }

  void define_codec(const std::string& name) {
    out_.open("void encode(::corelane::cdr::Writer& _writer, const $0& _value) {", {name});
    out_.line("encode(_writer, _value._d());\nswitch ($0::_member(_value._d())) {", {name});
    for (const Branch& branch : branches_)
      out_.line("  case $0:\n    return encode(_writer, _value.$1());", {branch.alternative, branch.field.name});
    out_.line("  default:\n    return;\n}");
    out_.close("}\n");
    out_.open("bool decode(::corelane::cdr::Reader& _reader, $0& _value) {", {name});
    out_.line("$0 _discriminator{};\nif (!decode(_reader, _discriminator)) return false;", {type_});
    out_.line("switch ($0::_member(_discriminator)) {", {name});
    for (const Branch& branch : branches_) define_decoding(branch);
    out_.line("  default:\n    $0",
              {has_empty() ? "_value._default();\n    _value._d(_discriminator);\n    return true;"
                           : "return _reader.fail(::corelane::minor::bad_enum);"});
    out_.line("}");
    out_.close("}\n");
  }

  void define_decoding(const Branch& branch) {
    out_.line("  case $0: {", {branch.alternative});
    out_.line("    $0 _item$1;",
              {branch.field.type, branch.field.scalar ? "{}" : spelling_.initial(branch.field.idl_type)});
    out_.line("    if (!decode(_reader, _item)) return false;");
    out_.line("    _value.$0($1$2);",
              {branch.field.name, moved(branch.field, "_item"), branch.is_many() ? ", _discriminator" : ""});
    out_.line("    return true;\n  }");
  }

  const Spelling& spelling_;
  const DefId id_;
  const Union& union_;
  const std::string type_;  // type of the discriminator
  Text& out_;
  std::vector<Branch> branches_;
};

}  // namespace

void declare_union(const Spelling& spelling, DefId id, Text& out) { UnionWriter(spelling, id, out).declare(); }
void define_union(const Spelling& spelling, DefId id, Text& out) { UnionWriter(spelling, id, out).define(); }

}  // namespace corelane::idl::cxx
