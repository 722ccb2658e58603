#include "services/corelane/json_text.h"

#include <nlohmann/json.hpp>

namespace corelane::tool {
namespace {

std::string indented(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace

std::string json_lines(const nlohmann::ordered_json& json) { return indented(json, 2) + "\n"; }
std::string json_line(const nlohmann::ordered_json& json) { return indented(json, -1); }

}  // namespace corelane::tool
