#include "services/corelane/plan/schema.h"

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "orb/base/contract.h"
#include "orb/eval/scenario_fields.h"
#include "services/corelane/output/json_text.h"

namespace corelane::tool {
namespace {

using eval::FieldInfo;
using eval::FieldKind;
using eval::ScenarioField;
using eval::ScenarioTable;
using Json = nlohmann::ordered_json;

Json duration_schema() { return {{"type", "string"}, {"pattern", "^[0-9]+(ns|us|ms|s)$"}}; }
Json value_schema() { return {{"type", {"number", "string", "boolean"}}}; }

Json list_of(const Json& items) { return {{"type", "array"}, {"items", items}, {"minItems", 1}}; }

Json choice_schema(const FieldInfo& info) {
  Json names = Json::array();
  for (const std::string_view name : info.choices()) names.push_back(std::string(name));
  return {{"enum", names}};
}

Json whole_schema(const FieldInfo& info) {
  Json schema{{"type", "integer"}, {"minimum", info.least}};
  if (info.most != std::numeric_limits<std::int64_t>::max()) schema["maximum"] = info.most;
  return schema;
}

Json fraction_schema(const FieldInfo& info) {
  constexpr double millionth = 1e6;
  return {{"type", "number"},
          {"minimum", static_cast<double>(info.least) / millionth},
          {"maximum", static_cast<double>(info.most) / millionth}};
}

Json value_schema_of(const ScenarioField& field) {
  switch (field.kind) {
    case FieldKind::text:
      return {{"type", "string"}, {"minLength", 1}};
    case FieldKind::texts:
      return list_of(field.info.choices != nullptr ? choice_schema(field.info) : Json{{"type", "string"}});
    case FieldKind::choice:
      return choice_schema(field.info);
    case FieldKind::whole:
      return whole_schema(field.info);
    case FieldKind::fraction:
      return fraction_schema(field.info);
    case FieldKind::duration:
      return duration_schema();
    case FieldKind::durations:
      return list_of(duration_schema());
    case FieldKind::fractions:
      return list_of(fraction_schema(field.info));
    case FieldKind::sections:
      return {{"type", "object"}, {"additionalProperties", duration_schema()}, {"maxProperties", max_uses}};
    case FieldKind::value:
      return value_schema();
    case FieldKind::values:
      return list_of(value_schema());
    case FieldKind::flag:
      return {{"type", "boolean"}};
    case FieldKind::charge:
      return {{"type", {"boolean", "string"}}, {"pattern", "^worst$"}};
  }
  return {};
}

Json field_schema(const ScenarioField& field) {
  Json schema = value_schema_of(field);
  std::string description(field.info.help);
  if (!field.info.fallback.empty()) description += ". Default: " + std::string(field.info.fallback);
  schema["description"] = description;
  return schema;
}

Json fields_schema(const ScenarioTable& table) {
  Json schema{{"type", "object"}, {"additionalProperties", false}, {"properties", Json::object()}};
  for (const ScenarioField& field : table.fields) {
    schema["properties"][std::string(field.info.key)] = field_schema(field);
    if (field.info.is_required) schema["required"].push_back(std::string(field.info.key));
  }
  return schema;
}

}  // namespace

std::string scenario_schema() {
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Scenario of Corelane"}};
  for (const ScenarioTable& table : eval::scenario_tables()) {
    if (table.name.empty()) {
      schema.update(fields_schema(table));
      continue;
    }
    Json inner = fields_schema(table);
    if (table.repeats) inner = list_of(inner);
    inner["description"] = std::string(table.help);
    schema["properties"][std::string(table.name)] = inner;
  }
  return json_lines(schema);
}

}  // namespace corelane::tool
