#include "idl/cxx/support.h"

#include <string_view>

#include "idl/model/names.h"

namespace corelane::idl::cxx {
namespace {

bool is_supported(const Type& type) {
  switch (type.kind) {
    case TypeKind::wide_character:
    case TypeKind::float128:
    case TypeKind::any:
    case TypeKind::object:
    case TypeKind::value_base:
    case TypeKind::type_code:
    case TypeKind::wide_string:
    case TypeKind::fixed:
    case TypeKind::array:
    case TypeKind::map:
    case TypeKind::union_:
    case TypeKind::bitmask:
    case TypeKind::bitset:
    case TypeKind::value:
    case TypeKind::value_box:
    case TypeKind::native:
      return false;
    default:
      return type.bound == 0;
  }
}

class Survey {
 public:
  explicit Survey(const Model& model) : model_(model) {}

  std::vector<Unsupported> run() {
    for (const Definition& definition : model_.definitions) {
      if (definition.file != FileId::main) continue;
      place_ = definition.place;
      std::visit([&](const auto& body) { look(body); }, definition.body);
    }
    return std::move(found_);
  }

 private:
  void refuse(const std::string& what) { found_.push_back({place_, what + " cannot be written as C++ yet"}); }

  // The type and what it is made of, up to names.
  void type(TypeId id, const Place& place) {
    place_ = place;
    for (; id != TypeId::none; id = model_[id].element) {
      if (!is_supported(model_[id])) return refuse("`" + type_name(model_, id) + "`");
      if (model_[id].kind == TypeKind::alias) return;
    }
  }

  void members(const std::vector<Member>& members) {
    for (const Member& member : members) {
      type(member.type, member.place);
      if (member.optional) refuse("an optional member");
    }
  }
  void contents(const std::vector<DefId>& contents) {
    if (!contents.empty()) refuse("a type defined inside a member's declaration");
  }
  void parameters(const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters) type(parameter.type, parameter.place);
  }

  void look(const Module&) {}
  void look(const Forward& forward) {
    if (forward.target == DefId::none) return refuse("an interface that is never defined");
    const DefinitionKind kind = model_[forward.target].kind();
    if (kind != DefinitionKind::interface && kind != DefinitionKind::structure) refuse(std::string(keyword_of(kind)));
  }
  void look(const Alias& alias) { type(alias.aliased, place_); }
  void look(const Constant& constant) { type(constant.type, place_); }
  void look(const Enumeration& enumeration) {
    if (enumeration.bit_bound != 32) refuse("@bit_bound of an enum");
    for (std::size_t i = 0; i < enumeration.enumerators.size(); ++i)
      if (enumeration.enumerators[i].value != i) return refuse("@value");
  }
  void look(const Exception& exception) {
    contents(exception.contents);
    members(exception.members);
  }
  void look(const Structure& structure) {
    if (structure.base != DefId::none) refuse("inheritance of structs");
    if (structure.members.empty()) refuse("a struct without members");
    contents(structure.contents);
    members(structure.members);
  }
  void look(const Interface& interface) {
    if (interface.kind != InterfaceKind::unconstrained) refuse("an abstract or local interface");
    for (const Operation& operation : interface.operations) {
      type(operation.result, operation.place);
      if (!operation.contexts.empty()) refuse("`context`");
      parameters(operation.parameters);
    }
    for (const Attribute& attribute : interface.attributes) type(attribute.type, attribute.place);
  }
  void look(const Union&) { refuse("`union`"); }
  void look(const Valuetype&) { refuse("`valuetype`"); }
  void look(const ValueBox&) { refuse("`valuetype`"); }
  void look(const Native&) { refuse("`native`"); }
  void look(const Bitmask&) { refuse("`bitmask`"); }
  void look(const Bitset&) { refuse("`bitset`"); }

  const Model& model_;
  Place place_;
  std::vector<Unsupported> found_;
};

}  // namespace

std::vector<Unsupported> unsupported_in(const Model& model) { return Survey(model).run(); }

}  // namespace corelane::idl::cxx
