// NodeReader checks the tables of a TOML file that is no scenario, such as an overheads file. Each function returns
// the first fault that it finds, as a sentence that begins with the path and the place; nothing if there is none.
//
// Threads: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orb/eval/scenario.h"
#include "orb/eval/scenario/node.h"

namespace corelane::eval {

using NodeFault = std::optional<ScenarioFault>;

class NodeReader {
 public:
  explicit NodeReader(std::string path) : path_(std::move(path)) {}

  ScenarioFault fault_at(const Node& node, const std::string& text) const;
  // Refuses other keys, and names the nearest one that there is.
  NodeFault check_keys(const Node& table, const std::vector<std::string>& known) const;
  // Sets `out` if the table has the key.
  NodeFault read_text(const Node& table, std::string_view key, std::string& out) const;
  // Calls read(table) for each of the tables [[key]], and stops at its first fault. Refuses a file without such tables;
  // `what` says what each of them has: "a scenario".
  template <typename Read>
  NodeFault read_tables(const Node& root, const std::string& key, const std::string& what, Read read) const {
    const Node* const list = root.find(key);
    if (list == nullptr || list->kind != Node::Kind::list || list->children.empty())
      return fault_at(list == nullptr ? root : *list, "expected tables [[" + key + "]], each with " + what);
    for (const Node& table : list->children) {
      if (table.kind != Node::Kind::table) return fault_at(table, "expected a table; found " + shown(table));
      if (NodeFault fault = read(table)) return fault;
    }
    return std::nullopt;
  }

 private:
  std::string path_;
};

// Returns whether the text is TOML and has the key at its top level.
bool has_top_level_key(std::string_view text, std::string_view key);

}  // namespace corelane::eval
