// NodeReader checks the tables of a TOML file: of a scenario, or of an overheads file. Each fault is a sentence that
// begins with the path and the place.
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

  ScenarioFault fault_at(core::FilePlace place, const std::string& text) const {
    return {core::text_of(path_, place) + text};
  }
  ScenarioFault fault_at(const Node& node, const std::string& text) const { return fault_at(node.at, text); }
  // Returns the fault of a key that its table does not know. Names the nearest known key, or all if none is near.
  // `table`: its name in messages; "": the top of the file.
  ScenarioFault unknown_key(const Node& value, const std::string& table, const std::vector<std::string>& known) const;

  // These return the first fault that they find; nothing if there is none.

  // Refuses keys that are not known.
  NodeFault check_keys(const Node& table, const std::string& name, const std::vector<std::string>& known) const;
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
