#include "idl/tool/dump.h"

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "idl/model/names.h"

namespace corelane::idl::tool {
namespace {

using Json = nlohmann::ordered_json;

// Dump converts a model to JSON. For rare constructs, an absent key means false, none or empty.
class Dump {
 public:
  explicit Dump(const Model& model) : model_(model) {}

  Json all() const {
    Json result;
    for (const File& file : model_.files)
      result["files"].push_back({{"path", file.path}, {"include_path", file.include_path}, {"main", file.is_main}});
    result["definitions"] = definitions(model_.contents);
    return result;
  }

 private:
  // Returns an array with the result of `make` for each item.
  template <typename T, typename Make>
  static Json list(const std::vector<T>& items, const Make& make) {
    Json result = Json::array();
    for (const T& item : items) result.push_back(make(item));
    return result;
  }

  Json definitions(const std::vector<DefId>& ids) const {
    return list(ids, [&](DefId id) { return definition(model_[id]); });
  }
  Json names(const std::vector<DefId>& ids) const {
    return list(ids, [&](DefId id) { return model_[id].scoped_name; });
  }
  std::string type(TypeId id) const { return type_name(model_, id); }

  Json definition(const Definition& definition) const {
    Json result{{"kind", keyword_of(definition.kind())},
                {"name", definition.scoped_name},
                {"id", definition.repository_id},
                {"main", definition.file == FileId::main}};
    add_annotations(result, definition.annotations);
    std::visit([&](const auto& body) { add(result, body); }, definition.body);
    return result;
  }

  Json value(const Value& value) const {
    return std::visit([this](const auto& plain) { return json_of(plain); }, value);
  }
  template <typename T>
  Json json_of(const T& plain) const {
    return plain;
  }
  // Returns a text with all digits, since a JSON number would lose some.
  Json json_of(long double value) const {
    std::array<char, 64> text{};
    return std::string(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
  }
  Json json_of(char c) const { return static_cast<unsigned>(static_cast<unsigned char>(c)); }
  Json json_of(char32_t c) const { return static_cast<std::uint32_t>(c); }
  Json json_of(const std::u32string& text) const {
    Json result = Json::array();
    for (const char32_t c : text) result.push_back(json_of(c));
    return result;
  }
  Json json_of(const EnumeratorRef& e) const {
    return std::get<Enumeration>(model_[e.enumeration].body).enumerators[e.index].scoped_name;
  }
  Json json_of(const Decimal& decimal) const {
    return (decimal.negative ? "-" : "") + decimal.digits + "e-" + std::to_string(decimal.scale);
  }

  void add_annotations(Json& to, const Annotations& annotations) const {
    for (const Annotation& annotation : annotations) {
      Json parameters = Json::object();
      for (const AnnotationParameter& parameter : annotation.parameters)
        parameters[parameter.name] = value(parameter.value);
      to["annotations"].push_back({{"name", annotation.name}, {"parameters", parameters}});
    }
  }

  static void add_flag(Json& to, const char* name, bool flag) {
    if (flag) to[name] = true;
  }
  void add_contents(Json& to, const std::vector<DefId>& contents) const {
    if (!contents.empty()) to["contents"] = definitions(contents);
  }
  void add_base(Json& to, DefId base) const {
    if (base != DefId::none) to["base"] = model_[base].scoped_name;
  }

  Json member(const Member& member) const {
    Json result{{"name", member.name}, {"type", type(member.type)}};
    add_flag(result, "optional", member.optional);
    if (member.default_value) result["default"] = value(*member.default_value);
    add_annotations(result, member.annotations);
    return result;
  }
  Json members(const std::vector<Member>& members) const {
    return list(members, [&](const Member& item) { return member(item); });
  }

  void add(Json& to, const Module& module) const { to["contents"] = definitions(module.contents); }
  void add(Json& to, const Structure& structure) const {
    add_base(to, structure.base);
    add_contents(to, structure.contents);
    to["members"] = members(structure.members);
    add_flag(to, "recursive", structure.recursive);
  }
  void add(Json& to, const Exception& exception) const {
    add_contents(to, exception.contents);
    to["members"] = members(exception.members);
  }
  void add(Json& to, const Alias& alias) const { to["type"] = type(alias.aliased); }
  void add(Json& to, const Forward& forward) const {
    if (forward.target != DefId::none) to["target"] = model_[forward.target].scoped_name;
  }
  void add(Json& to, const Constant& constant) const {
    to["type"] = type(constant.type);
    to["value"] = value(constant.value);
  }
  void add(Json& to, const Native&) const { to["native"] = true; }
  void add(Json& to, const ValueBox& box) const { to["type"] = type(box.boxed); }

  void add(Json& to, const Union& source) const {
    add_contents(to, source.contents);
    to["discriminator"] = type(source.discriminator);
    to["branches"] = list(source.branches, [&](const UnionBranch& branch) {
      Json result = member(branch.member);
      result["labels"] = list(branch.labels, [&](const Value& label) { return value(label); });
      add_flag(result, "is_default", branch.is_default);
      return result;
    });
    if (source.unlabelled) to["unlabelled"] = value(*source.unlabelled);
    add_flag(to, "recursive", source.recursive);
  }

  void add(Json& to, const Enumeration& enumeration) const {
    to["bit_bound"] = enumeration.bit_bound;
    to["default_index"] = enumeration.default_index;
    to["enumerators"] = list(enumeration.enumerators, [&](const Enumerator& enumerator) {
      Json result{{"name", enumerator.name}, {"value", enumerator.value}, {"id", enumerator.repository_id}};
      add_annotations(result, enumerator.annotations);
      return result;
    });
  }
  void add(Json& to, const Bitmask& bitmask) const {
    to["bit_bound"] = bitmask.bit_bound;
    to["bits"] = list(bitmask.bits, [&](const Bit& bit) {
      Json result{{"name", bit.name}, {"position", bit.position}};
      add_annotations(result, bit.annotations);
      return result;
    });
  }
  void add(Json& to, const Bitset& bitset) const {
    add_base(to, bitset.base);
    to["size"] = bitset.bits;
    to["fields"] = list(bitset.fields, [&](const Bitfield& field) {
      Json result{{"name", field.name}, {"type", type(field.type)}, {"bits", field.bits}, {"position", field.position}};
      add_annotations(result, field.annotations);
      return result;
    });
  }

  void add(Json& to, const Interface& interface) const {
    constexpr std::array<std::string_view, 3> kinds = {"unconstrained", "abstract", "local"};
    to["interface_kind"] = kinds[static_cast<std::size_t>(interface.kind)];
    to["bases"] = names(interface.bases);
    to["ancestors"] = names(interface.ancestors);
    to["contents"] = definitions(interface.contents);
    add_features(to, interface.operations, interface.attributes);
  }
  void add(Json& to, const Valuetype& valuetype) const {
    constexpr std::array<std::string_view, 3> kinds = {"concrete", "abstract", "custom"};
    to["value_kind"] = kinds[static_cast<std::size_t>(valuetype.kind)];
    to["bases"] = names(valuetype.bases);
    add_flag(to, "truncatable", valuetype.truncatable);
    to["supports"] = names(valuetype.supports);
    to["ancestors"] = names(valuetype.ancestors);
    to["contents"] = definitions(valuetype.contents);
    to["state"] = list(valuetype.state, [&](const StateMember& state) {
      Json result = member(state.member);
      result["public"] = state.is_public;
      return result;
    });
    to["factories"] = list(valuetype.factories, [&](const Factory& factory) {
      Json result{{"name", factory.name},
                  {"id", factory.repository_id},
                  {"parameters", parameters(factory.parameters)},
                  {"raises", names(factory.raises)}};
      add_annotations(result, factory.annotations);
      return result;
    });
    add_features(to, valuetype.operations, valuetype.attributes);
  }

  void add_features(Json& to, const std::vector<Operation>& operations,
                    const std::vector<Attribute>& attributes) const {
    to["operations"] = list(operations, [&](const Operation& item) { return operation(item); });
    to["attributes"] = list(attributes, [&](const Attribute& attribute) {
      Json result{{"name", attribute.name},
                  {"id", attribute.repository_id},
                  {"type", type(attribute.type)},
                  {"readonly", attribute.readonly},
                  {"get_raises", names(attribute.get_raises)},
                  {"set_raises", names(attribute.set_raises)}};
      add_annotations(result, attribute.annotations);
      return result;
    });
  }

  Json parameters(const std::vector<Parameter>& parameters) const {
    constexpr std::array<std::string_view, 3> directions = {"in", "out", "inout"};
    return list(parameters, [&](const Parameter& parameter) {
      Json result{{"name", parameter.name},
                  {"type", type(parameter.type)},
                  {"direction", directions[static_cast<std::size_t>(parameter.direction)]}};
      add_annotations(result, parameter.annotations);
      return result;
    });
  }

  Json operation(const Operation& operation) const {
    Json result{{"name", operation.name},           {"id", operation.repository_id},
                {"result", type(operation.result)}, {"parameters", parameters(operation.parameters)},
                {"oneway", operation.oneway},       {"raises", names(operation.raises)}};
    if (!operation.contexts.empty()) result["contexts"] = operation.contexts;
    add_annotations(result, operation.annotations);
    if (operation.contract) result["contract"] = contract(*operation.contract);
    return result;
  }

  static Json contract(const TaskContract& contract) {
    constexpr std::array<std::string_view, 3> policies = {"report", "demote", "cancel"};
    Json result{{"period_ns", contract.period.count()},
                {"deadline_ns", contract.deadline.count()},
                {"budget_ns", contract.budget.count()},
                {"jitter_ns", contract.jitter.count()},
                {"suspension_ns", contract.suspension.count()},
                {"importance", contract.importance},
                {"on_overrun", policies[static_cast<std::size_t>(contract.on_overrun)]}};
    if (contract.intensity != 0) result["intensity"] = contract.intensity;
    if (!contract.uses.empty()) result["uses"] = uses(contract);
    return result;
  }

  static Json uses(const TaskContract& contract) {
    Json result = Json::array();
    for (const ResourceUse& use : contract.uses)
      result.push_back({{"resource", use.resource}, {"longest_ns", use.longest.count()}});
    return result;
  }

  const Model& model_;
};

}  // namespace

std::string dump_json(const Model& model) {
  constexpr int indent = 2;
  // Texts of IDL are bytes. Invalid UTF-8 becomes the replacement character.
  return Dump(model).all().dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace corelane::idl::tool
