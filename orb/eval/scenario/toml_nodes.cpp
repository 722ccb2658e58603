#include "orb/eval/scenario/toml_nodes.h"

#include <algorithm>
#include <utility>

// The compiled library is linked. The header-only form would compile the parser into every program.
#include <toml++/toml.h>

namespace corelane::eval {
namespace {

core::FilePlace start_of(const toml::source_region& region) {
  return {.line = region.begin.line, .column = region.begin.column};
}

Node node_of(const toml::node& value);

void add_children(Node& node, const toml::table& table) {
  for (const auto& [key, value] : table) {
    Node child = node_of(value);
    child.key = std::string(key.str());
    child.key_at = start_of(key.source());
    node.children.push_back(std::move(child));
  }
  std::ranges::stable_sort(node.children, {}, [](const Node& child) {  // the parser sorts by name
    return std::pair(child.key_at.line, child.key_at.column);
  });
}

// Bound of the recursion: the parser limits the depth.
Node node_of(const toml::node& value) {
  Node node;
  node.kind = Node::Kind::other;
  node.at = start_of(value.source());
  if (const auto* const text = value.as_string()) {
    node.kind = Node::Kind::text;
    node.text = text->get();
  } else if (const auto* const whole = value.as_integer()) {
    node.kind = Node::Kind::whole;
    node.whole = whole->get();
    node.number = static_cast<double>(node.whole);
  } else if (const auto* const number = value.as_floating_point()) {
    node.kind = Node::Kind::number;
    node.number = number->get();
  } else if (const auto* const flag = value.as_boolean()) {
    node.kind = Node::Kind::flag;
    node.whole = flag->get() ? 1 : 0;
  } else if (const auto* const list = value.as_array()) {
    node.kind = Node::Kind::list;
    for (const toml::node& item : *list) node.children.push_back(node_of(item));
  } else if (const auto* const table = value.as_table()) {
    node.kind = Node::Kind::table;
    add_children(node, *table);
  }
  return node;
}

}  // namespace

Expected<Node, ScenarioFault> parse_toml(std::string_view text, const std::string& path) {
  try {
    return node_of(toml::parse(text, path));
  } catch (const toml::parse_error& error) {
    const core::FilePlace place = start_of(error.source());
    return ScenarioFault{core::text_of(path, place) + core::toml_fault(error.description(), text, place.line)};
  }
}

}  // namespace corelane::eval
