#include "orb/eval/scenario/node_reader.h"

#include <algorithm>

#include "orb/core/text/spelling.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::eval {

ScenarioFault NodeReader::unknown_key(const Node& value, const std::string& table,
                                      const std::vector<std::string>& known) const {
  const std::string nearest = core::meant(value.key, known, "the nearest is");
  return fault_at(value.key_at, "there is no " + table + (table.empty() ? "" : ".") + value.key +
                                    (nearest.empty() ? "; there are " + core::listed(known) : nearest));
}

NodeFault NodeReader::check_keys(const Node& table, const std::string& name,
                                 const std::vector<std::string>& known) const {
  for (const Node& child : table.children)
    if (std::ranges::find(known, child.key) == known.end()) return unknown_key(child, name, known);
  return std::nullopt;
}

NodeFault NodeReader::read_text(const Node& table, std::string_view key, std::string& out) const {
  const Node* const value = table.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind != Node::Kind::text)
    return fault_at(*value, std::string(key) + ": expected a text; found " + shown(*value));
  out = value->text;
  return std::nullopt;
}

bool has_top_level_key(std::string_view text, std::string_view key) {
  const auto root = parse_toml(text, "");
  return root && root->find(key) != nullptr;
}

}  // namespace corelane::eval
