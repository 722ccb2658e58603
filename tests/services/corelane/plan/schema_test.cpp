#include "services/corelane/plan/schema.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "orb/eval/scenario_fields.h"

namespace schema_test {

using namespace corelane;
using namespace corelane::tool;

TEST_CASE("the schema beside the documents is that of the reader") {
  const std::string path = CORELANE_SOURCE "/docs/scenario.schema.json";
  if (std::getenv("CORELANE_UPDATE_DOCS") != nullptr) std::ofstream(path) << scenario_schema();
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == scenario_schema());
}

TEST_CASE("the schema has every field of the reader with its kind, and allows no other") {
  const auto schema = nlohmann::json::parse(scenario_schema());
  CHECK(schema["additionalProperties"] == false);
  for (const eval::ScenarioTable& table : eval::scenario_tables()) {
    const auto& inner = table.name.empty() ? schema : schema["properties"][std::string(table.name)];
    const auto& fields = table.repeats ? inner["items"] : inner;
    CHECK(fields["additionalProperties"] == false);
    for (const auto& [info, kind] : table.fields) {
      CAPTURE(table.name, info.key);
      const auto& field = fields["properties"][std::string(info.key)];
      REQUIRE(field.contains("description"));
      const bool is_list = kind == eval::FieldKind::texts;
      CHECK((is_list ? field["items"] : field).contains("enum") == (info.choices != nullptr));
    }
  }
  CHECK(schema["properties"]["task"]["items"]["required"] == nlohmann::json{"period", "budget"});
  CHECK(schema["properties"]["platform"]["properties"]["cores"]["maximum"] == 1024);
  CHECK(schema["properties"]["platform"]["properties"]["capacity"]["minimum"] == 0.000001);
}

}  // namespace schema_test
