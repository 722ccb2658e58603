#include "services/corelane/output/json_text.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

using namespace corelane::tool;

TEST_CASE("JSON is printed indented or in a line") {
  const nlohmann::ordered_json json{{"name", "a"}, {"calls", 2}};
  CHECK(json_lines(json) == "{\n  \"name\": \"a\",\n  \"calls\": 2\n}\n");
  CHECK(json_line(json) == "{\"name\":\"a\",\"calls\":2}");
}

TEST_CASE("bytes that are not UTF-8 are replaced in JSON, and lose nothing beside them") {
  const nlohmann::ordered_json json{{"endpoint", "/tmp/st\xff.sock"}};
  CHECK(json_lines(json) == "{\n  \"endpoint\": \"/tmp/st\xef\xbf\xbd.sock\"\n}\n");
  CHECK(json_line(json) == "{\"endpoint\":\"/tmp/st\xef\xbf\xbd.sock\"}");
}

TEST_CASE("control characters are escaped in JSON, and letters stay as they are") {
  const nlohmann::ordered_json hostile{{"name", "a\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9"}};
  CHECK(json_line(hostile) == "{\"name\":\"a\\u007f\\u009b\\u202e\\u00e9\"}");
  CHECK(nlohmann::ordered_json::parse(json_lines(hostile)) == hostile);
  CHECK(json_line({{"name", "\xc3\xa9"}}) == "{\"name\":\"\xc3\xa9\"}");
}
