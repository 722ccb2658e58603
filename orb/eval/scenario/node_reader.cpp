#include "orb/eval/scenario/node_reader.h"

#include <algorithm>

#include "orb/core/config/spelling.h"
#include "orb/eval/scenario/toml_nodes.h"

namespace corelane::eval {

ScenarioFault NodeReader::fault_at(const Node& node, const std::string& text) const {
  return ScenarioFault{core::text_of(path_, node.at) + text};
}

NodeFault NodeReader::check_keys(const Node& table, const std::vector<std::string>& known) const {
  for (const Node& child : table.children) {
    if (std::ranges::find(known, child.key) != known.end()) continue;
    const std::string best = core::meant(child.key, known, "the nearest is");
    return ScenarioFault{core::text_of(path_, child.key_at) + "there is no " + child.key +
                         (best.empty() ? "; there are " + core::listed(known) : best)};
  }
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
