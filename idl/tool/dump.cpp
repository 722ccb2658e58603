#include "idl/tool/dump.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace corelane::idl::tool {
namespace {

using Json = nlohmann::ordered_json;

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
  Json definitions(const std::vector<DefId>& ids) const {
    Json result = Json::array();
    for (const DefId id : ids) result.push_back(definition(model_[id]));
    return result;
  }

  Json definition(const Definition& definition) const {
    constexpr std::array<std::string_view, 8> kinds = {"module",    "interface", "struct",   "enum",
                                                       "exception", "typedef",   "constant", "forward"};
    Json result{{"kind", kinds[definition.body.index()]},
                {"name", definition.scoped_name},
                {"id", definition.repository_id},
                {"main", definition.file == FileId::main}};
    add_annotations(result, definition.annotations);
    std::visit([&](const auto& body) { add(result, body); }, definition.body);
    return result;
  }

  // Recursion: bounded by the parser's depth of types; a name ends it.
  std::string type(TypeId id) const {
    constexpr std::array<std::string_view, 15> names = {"void",  "boolean",       "octet",     "char",
                                                        "int8",  "uint8",         "short",     "unsigned short",
                                                        "long",  "unsigned long", "long long", "unsigned long long",
                                                        "float", "double",        "string"};
    const Type& entry = model_[id];
    const auto index = static_cast<std::size_t>(entry.kind);
    if (index < names.size()) return std::string(names[index]);
    if (entry.kind == TypeKind::sequence) return "sequence<" + type(entry.element) + ">";
    return model_[entry.definition].scoped_name;
  }

  Json value(const Value& value) const {
    if (const auto* enumerator = std::get_if<EnumeratorRef>(&value))
      return std::get<Enumeration>(model_[enumerator->enumeration].body).enumerators[enumerator->index].scoped_name;
    if (const auto* c = std::get_if<char>(&value)) return static_cast<unsigned>(static_cast<unsigned char>(*c));
    return std::visit(
        [](const auto& plain) -> Json {
          if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, EnumeratorRef>)
            return nullptr;
          else
            return plain;
        },
        value);
  }

  void add_annotations(Json& to, const std::vector<Annotation>& annotations) const {
    for (const Annotation& annotation : annotations) {
      Json parameters = Json::object();
      for (const AnnotationParameter& parameter : annotation.parameters)
        parameters[parameter.name] = value(parameter.value);
      to["annotations"].push_back({{"name", annotation.name}, {"parameters", parameters}});
    }
  }

  Json names(const std::vector<DefId>& ids) const {
    Json result = Json::array();
    for (const DefId id : ids) result.push_back(model_[id].scoped_name);
    return result;
  }

  Json members(const std::vector<Member>& list) const {
    Json result = Json::array();
    for (const Member& member : list) {
      result.push_back({{"name", member.name}, {"type", type(member.type)}});
      add_annotations(result.back(), member.annotations);
    }
    return result;
  }

  void add(Json& to, const Module& module) const { to["contents"] = definitions(module.contents); }
  void add(Json& to, const Structure& structure) const { to["members"] = members(structure.members); }
  void add(Json& to, const Exception& exception) const { to["members"] = members(exception.members); }
  void add(Json& to, const Alias& alias) const { to["type"] = type(alias.aliased); }
  void add(Json& to, const Forward& forward) const { to["target"] = model_[forward.target].scoped_name; }
  void add(Json& to, const Constant& constant) const {
    to["type"] = type(constant.type);
    to["value"] = value(constant.value);
  }
  void add(Json& to, const Enumeration& enumeration) const {
    for (const Enumerator& enumerator : enumeration.enumerators) to["enumerators"].push_back(enumerator.name);
  }
  void add(Json& to, const Interface& interface) const {
    to["bases"] = names(interface.bases);
    to["ancestors"] = names(interface.ancestors);
    to["contents"] = definitions(interface.contents);
    to["operations"] = Json::array();
    for (const Operation& entry : interface.operations) to["operations"].push_back(operation(entry));
    to["attributes"] = Json::array();
    for (const Attribute& attribute : interface.attributes)
      to["attributes"].push_back({{"name", attribute.name},
                                  {"type", type(attribute.type)},
                                  {"readonly", attribute.readonly},
                                  {"get_raises", names(attribute.get_raises)},
                                  {"set_raises", names(attribute.set_raises)}});
  }

  Json operation(const Operation& operation) const {
    constexpr std::array<std::string_view, 3> directions = {"in", "out", "inout"};
    Json result{{"name", operation.name}, {"result", type(operation.result)}, {"parameters", Json::array()}};
    for (const Parameter& parameter : operation.parameters)
      result["parameters"].push_back({{"name", parameter.name},
                                      {"type", type(parameter.type)},
                                      {"direction", directions[static_cast<std::size_t>(parameter.direction)]}});
    result["oneway"] = operation.oneway;
    result["raises"] = names(operation.raises);
    add_annotations(result, operation.annotations);
    if (operation.contract) result["contract"] = contract(*operation.contract);
    return result;
  }

  static Json contract(const TaskContract& contract) {
    constexpr std::array<std::string_view, 3> policies = {"report", "demote", "cancel"};
    return {{"period_ns", contract.period.count()},
            {"deadline_ns", contract.deadline.count()},
            {"budget_ns", contract.budget.count()},
            {"jitter_ns", contract.jitter.count()},
            {"suspension_ns", contract.suspension.count()},
            {"importance", contract.importance},
            {"on_overrun", policies[static_cast<std::size_t>(contract.on_overrun)]}};
  }

  const Model& model_;
};

}  // namespace

std::string dump_json(const Model& model) {
  constexpr int indent = 2;
  // Texts of IDL are bytes; those that are no UTF-8 are shown by the replacement character.
  return Dump(model).all().dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace corelane::idl::tool
