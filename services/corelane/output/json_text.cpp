#include "services/corelane/output/json_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "orb/base/text/one_line.h"

namespace corelane::tool {
namespace {

std::string dumped(const nlohmann::ordered_json& json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, nlohmann::ordered_json::error_handler_t::replace);
}

// If the text has characters that move a terminal's cursor, all characters that are not ASCII are escaped.
std::string indented(const nlohmann::ordered_json& json, int indent) {
  std::string text = dumped(json, indent, false);
  std::string one_line = text;
  std::ranges::replace(one_line, '\n', ' ');
  return as_one_line(one_line) == one_line ? text : dumped(json, indent, true);
}

}  // namespace

std::string json_lines(const nlohmann::ordered_json& json) { return indented(json, 2) + "\n"; }
std::string json_line(const nlohmann::ordered_json& json) { return indented(json, -1); }

}  // namespace corelane::tool
